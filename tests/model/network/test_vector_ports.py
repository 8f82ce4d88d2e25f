"""Vector ports of declared parts, v, w | F, M: against forces and moments as laws, and what is refused."""

import numpy as np
import pytest

import kinode as kn

PAD = {
    "parameters": {"damping": "N*s/m", "drag": "N*m*s", "stiffness": "N/m"},
    "equations": {
        "cushion": "hand.force = damping*hand.velocity",
        "drag": {"law": "hand.moment = drag*hand.angular_velocity", "solves": "hand.moment"},
    },
    "lost": " + ".join(f"damping*hand.velocity.{x}^2 + drag*hand.angular_velocity.{x}^2" for x in "xyz"),
}


def flying():
    system = kn.System("flying")
    body = system.body("body", mass=2, com=(0.1, 0, 0.05), inertia=(0.4, 0.5, 0.6))
    body.at(0.3, 0.2, 0.1, rpy=(0.3, 0.2, 0.1), name="tip")
    system.free("joint", system.world, body, velocity=(1, 0, 0.3), angular_velocity=(0.5, 1, 2))
    return system


@pytest.mark.parametrize("axes", ["world", "own"])
def test_a_cushion_at_a_point_of_a_body(axes):
    system, other = flying(), flying()
    system.define("cushion", ports={"hand": {"kind": "mechanical", "axes": axes}}, **PAD)
    system.element("pad", "cushion", hand="body.tip", damping=3, drag=0.5, stiffness=0)
    at, frame = ("", "world") if axes == "world" else ("@body.tip", "body.tip")
    other.force("f", "body.tip", tuple(f"-3*body.tip.velocity.{x}{at}" for x in "xyz"), expressed_in=frame)
    turning = tuple(f"-0.5*body.angular_velocity.{x}{at}" for x in "xyz")
    other.moment("m", "body.tip", turning, expressed_in=frame)
    run, same = (kn.simulate(one, 1.0, samples=11, rtol=1e-10) for one in (system, other))
    assert np.allclose(run["joint.q"], same["joint.q"], atol=1e-8)
    assert run["pad.power"] == pytest.approx(run["pad.lost"]) and run.audit.relative < 1e-7
    assert run["pad.hand.force.x"] == pytest.approx(3 * run["pad.hand.velocity.x"])
    assert "all agree" in str(kn.verify(system, 2, compiled=False))


def test_a_part_between_a_body_and_a_shaft():
    """A winch: a rope pulls at a hook along x and turns a drum; the power of both ports sums to zero."""
    system = flying()
    system.define(
        "winch",
        ports={"hook": "mechanical", "drum": "rotational"},
        parameters={"radius": "m", "stiffness": "N/m", "damping": "N*s/m"},
        unknowns={"stretch": {"unit": "m", "start": "initial_stretch"}},
        names={"pull": {"law": "stiffness*stretch + damping*der(stretch)", "unit": "N"}},
        equations={
            "rope": "der(stretch) = hook.velocity.x - radius*drum.speed",
            "x": "hook.force.x = stiffness*stretch + damping*(hook.velocity.x - radius*drum.speed)",
            "y": "hook.force.y = 0", "z": "hook.force.z = 0", "free to turn": "hook.moment = 0",
            "drum": "drum.moment = -radius*hook.force.x",
        },
        stored="stiffness*stretch^2/2",
        lost="damping*(hook.velocity.x - radius*drum.speed)^2",
    )  # fmt: skip
    system.element("winch", "winch", hook="body.tip", drum="shaft", radius=0.1, stiffness=50, damping=2)
    system.shaft_inertia("wheel", "shaft", inertia=0.05)
    run = kn.simulate(system, 1.0, rtol=1e-10)
    assert run.audit.relative < 1e-8 and run["shaft.speed"][-1] > 0.1
    assert "all agree" in str(kn.verify(system, 2, compiled=False))


def test_files_and_copies_keep_vector_ports(tmp_path):
    system = flying()
    system.define("cushion", ports={"hand": "mechanical"}, **PAD)
    system.element("pad", "cushion", hand="body.tip", damping=3, drag=0.5, stiffness=0)
    system.save(tmp_path / "s.yaml")
    assert kn.load(tmp_path / "s.yaml") == system
    outer = kn.System("outer")
    outer.add("part", system)
    assert outer["part.pad"].hand.body == "part.body"


@pytest.mark.parametrize(
    "declaration, said",
    [
        ({"ports": {"hand": "mechanicl"}}, "'mechanicl' is not one of .*mechanical"),
        ({"ports": {"hand": {"kind": "mechanical", "axes": "his"}}}, "hand.axes: 'his' is not one of world, own"),
        ({"ports": {"a": {"kind": "rotational", "axes": "own"}}}, "belongs to mechanical ports"),
        ({"equations": {"x": "hand.force = 0"}}, "needs 6, .*6 components of its vector ports .*has 3 equations"),
        ({"equations": {"x": "hand.force = hand.speed", "m": "hand.moment = 0"}}, "no quantity is called 'hand.speed'"),
        ({"equations": {"x": "hand.force = 3*der(hand.velocity)", "m": "hand.moment = 0"}},
         "a mass belongs to the body"),
    ],
)  # fmt: skip
def test_what_vector_ports_cannot_be(declaration, said):
    with pytest.raises(kn.ModelError, match=said):
        kn.System("s").define("bad", **{"ports": {"hand": "mechanical"}, **declaration})


def test_a_frame_at_a_vector_port_has_a_name():
    system = flying()
    system.define("cushion", ports={"hand": "mechanical"}, **PAD)
    with pytest.raises(kn.ModelError, match=r"pad.hand: the frame needs a name"):
        system.element("pad", "cushion", hand=system["body"].at(1, 0, 0), damping=3, drag=0.5, stiffness=0)
