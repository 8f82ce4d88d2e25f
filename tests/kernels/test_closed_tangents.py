"""Derivatives of systems with constraints along a direction: those of loop code are those of the tape."""

import numpy as np
import pytest
from derivative_checks import run_program
from mechanisms import four_bars, net
from rolled_models import MODELS, prepared
from test_tangent_programs import EVERYTHING, compare

import kinode as kn
from kinode.algebra.trace import Tape, count_operations
from kinode.jit.program import Block, Program
from kinode.kernels.alike import roll_groups
from kinode.kernels.kernel_options import DerivativeOptions, Kernel, SharingOptions
from kinode.kernels.rolled import rolled_programs
from kinode.structure.state_layout import EvaluationPoint

pytestmark = pytest.mark.usefixtures("loops_always")


def lawful_loop():
    """A ring in space with laws of efforts, springs of two kinds, a filter, a driven joint and a distance."""
    system = kn.System("lawful")
    m = system.parameter("m", 0.9)
    side = system.parameter("side", 1.1)
    system.gravity = (0.2, -9.81 * m, 1.0)
    bodies = [system.world]
    for i in range(7):
        new = system.body(f"b{i}", mass=m * (1 + 0.1 * i), com=(0.5, 0.02 * i, 0), inertia=(0.01, 0.05, 0.06))
        bodies.append(new)
    places = [system.world, *(body.at(side if k % 2 else 0.9, 0, 0.1) for k, body in enumerate(bodies[1:]))]
    for i in range(6):
        kind = ("revolute", "universal", "revolute", "spherical", "revolute", "cylindrical")[i]
        system.joint(f"j{i}", kind, places[i], bodies[i + 1])
    system.spherical("close", places[6], system.world.at(1.0, 0, 0), damping=(0.1, 0.1, 0.1))
    system.revolute("arm", bodies[3].at(0, 0.3, 0), bodies[7], motion="0.3*sin(2*t)")
    system.distance("rope", bodies[7].at(0.5, 0, 0), system.world.at(0, 2, 1), distance="1.4*side")
    system.change("j0", effort="m*sin(j2.q)*j2.u - 0.1*j0.u")
    system.filter("lag", "j2.q", time_constant="0.1*m")
    system.change("j2", effort="-lag.output*m", stiffness=3.0)
    system.spring("pull", bodies[2].at(0.1, 0, 0), bodies[5].at(0, 0.2, 0), stiffness="20*m", free_length=0.4)
    for i in range(1, 7):
        for k, end in enumerate((system.world.at(0, 1, i), bodies[7].at(0.1 * i, 0, 0))):
            system.spring(f"s{i}_{k}", bodies[i].at(0.2, 0.1, 0), end, stiffness=2.0 + i, free_length=0.3, damping=0.1)
    return system


CLOSED = {**MODELS, "net": lambda: net(2, 2), "four_bars": lambda: four_bars(3), "lawful": lawful_loop}
NAMED = {
    "carriage": (
        "rod2.position", "rod2.acceleration", "j1.reaction.force", "close.reaction.force", "push.force", "close.effort",
        "tip.velocity", "system.energy", "turn.reaction.moment", "j3.u_dot",
    ),
    "ring": ("rod2.acceleration", "close.reaction.force", "j1.reaction.force"),
    "wheel": ("rod.acceleration", "track.reaction", "pin.reaction.force"),
    "lawful": ("b4.acceleration", "close.reaction.force", "j3.reaction.force", "rope.reaction", "pull.tension"),
}  # fmt: skip


@pytest.mark.parametrize("of", ["u_dot", "rate", "energy", "bias", "effort"])
@pytest.mark.parametrize("model", CLOSED)
def test_functions_of_the_system(model, of):
    topology, point = prepared(CLOSED[model]())
    kind = "motion_along" if of == "effort" else "derivatives_along"
    compare(topology, point, Kernel(kind, DerivativeOptions((of,), EVERYTHING)))


@pytest.mark.parametrize("model", NAMED)
def test_named_quantities(model):
    topology, point = prepared(CLOSED[model]())
    compare(topology, point, Kernel("derivatives_along", DerivativeOptions(NAMED[model], EVERYTHING)))


@pytest.mark.parametrize("model", NAMED)
def test_all_of_them_behind_the_rate(model):
    topology, point = prepared(CLOSED[model]())
    compare(topology, point, Kernel("derivatives_along", DerivativeOptions(("rate", *NAMED[model]), EVERYTHING)))


@pytest.mark.parametrize("model", ["hinges", "ring", "net", "four_bars"])
def test_loads_and_directions_of_joints(model):
    """The function around which reactions are shared in numbers."""
    topology, point = prepared(CLOSED[model]())
    first, *_, last = topology.system.joints
    of = (f"{first}.reaction.moment", f"{last}.reaction.force", f"{last}.wrench.force")
    compare(topology, point, Kernel("shared_along", DerivativeOptions(of, EVERYTHING, SharingOptions(1.3, (), ()))))


def test_code_of_cut_joints_does_not_grow_with_their_number():
    """A net has one more loop over cut joints that are alike, however many there are."""

    def size(n):
        topology, _ = prepared(net(n, 2))
        program = rolled_programs.make_program(
            topology, Kernel("derivatives_along", DerivativeOptions(("u_dot",), EVERYTHING))
        )
        blocks = [block for block in program.blocks if block.count > 1]
        return sum(sum(count_operations(v for _, _, v in case).values()) for b in blocks for case in b.cases)

    assert size(5) <= size(3)


def test_groups_of_stores_that_are_alike():
    """Three groups of one form, with other entries and numbers, and one of another form; each adds to sums."""
    tape = Tape()
    u = tape.inputs("u", 8)

    def group(k, factor):
        total = tape.input("work", k % 2)
        return [("work", k % 2, total + factor * u[k] * u[k + 1]), ("work", 2 + k, 3.0 * u[k] + 2.0)]

    constants = {}
    groups = [group(0, 0.5), group(2, 0.7), group(1, 1.5), [("work", 5, u[7] - u[6])]]
    loops = [*roll_groups(groups, "table", constants)]
    assert [block.count for block in loops] == [3, 1]
    assert [len(block.views) for block in loops] == [4, 2]  # the sum; 2 + k and u, one each; the numbers
    assert constants["table0"].tolist() == [0.5, 0.7, 1.5]
    clear = Block(1, {}, [[("work", 0, 0.0), ("work", 1, 0.0)]])
    result = Block(1, {}, [[("out", k, tape.input("work", k)) for k in range(6)]])
    program = Program("kernel", {"u": 8, "work": 6, "out": 6, "x": 0}, constants, [clear, *loops, result])
    v = np.arange(1.0, 9.0)
    point = EvaluationPoint(0.0, np.empty(0), v, np.empty(0), np.empty(0), np.empty(0))
    expected = [0.5 * 2 + 0.7 * 12, 1.5 * 6, 5.0, 8.0, 11.0, 1.0]
    assert run_program(program, point, np.empty(0)) == pytest.approx(expected, rel=1e-15)
