"""The elastic system with two degrees of freedom and its reference figures, as tests share them."""

from pathlib import Path

import numpy as np

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# t, angle, angular velocity, displacement, X12, Y12, Y20 of docs/theory/elastic-system.md.  Origin: (T-10.15), (T-10.1)
# with Euler angles and with quaternions, integrated apart from kinode, agree to 6.5e-12.
DEFAULT = """
0    1.570796326795  0.000000000000  0.000000000000  0.000000000000  7.357500000000 56.407500000000
0.5  0.964263933942 -2.371250945406  0.009710047326 -3.343459283696  9.742277750819 58.792277750819
1   -0.485424053942 -2.837663096715  0.000324453074  2.594866540036 12.799207410141 61.849207410141
2   -1.270460010073  1.599676169176  0.008480213942  1.401323300020  7.913548694248 56.963548694248
5   -1.456643321099  0.014267443690  0.023407481019 -0.788482432096  7.359071651266 56.409071651266
10   1.354584038199 -0.480417996078 -0.022339519543  0.387124092052  7.441409187735 56.491409187735
"""
UNDAMPED = """
0    1.570796326795  0.000000000000  0.000000000000  0.000000000000  7.357500000000 56.407500000000
0.5  0.964179225972 -2.372117513272  0.010418416881 -3.327378450177  9.741581773327 58.791581773328
1   -0.483557360578 -2.823033849633 -0.001074288640  2.502861044444 12.761773404178 61.811773404178
2   -1.267846527752  1.602280327383  0.009427932559  1.223402457268  7.907769316041 56.957769316041
5   -1.523121628693 -0.164447646040  0.034915578801 -1.345574370720  7.346141176217 56.396141176217
10   1.479141056908  0.314647947818 -0.050696639513  1.881241337891  7.333390947987 56.383390947987
"""
ROD = """
0    1.570796326795  0.000000000000  0.000000000000  0.000000000000  2.452500000000 51.502500000000
0.5  0.535475405632 -3.872695430541  0.044829595501 -10.054119311443 19.211259420870 68.261259420870
1   -1.108983216836 -1.917373107436 -0.085393503486  8.308075046602  6.218662703455 55.268662703455
2    0.572771937021  3.012033606204 -0.076846330340 -5.409118607837 12.653784804018 61.703784804018
5    1.059407979994 -1.669070405172  0.002466566664 -4.437606096569  5.080704258135 54.130704258135
10   0.098977567073 -3.290992109808  0.007074370704 -1.698377046978 19.085619144936 68.135619144936
"""


def elastic(case):
    """The example; with the pendulum as a rod its tensor about the hinge is that of a line along y."""
    system = kn.load(EXAMPLES / "elastic_system.yaml")
    if case == "undamped":
        system.change("damping", value=0.0)
    if case == "rod":
        system.change("pendulum", inertia=(1.0, 0.0, 1.0))
        system.change("arm", value=np.sqrt(3.0) / 2.0)
    return system


def series(text):
    return np.array([[float(x) for x in line.split()] for line in text.strip().splitlines()])


def elastic_of_free_bodies(angle=0.0):
    """The default case as two free bodies, held by a guide and a hinge that close loops; spring as in (T-10.6)."""
    system = kn.System("general", gravity=(0, -9.81, 0))
    slider = system.body("slider", mass=5.0, inertia=(1, 1, 1))
    pendulum = system.body("pendulum", mass=1.0, com=(0, -0.5, 0), inertia=(1, 1, 1), about="origin")
    kept = {"damping": [0.0] * 6}  # joints with a law stay in the tree, so that guide and hinge are the constraints
    system.free("one", system.world, slider, position=(0, 0, 0), **kept)
    system.free("two", system.world, pendulum, rpy=(0, 0, angle), **kept)
    system.prismatic("rail", system.world, slider, axis="x")
    system.revolute("hinge", slider, pendulum, axis="z")
    system.spring("spring", system.world.at(-1.0, 0, 0), slider, stiffness=250.0, damping=5.0, free_length=1.0)
    return system
