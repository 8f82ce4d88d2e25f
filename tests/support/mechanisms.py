"""Mechanisms that tests and benchmarks share, with what is known of their motion."""

import numpy as np

import kinode as kn

G = 9.81


# -- Andrews' squeezer ------------------------------------------------------------------------------------------------

ANDREWS_BODIES = {  # mass, moment of inertia, center of mass in the axes that the angles turn
    "K1": (0.04325, 2.194e-6, (92e-5, 0)),
    "K2": (0.00365, 4.410e-7, (-115e-4, 0)),
    "K3": (0.02373, 5.255e-6, (1043e-5, -1874e-5)),
    "K4": (0.00706, 5.667e-7, (0, 1421e-5 - 2e-2)),
    "K5": (0.07050, 1.169e-5, (2308e-5, 916e-5)),
    "K6": (0.00706, 5.667e-7, (2e-2 - 1421e-5, 0)),
    "K7": (0.05498, 1.912e-5, (1228e-5, 449e-5)),
}


def andrews():
    """Seven bodies in a plane; figures of the Test Set for IVP Solvers (Bari/CWI), chapter II-3."""
    d, e, rr, ss, sc, sd, u, zf, zt = 28e-3, 2e-2, 7e-3, 35e-3, 18e-3, 2e-2, 4e-2, 2e-2, 4e-2
    system = kn.System("andrews", gravity=(0, 0, 0))
    K = {
        name: system.body(name, mass=mass, com=(*com, 0), inertia=(J, J, J))
        for name, (mass, J, com) in ANDREWS_BODIES.items()
    }
    A, B, C = (system.world.at(*p, 0) for p in ((-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)))
    system.revolute("beta", system.world, K["K1"], q=-0.0617138900142764496, effort=0.033)
    system.revolute("theta", K["K1"].at(rr, 0, 0), K["K2"], q=0.0)
    system.revolute("gamma", B, K["K3"], guess=0.455279819163070380)
    system.revolute("delta", A, K["K5"], guess=0.487364979543842550)
    system.revolute("phi", K["K5"].at(zt, 0, 0), K["K4"], guess=0.222668390165885884)
    system.revolute("epsilon", A, K["K7"], guess=1.23054744454982119)
    system.revolute("omega", K["K7"].at(0, -u, 0), K["K6"], guess=-0.222668390165885884)
    tip = K["K2"].at(-d, 0, 0)
    system.revolute("p3", tip, K["K3"].at(0, -ss, 0))
    system.revolute("p4", tip, K["K4"].at(0, -e, 0))
    system.revolute("p6", tip, K["K6"].at(zf, 0, 0))
    system.spring("spring", C, K["K3"].at(sd, -sc, 0), stiffness=4530, free_length=0.07785)
    return system


# At 0.03 s, from an 80-bit integration of the test set's formulas; its own published angles are off by 1.4e-9.
ANDREWS_ANGLES = {
    "beta": 15.810771195153709,
    "theta": -15.756371058411842,
    "gamma": 0.040822240119646,
    "phi": -0.534730116342080,
    "delta": 0.524409965879954,
    "omega": 0.534730116342080,
    "epsilon": 1.048080741041938,
}
ANDREWS_FORCES = {
    "p3": (199.1753481045386, 29.7553099749719),
    "p4": (23.0665436116221, 31.4527252757711),
    "p6": (22.6424947863944, 11.6173923526113),
}


# -- IFToMM A02: N four-bars ------------------------------------------------------------------------------------------


def four_bars(n, mass=1.0, speed=1.0):
    """Rods of 1 m standing on the ground, neighbors joined at their tops by rods of 1 m."""
    system = kn.System("a02", gravity=(0, -G, 0))
    J, rods = mass / 12, []
    for i in range(n + 1):
        rods.append(system.body(f"rod{i}", mass=mass, com=(0, 0.5, 0), inertia=(J, J / 10, J)))
        given = {"guess": 0.0} if i else {"q": 0.0, "u": -speed}
        system.revolute(f"ground{i}", system.world.at(i, 0, 0), rods[i], **given)
    for i in range(n):
        bar = system.body(f"bar{i}", mass=mass, com=(0.5, 0, 0), inertia=(J / 10, J, J))
        system.revolute(f"left{i}", rods[i].at(0, 1, 0), bar, guess=0.0)
        system.revolute(f"right{i}", bar.at(1, 0, 0), rods[i + 1].at(0, 1, 0))
    return system


def four_bars_angle(n, speed, until):
    """th'' = g [(N+1)/2 + N] / [(N+1)/3 + N] sin th from th = 0: all rods stay parallel."""
    from scipy.integrate import solve_ivp  # here: a cold start is timed with this module

    k = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    rate = lambda t, y: (y[1], k * np.sin(y[0]))  # noqa: E731
    return solve_ivp(rate, (0, until), (0, speed), "DOP853", rtol=1e-13, atol=1e-13).y[0, -1]


def ring(n, kind="spherical"):
    """n rods of 1 m in a regular polygon that the world holds at one corner, in spherical joints or hinges."""
    system = kn.System("ring", gravity=(0, -6, -8))
    rods = [system.body(f"rod{i}", mass=0.1, com=(0.5, 0, 0), inertia=(0.005, 0.02, 0.02)) for i in range(n)]
    join = getattr(system, kind)
    for i, rod in enumerate(rods):
        half = np.pi / n if i else 0.0
        guess = (np.cos(half), 0, 0, np.sin(half)) if kind == "spherical" else 2 * half
        join(f"j{i}", rods[i - 1].at(1, 0, 0) if i else system.world, rod, guess=guess)
    join("close", rods[-1].at(1, 0, 0), system.world)
    return system


def geared_chain(n, ratio=2.0):
    """A chain of n links of 0.1 m in hinges of two directions by turns; the first hinge drives the second by a gear."""
    system = kn.System("geared_chain", gravity=(0, 0, -G))
    body = system.world
    for i in range(n):
        link = system.body(f"link{i}", mass=0.1, com=(0.05, 0, 0), inertia=(1e-5, 1e-4, 1e-4))
        system.revolute(f"pin{i}", body.at(0.1, 0, 0) if i else body, link, axis="yz"[i % 2], damping=1e-3)
        body = link
    system.gear("gear", "pin0", "pin1", ratio=ratio)
    return system


def net(n, m):
    """A hanging net of n x m squares of rods of 1 m, pinned where they meet and to the ground along the top."""
    system = kn.System("net", gravity=(0, -G, 0))
    down, J = -np.pi / 2, 1 / 12
    hosts = {(i, 0): (system.world.at(i, 0, 0), 0.0) for i in range(n + 1)}

    def rod(name, corner, angle, **given):
        place, of_host = hosts[corner]
        new = system.body(name, mass=1, com=(0.5, 0, 0), inertia=(J / 10, J, J))
        system.revolute(f"{name}_near", place, new, guess=angle - of_host, **given)
        return new

    for j in range(1, m + 1):
        for i in range(n + 1):
            hosts[i, j] = rod(f"v{i}_{j}", (i, j - 1), down).at(1, 0, 0), down
        for i in range(n):
            system.revolute(f"h{i}_{j}_far", rod(f"h{i}_{j}", (i, j), 0.0).at(1, 0, 0), hosts[i + 1, j][0])
    return system


def bricard(gravity=(0, 0, -G)):
    """Six links of 1 m, axes of neighbors at right angles, alternately left and right; one link is the ground.

    Gruebler counts no freedom; one is there: R. Bricard's threefold symmetric linkage (Y. Chen, Z. You, T. Tarnai,
    Int. J. Solids Struct. 42 (2005) 2287), cos a + cos b + cos a cos b = 0 for the angles in turn.
    """
    system = kn.System("bricard", gravity=gravity)
    a = np.radians(100)
    b = -np.arccos(-np.cos(a) / (1 + np.cos(a)))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 1 / 12, 1 / 12)}
    ends = [system.world, *(system.body(f"link{i}", **rod) for i in range(1, 6))]
    for i in range(6):
        tip = ends[i].at(1, 0, 0, rpy=(np.pi / 2 * (-1) ** i, 0, 0))
        given = {} if i == 5 else {"q": a} if i == 0 else {"guess": (a, b)[i % 2]}
        system.revolute(f"r{i}", tip, ends[(i + 1) % 6], **given)
    return system
