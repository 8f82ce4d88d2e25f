"""Mechanisms with loops for the tests of uniqueness and mobility."""

import numpy as np

import kinode as kn

BAR = {"mass": 1.0, "com": (0.1, 0.02, 0.03), "inertia": (0.02, 0.03, 0.04)}


def four_bar(second="revolute", third="revolute", offset=0.0, order=("j1", "j2", "j4", "j3"), drives=None):
    """A planar four-bar in space; ``offset`` moves the mass of the coupler out of the plane."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    a = system.body("a", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    b = system.body("b", mass=2, com=(0.3, 0, offset), inertia=(0.01, 0.05, 0.05))
    c = system.body("c", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    guesses = {"revolute": -0.5, "spherical": (np.cos(0.25), 0, 0, -np.sin(0.25))}
    joints = {
        "j1": ("revolute", system.world, a, {"q": 0.9, "u": 2.0}),
        "j2": (second, a.at(0.2, 0, 0), b, {"guess": guesses[second]}),
        "j3": (third, b.at(0.6, 0, 0), c.at(0.4, 0, 0), {"guess": 0.7} if third == "revolute" else {}),
        "j4": ("revolute", system.world.at(0.5, 0, 0), c, {"guess": 1.2}),
    }
    for name in order:
        kind, one, two, fields = joints[name]
        fields = {"motion": drives[name]} if name in (drives or {}) else fields
        system.joint(name, kind, one, two, **fields)
    return system


def four_bars(count, angle=0.0, speed=0.0):
    """IFToMM A02: uprights of length 1 side by side, each with the next a parallelogram."""
    system = kn.System("four_bars", gravity=(0, -9.81, 0))
    J = 1 / 12
    rods = []
    for i in range(count + 1):
        rods.append(system.body(f"v{i}", mass=1, com=(0, 0.5, 0), inertia=(J, J / 10, J)))
        start = {"q": angle, "u": speed} if i == 0 else {"guess": angle}
        system.revolute(f"g{i}", system.world.at(i, 0, 0), rods[i], **start)
    for i in range(count):
        bar = system.body(f"h{i}", mass=1, com=(0.5, 0, 0), inertia=(J / 10, J, J))
        system.revolute(f"a{i}", rods[i].at(0, 1, 0), bar, guess=-angle)
        system.revolute(f"b{i}", bar.at(1, 0, 0), rods[i + 1].at(0, 1, 0))
    return system


def parallelogram(extra):
    """Two uprights and a coupler; ``extra`` adds a third upright to the middle of the coupler."""
    system = kn.System("parallelogram", gravity=(0, -9.81, 0))
    up = {"mass": 1, "com": (0, 0.5, 0), "inertia": (0.08, 0.01, 0.08)}
    left, right = system.body("left", **up), system.body("right", **up)
    bar = system.body("bar", mass=2, com=(1, 0, 0), inertia=(0.01, 0.5, 0.5))
    system.revolute("g0", system.world, left, q=0.4)
    system.revolute("g2", system.world.at(2, 0, 0), right, guess=0.4)
    system.revolute("top0", left.at(0, 1, 0), bar, guess=-0.4)
    system.revolute("top2", bar.at(2, 0, 0), right.at(0, 1, 0))
    if extra:
        middle = system.body("middle", **up)
        system.revolute("g1", system.world.at(1, 0, 0), middle, guess=0.4)
        system.revolute("top1", bar.at(1, 0, 0), middle.at(0, 1, 0))
    return system


def beam(left, right=None):
    """A beam of weight 20 N between supports 1 m apart, on a carriage that can slide along x.

    Without a joint on the right it lies on a shoe there, which holds its height alone.
    """
    system = kn.System("beam", gravity=(0, -10, 0))
    cart = system.body("cart", mass=5, inertia=(0.1, 0.1, 0.1))
    bar = system.body("bar", mass=2, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    system.prismatic("slide", system.world, cart, axis="x")
    system.joint("left", left, cart, bar)
    if right is None:
        shoe = system.body("shoe", mass=0.1, inertia=(0.01, 0.01, 0.01))
        system.planar("sole", cart.at(1, 0, 0), shoe, axis="y")
        system.universal("right", shoe, bar.at(1, 0, 0), axes=("x", "z"))
    else:
        system.joint("right", right, cart.at(1, 0, 0), bar.at(1, 0, 0))
    return system


def chain(lengths, twists, angles):
    """Hinges in a ring by Denavit and Hartenberg: turn, then ``length`` along x, then ``twist`` about x."""
    system = kn.System("ring", gravity=(0, -9.81, 1.0))
    last = system.world
    for k, (a, twist, angle) in enumerate(zip(lengths, twists, angles, strict=True)):
        start = {"q": angle} if k == 0 else {"guess": angle}
        if k == len(lengths) - 1:
            system.revolute(f"j{k}", last, system.world.at(-a, 0, 0, rpy=(-twist, 0, 0)), **start)
        else:
            link = system.body(f"b{k}", **BAR)
            system.revolute(f"j{k}", last, link, **start)
            last = link.at(a, 0, 0, rpy=(twist, 0, 0))
    return system


def bennett():
    """Bennett's four-bar: opposite sides equal, a/sin(alpha) = b/sin(beta); it moves though a count denies it."""
    a, b, alpha = 1.0, 1.5, 0.6
    beta = float(np.arcsin(np.sin(alpha) * b / a))
    first = 1.0
    second = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2))
    angles = [first, second, -first, -second]
    return chain([a, b, a, b], [alpha, beta, alpha, beta], angles)


def bricard():
    """Bricard's trihedral six-bar: equal sides, twists of alternately 90 and -90 degrees."""
    first = 1.8
    second = np.arccos(-np.cos(first) / (1 + np.cos(first)))
    return chain([1.0] * 6, [np.pi / 2, -np.pi / 2] * 3, [first, second] * 3)


def arm():
    """A tree: driven shoulder, ball, slide."""
    system = kn.System("arm", gravity=(0, 0, -9.81))
    one, two, three = (system.body(name, **BAR) for name in ("one", "two", "three"))
    system.revolute("shoulder", system.world, one, axis="y", motion="0.3*t")
    system.spherical("ball", one.at(0.4, 0, 0), two)
    system.prismatic("slide", two.at(0.4, 0, 0), three, axis="x")
    return system
