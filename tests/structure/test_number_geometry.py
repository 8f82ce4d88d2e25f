"""Geometry of large trees as arrays is that of the links one by one."""

import numpy as np
import pytest

import kinode as kn
from kinode.structure import tree as link_geometry
from kinode.structure.topology import find_topology


def tree_of_all_sorts(n=60):
    """A branched tree: turned and shifted frames, reversed joints, welds, bodies on the ground, several kinds."""
    rng = np.random.default_rng(5)
    system = kn.System("tree")
    pedestal = system.body("pedestal", mass=3, com=(0.1, 0, 0.2), inertia=(1, 1.2, 1.4))
    system.fixed("bolts", system.world.at(0.1, 0.2, 0.3, rpy=(0.1, 0, 0.2)), pedestal)
    bodies = [pedestal]
    for i in range(n):
        carrier = bodies[int(rng.integers(max(0, i - 3), i + 1))]
        about = "com" if i % 3 else "origin"
        body = system.body(
            f"b{i}",
            mass=1 + 0.1 * i,
            com=0.01 * rng.normal(size=3),
            inertia=(1, 1.1, 1.2, 0.01, 0.02, 0.03),
            about=about,
        )
        near = carrier.at(*rng.normal(size=3), rpy=rng.normal(size=3)) if i % 2 else carrier.at(0.1, 0.2, 0.3)
        far = body.at(0.1, 0, 0, rpy=(0.3, 0, 0)) if i % 4 == 1 else body
        sides = (far, near) if i % 5 == 2 else (near, far)
        match i % 6:
            case 0 | 1:
                system.revolute(f"j{i}", *sides, axis="xyz"[i % 3])
            case 2:
                system.prismatic(f"j{i}", *sides, axis=(1, 2, 2))
            case 3:
                system.universal(f"j{i}", *sides, axes=("x", "z"))
            case 4:
                system.fixed(f"j{i}", *sides)
            case _:
                system.spherical(f"j{i}", *sides)
        bodies.append(body)
    return system


def close(a, b):
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("merged", [True, False], ids=["tree", "full"])
def test_arrays_give_the_geometry_of_each_link(monkeypatch, merged):
    topology = find_topology(tree_of_all_sorts())
    tree = topology.tree if merged else topology.full
    assert len(tree.nodes) >= link_geometry.MANY_LINKS

    def compute():
        geometry = link_geometry.compute_geometry(topology.system, tree, topology.system.nominal)
        return geometry, link_geometry.regroup(tree, geometry)

    many = compute()
    monkeypatch.setattr(link_geometry, "MANY_LINKS", 1_000_000)
    for found, wanted in zip(many, compute(), strict=True):
        assert found.bodies.keys() == wanted.bodies.keys()
        poses = [*zip(found.placements, wanted.placements, strict=True)]
        poses += [(found.bodies[name], wanted.bodies[name]) for name in wanted.bodies]
        for one, two in poses:
            close(one.R, two.R)
            close(one.p, two.p)
            exact = np.isin(np.asarray(two.R, float), (0, 1, -1))
            assert (np.asarray(one.R)[exact] == np.asarray(two.R, float)[exact]).all()  # shorter code
        for one, two in zip([*found.inertias, found.ground], [*wanted.inertias, wanted.ground], strict=True):
            assert one.mass == pytest.approx(two.mass, rel=1e-12, abs=1e-12)
            close(one.moment, two.moment)
            close(one.J, two.J)
        assert len(found.forms) == len(wanted.forms)


def test_constant_arithmetic_in_a_large_tree_is_taken_as_a_number():
    systems = [tree_of_all_sorts(), tree_of_all_sorts()]
    systems[1].change("b7", mass="1 + 0.7")
    masses = [find_topology(system).system.nominal(system["b7"].mass) for system in systems]
    one, two = (kn.compile(system) for system in systems)
    assert masses[0] == pytest.approx(masses[1])
    start = one.initial
    expected = one.acceleration(0.0, start.q, start.u)
    assert two.acceleration(0.0, start.q, start.u) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_long_tree_whose_lengths_are_parameters():
    """Masses are plain numbers, and placements are not."""

    def chain(length, n):
        system = kn.System("chain")
        given = system.parameter("length", length) if isinstance(length, str) else length
        body = system.world
        for i in range(n):
            link = system.body(f"b{i}", mass=1, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
            system.revolute(f"j{i}", body.at(given, 0, 0) if i else body, link, axis="y")
            body = link
        return kn.compile(system)

    for n in (link_geometry.MANY_LINKS - 1, link_geometry.MANY_LINKS + 1):
        q, u = 0.1 * np.ones(n), np.zeros(n)
        with_parameter, plain = (chain(length, n).acceleration(0.0, q, u) for length in ("10 cm", 0.1))
        assert with_parameter == pytest.approx(plain, rel=1e-9)  # of long chains the condition is large
