"""Circuit diagrams: every component once, links that reach their ports and nothing else, no needless crossing."""

import re
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.model.base.symbols import find_symbol, symbol_of
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS
from kinode.views.diagram.box_geometry import words_at
from kinode.views.diagram.circuit_graph import CircuitGraph
from kinode.views.diagram.circuit_layout import Layout
from kinode.views.diagram.link_routing import Router, port_point

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SVG = "{http://www.w3.org/2000/svg}"


def manipulator():
    """The two-segment manipulator of component circuits, figure 1."""
    system = kn.System("manipulator", gravity=(0, 0, 0))
    one = system.body("SB1", mass=8, com=(0.28, 0.01, 0), inertia={"zz": 0.27})
    two = system.body("SB2", mass=5, com=(0.22, -0.015, 0), inertia={"zz": 0.11})
    system.revolute("KN1", system.world, one, q=0.3, speed="1.2*sin(0.8*t) + 0.5*cos(1.7*t)")
    system.revolute("KN2", one.at(0.6, 0.03, 0), two, q=0.9, u=-0.4, damping=0.8)
    system.force("Ef3", two.at(0.5, -0.01, 0), (4, -6, 0))
    return system


def robot(axes=6, bus=True):
    """Six axes, each with controller, amplifier, motor and gear, on one battery."""
    system = kn.System("robot")
    below = system.world
    if bus:
        system.element("battery", "battery", plus="bus", minus="gnd", voltage=48, resistance=0.05)
    for k, axis in enumerate("zyyxyx"[:axes], start=1):
        link = system.body(f"link{k}", mass=2, com=(0.1, 0, 0), inertia=(0.02, 0.03, 0.025))
        system.revolute(f"j{k}", below, link, axis=axis)
        below = link.at(0.3, 0, 0)
        system.signal(f"target{k}", f"0.3*sin({k}*t)")
        system.element(f"pid{k}", "pid", target=f"target{k}", measured=f"j{k}.q", proportional=20)
        supply = {"plus": "bus", "minus": "gnd", "second_plus": f"coil{k}", "second_minus": "gnd"}
        if bus:
            system.element(f"amp{k}", "bridge", **supply, modulation=f"pid{k}.output")
        else:
            system.element(f"amp{k}", "voltage_source", plus=f"coil{k}", minus="gnd", voltage=f"48*pid{k}.output")
        wires = {"plus": f"coil{k}", "minus": "gnd", "shaft": f"rotor{k}"}
        system.element(f"motor{k}", "dc_motor", **wires, resistance=0.9, constant=0.05, inertia=6e-5)
        system.element(f"gear{k}", "gearbox", input=f"rotor{k}", output=f"j{k}", ratio=60)
    return system


def cascade():
    """An axis with a controller of the current within one of the angle."""
    system = robot(1)
    system.change("pid1", limits=(-5, 5))
    system.element("inner", "pid", target="pid1.output", measured="motor1.current", proportional=0.1, integral=10)
    system.change("amp1", modulation="inner.output")
    return system


def example(name):
    return lambda: kn.load(EXAMPLES / f"{name}.yaml")


FLAT = {
    "manipulator": manipulator,
    "robot": robot,
    "robot without bus": lambda: robot(bus=False),
    "cascade": cascade,
    **{name: example(name) for name in ("four_bar", "rlc", "motor_axis", "excavator", "stewart_platform", "gyroscope")},
}
OTHERS = {name: example(name) for name in ("walker", "quadcopter", "slider_crank", "leg", "rotor", "elastic_system")}


def parse(drawn):
    root = ElementTree.fromstring(drawn.svg)
    groups = [g for g in root.iter(f"{SVG}g") if "data-name" in g.attrib]
    links = [g for g in groups if g.get("class").startswith("link")]
    return [g for g in groups if g.get("class").startswith("component")], links


def segments(link):
    """The straight pieces of a link as the file has them."""
    for path in link.findall(f"{SVG}path"):
        points = [tuple(map(float, xy.split(","))) for xy in path.get("d")[1:].split("L")]
        yield from pairwise(points)


def crosses(one, other):
    """Whether a level and an upright piece cross within both."""
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    if ay == by and cx == dx:
        return min(ax, bx) < cx < max(ax, bx) and min(cy, dy) < ay < max(cy, dy)
    return ax == bx and cy == dy and crosses(other, one)


def overlap(one, other):
    """Whether two pieces lie upon each other."""
    for k in (0, 1):
        if one[0][k] == one[1][k] == other[0][k] == other[1][k]:
            spans = [sorted((piece[0][1 - k], piece[1][1 - k])) for piece in (one, other)]
            return max(spans[0][0], spans[1][0]) < min(spans[0][1], spans[1][1])
    return False


@pytest.mark.parametrize("name", [*FLAT, *OTHERS])
def test_every_component_once_and_lines_apart(name):
    system = {**FLAT, **OTHERS}[name]()
    drawn = kn.diagram(system)
    components, links = parse(drawn)
    names = [g.get("data-name") for g in components]
    assert len(set(names)) == len(names)
    declared = {*system.bodies, *system.joints, *system.constraints, *system.elements, *system.signals, *system.inputs}
    assert declared <= set(names)
    assert all(x in declared or x.rpartition(".")[0] in system.joints for x in names)
    assert {g.get("data-name") for g in links} == set(drawn.links)
    found = 0
    for one, other in combinations(links, 2):
        for a in segments(one):
            for b in segments(other):
                assert not overlap(a, b), (one.get("data-name"), other.get("data-name"))
                found += crosses(a, b)
    assert found == drawn.crossings
    if name in FLAT:
        assert found == 0


@pytest.mark.parametrize("name", [*FLAT, *OTHERS])
def test_lines_reach_their_ports_and_touch_nothing_else(name):
    circuit = CircuitGraph({**FLAT, **OTHERS}[name]())
    Layout(circuit, 1600.0)
    Router(circuit).route()
    rooms = [
        (b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2) for b in circuit.boxes.values()
    ]
    words = [room for box in circuit.boxes.values() for room in words_at(box).values()]
    for one, other in combinations([*rooms, *words], 2):
        assert not (one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3])
    for link in circuit.links.values():
        pieces = [piece for line in link.path for piece in pairwise(line)]
        points = {point for piece in pieces for point in piece}
        assert {port_point(box, port) for box, port in link.ends} <= points
        assert connected(link.path)
        for (ax, ay), (bx, by) in pieces:
            assert ax == bx or ay == by
            for left, top, right, bottom in [*rooms, *words]:
                inside = max(left, min(ax, bx)) < min(right, max(ax, bx)) if ay == by else left < ax < right
                within = max(top, min(ay, by)) < min(bottom, max(ay, by)) if ax == bx else top < ay < bottom
                assert not (inside and within), (link.name, (ax, ay), (bx, by))


def connected(lines):
    """Whether all lines hang together by their ends."""
    reached, left = set(lines[0]), lines[1:]
    while left:
        more = [line for line in left if reached & {line[0], line[-1]}]
        if not more:
            return False
        reached |= {point for line in more for point in line}
        left = [line for line in left if line not in more]
    return True


def test_the_manipulator_of_the_source():
    """Ew1, the base, at KN1's first link, Ew2 at its third, DC at the third of KN2, Ef3 at the gripper."""
    drawn = kn.diagram(manipulator())
    assert drawn.components == {
        "SB1": "SB", "SB2": "SB", "KN1": "KN", "KN1.speed": "E", "KN2": "KN", "KN2.damping": "DC", "Ef3": "E",
    }  # fmt: skip
    ends = {frozenset(box for box, _ in link) for link in drawn.links.values()}
    pairs = ["KN1 SB1", "SB1 KN2", "KN2 SB2", "KN1 KN1.speed", "KN2 KN2.damping", "Ef3 SB2"]
    assert ends == {frozenset(pair.split()) for pair in pairs}
    components, links = parse(drawn)
    kinds = {g.get("data-name"): g.get("class").split()[1] for g in links}
    assert [kinds[name] for name in ("KN1.2", "KN2.1", "KN1.3", "Ef3.on")] == ["vector", "vector", "energy", "vector"]
    (base,) = [g for g in components if g.find(f"{SVG}g[@class='base']") is not None]
    assert base.get("data-name") == "KN1"


def test_links_of_a_drive():
    drawn = kn.diagram(robot(1))
    assert drawn.links["bus"] == (("battery", "plus"), ("amp1", "plus"))
    assert drawn.links["j1.3"] == (("j1", "3"), ("gear1", "output"))
    assert drawn.links["pid1.out"] == (("pid1", "out"), ("amp1", "in pid1"))
    assert drawn.links["j1.out"] == (("j1", "out"), ("pid1", "in j1"))
    _, links = parse(drawn)
    arrows = {g.get("data-name"): len(g.findall(f"{SVG}polygon")) for g in links}
    assert arrows["pid1.out"] == arrows["target1.out"] == 1
    assert arrows["bus"] == 0
    texts = [text for element in ElementTree.fromstring(drawn.svg).iter(f"{SVG}text") for text in element.itertext()]
    assert texts.count("bus") == texts.count("motor1") == 1
    assert "48 V" in texts


def test_a_long_chain_is_folded():
    wide, narrow = kn.diagram(robot(bus=False), width=None), kn.diagram(robot(bus=False), width=600)
    assert wide.size[0] > 1000
    assert narrow.size[0] <= 600
    assert narrow.components == wide.components
    assert narrow.links == wide.links


@pytest.mark.parametrize("registry", [ELEMENTS, JOINTS, CONSTRAINTS])
def test_every_kind_has_a_symbol_with_a_place_for_each_port(registry):
    for kind, cls in registry.items():
        symbol = symbol_of(cls)
        assert not find_symbol(cls.symbol).is_blank, kind
        ports = [name for name, (_, spec) in cls.specs().items() if spec.shape in ("port", "frame", "joint")]
        assert [port for port in ports if not symbol.covers(port)] == [], kind
        anchors = [port for port in symbol.anchors if port not in ports]
        assert anchors in ([], ["1"]), kind  # what a joint's own effect is connected by


def test_lines_end_where_the_leads_of_a_two_pole_do():
    system = kn.System("two poles")
    crank, wheel = (system.body(name, mass=1, inertia=(1, 1, 1)) for name in ("crank", "wheel"))
    system.revolute("j", system.world, crank)
    system.revolute("k", system.world, wheel)
    system.spring("spring", crank.at(1, 0, 0), wheel.at(0, 1, 0), stiffness=3)
    system.element("clutch", "clutch", first="j", second="k", capacity=1)
    system.element("gear", "backlash_gear", input="rotor", output="j", ratio=5, play=0.01, stiffness=10)
    system.element("rotor_inertia", "shaft_inertia", shaft="rotor", inertia=1)
    system.element("diode", "diode", plus="n1", minus="n2")
    system.element("switch", "switch", plus="n1", minus="n2", command="t - 1")
    circuit = CircuitGraph(system)
    Layout(circuit, 1600.0)
    for name in ("spring", "clutch", "gear", "diode", "switch"):
        box = circuit.boxes[name]
        assert box.is_two_pole
        first, second = [box.ports[port] for port, (x, _) in box.symbol.anchors.items() if x == 0]
        assert {first.side, second.side} in ({"top", "bottom"}, {"left", "right"}), name
        assert first.offset == second.offset == 0, name


def test_a_kind_of_ones_own_is_a_box_with_its_name():
    system = kn.System("own")
    system.define(
        "brick", ports={"a": "electrical"}, parameters={"r": "resistance"}, equations={"law": "a.voltage = r*a.current"}
    )
    system.element("b1", "brick", a="n", r=3.0)
    system.element("source", "voltage_source", plus="n", minus="gnd", voltage=1.0)
    drawn = kn.diagram(system)
    assert drawn.links == {"n": (("b1", "a"), ("source", "plus"))}
    assert ">brick</text>" in drawn.svg


def test_names_are_escaped_and_files_written(tmp_path):
    system = kn.System("a < b & c")
    system.revolute("j", system.world, system.body("b", mass=1), effort="2*t")
    drawn = kn.diagram(system, tmp_path / "one.svg", note="P1 < P2")
    assert (tmp_path / "one.svg").read_text(encoding="utf-8") == drawn.svg == drawn._repr_svg_()
    root = ElementTree.fromstring(drawn.svg)
    assert "a < b & c" in [text for element in root.iter(f"{SVG}text") for text in element.itertext()]
    with pytest.raises(kn.ArgumentError, match=r"written as \.svg"):
        drawn.save(tmp_path / "one.png")
    with pytest.raises(kn.ArgumentError, match="width: a number from 240 on"):
        kn.diagram(system, width=10)
    with pytest.raises(kn.ArgumentError, match="a System, a compiled one or a file"):
        kn.diagram(3)
    with pytest.raises(kn.Error, match="has no components to draw"):
        kn.diagram(kn.System("empty"))


def test_numbers_of_nodes_and_branches():
    circuit = kn.circuit(kn.load("examples/motor_axis.yaml"))
    svg = kn.diagram("examples/motor_axis.yaml", numbers=True).svg
    for name in ("bus", "coil", "rotor"):
        assert f">{name} ({circuit.nodes[name].number})<" in svg
    numbers = re.findall(r'class="branch">(\d+)<', svg)
    world = {str(k + 1) for k, link in enumerate(circuit.branches) if link.component == "world"}
    assert set(numbers) == {str(k + 1) for k in range(len(circuit.branches))} - world


def test_scalar_links_are_six_lines_each():
    vector, scalar = (kn.diagram("examples/four_bar.yaml", scalar=apart).svg for apart in (False, True))
    lines = [re.findall(r'<g class="link vector[^>]*data-name.*?</g>', svg) for svg in (vector, scalar)]
    assert [line.count("<path") * 6 for line in lines[0]] == [line.count("<path") for line in lines[1]]


def test_the_kinematic_problem_has_vector_links_of_information():
    assert 'class="link vector told"' in kn.diagram("examples/four_bar.yaml", mode="kinematic").svg
    with pytest.raises(kn.ArgumentError, match="mode: 'static' is none of dynamic, kinematic"):
        kn.diagram("examples/four_bar.yaml", mode="static")
