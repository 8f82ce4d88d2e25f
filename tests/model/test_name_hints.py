"""A wrong name is answered with the right one, also where the wrong one is the word of another program."""

import pickle

import pytest

import kinode as kn
from kinode.errors import find_close
from kinode.other_words import OTHER_WORDS, translate


def swing():
    system = kn.System("swing", gravity=(0, -9.81, 0))
    body = system.body("arm", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    system.revolute("h", system.world, body, axis="z")
    system.spring("sp", body.at(1, 0, 0), system.world.at(0, 1, 0), stiffness=10, free_length=0.5)
    return system


@pytest.fixture(scope="module")
def run():
    return kn.simulate(swing(), 0.1, samples=2)


IN_LAWS_AND_RESULTS = [
    ("sp.force", "sp has no quantity 'force'; did you mean tension?"),
    ("h", "h is a joint, and no number; did you mean h.q?"),
    ("torque", "nothing is called 'torque'; did you mean h.effort?"),
    ("h.torque", "h has no quantity 'torque'; did you mean effort or reaction.moment?"),
    ("h.reaction.torque", "did you mean reaction.moment?"),
    ("h.qd", "did you mean u?"),
    ("h.qddot", "did you mean u_dot?"),
    ("time", "nothing is called 'time'; did you mean t?"),
    ("t.q", "t is the time, and has no 'q'"),
    ("arm", "arm is a body, and no number; did you mean arm.position?"),
    ("arm.omega", "did you mean angular_velocity?"),
    ("arm.x", "did you mean position.x?"),
    ("arm.pos", "did you mean position?"),
    ("sp", "sp is an element, and no number; did you mean sp.length?"),
    ("g", "did you mean system.gravity?"),
    ("energy", "did you mean system.energy?"),
    ("reaction.h", "did you mean h.reaction?"),
    ("RPM", "did you mean rpm?"),
    ("mm", "nothing is called 'mm'; it is a unit, and a quantity with its unit stands alone: '2 mm'"),
    ("hh.q", "nothing is called 'hh'"),
]


@pytest.mark.parametrize(("name", "message"), IN_LAWS_AND_RESULTS)
def test_a_wrong_name_in_a_result(run, name, message):
    with pytest.raises(kn.LawError) as caught:
        run[name]
    assert message in str(caught.value)


@pytest.mark.parametrize(("name", "message"), IN_LAWS_AND_RESULTS)
def test_a_wrong_name_in_a_law(name, message):
    system = swing()
    system.change("h", effort=f"2*{name}")
    with pytest.raises(kn.LawError) as caught:
        kn.compile(system)
    assert message in str(caught.value)
    assert (caught.value.component, caught.value.field) == ("h", "effort")


def test_a_unit_is_no_result(run):
    with pytest.raises(kn.LawError, match=r"rpm is a unit, 0\.10472 in SI, and no quantity of the system"):
        run["rpm"]


def test_many_joints_are_not_all_listed():
    system = swing()
    body = system.bodies["arm"]
    for k in range(4):
        body, old = system.body(f"link{k}", mass=1.0, inertia=(1, 1, 1)), body
        system.revolute(f"j{k}", old, body)
    system.change("h", effort="2*torque")
    with pytest.raises(kn.LawError, match=r"did you mean h\.effort or j0\.effort or j1\.effort \.\.\.\?"):
        kn.compile(system)


def test_a_derivative_is_a_quantity_of_its_own():
    system = swing()
    with pytest.raises(kn.LawError, match=r"'der' is no function: the rate of elbow\.q is elbow\.u"):
        system.change("h", effort="-der(h.q)")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.revolute("j", s.world, "arm", torque="1"), "has no field 'torque'; did you mean effort?"),
        (lambda s: s.spring("j", s.world, "arm", k=3), "has no field 'k'; did you mean stiffness?"),
        (lambda s: s.body("j", mass=1, J=3), "has no field 'J'; did you mean inertia?"),
        (lambda s: s.joint("j", "hinge", s.world, "arm"), "no joint is called 'hinge'; did you mean revolute?"),
        (lambda s: s.constraint("c", "wheel"), "no constraint is called 'wheel'; did you mean rolling?"),
        (lambda s: s.element("e", "torque"), "no element is called 'torque'; did you mean moment?"),
        (lambda s: s.table("T", axes=(0, 1), values=(1, 1), outside="periodic"), "not known; did you mean repeat?"),
        (lambda s: s.parameter("rpm", 3), "the name 'rpm' is reserved: it is a unit; choose another"),
        (lambda s: s.parameter("t", 3), "the name 't' is reserved: it is the time; choose another"),
        (lambda s: s.parameter("sin", 3), "the name 'sin' is reserved: it is a function of laws; choose another"),
        (lambda s: kn.simulate(s, 0.1, start={"h": 1}), "no coordinate 'h'; did you mean h.q or h.u?"),
        (lambda s: kn.simulate(s, 0.1, start={"h.angle": 1}), "no coordinate 'h.angle'; did you mean h.q?"),
    ],
)
def test_fields_kinds_and_arguments(call, message):
    with pytest.raises(kn.Error) as caught:
        call(swing())
    assert message in str(caught.value)


def test_an_error_carries_what_may_have_been_meant():
    with pytest.raises(kn.ModelError) as caught:
        swing().revolute("j", swing().world, "arm", stifness=1, dampng=2)
    assert caught.value.suggestion == ("stifness", ("stiffness",))
    with pytest.raises(kn.UnitError) as caught:
        swing().body("j", mass="2 KG")
    again = pickle.loads(pickle.dumps(caught.value.message))
    assert again == caught.value.message and again.endswith("a product is written with *)")
    assert again.suggestion == caught.value.suggestion == ("KG", ("kg",))
    assert ("of the part: " + again).suggestion == again.suggestion
    assert kn.ModelError("is wrong").suggestion is None


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: swing().weld, "did you mean fixed?"),
        (lambda: kn.System.hinge, "did you mean revolute?"),
        (lambda: kn.solve, "did you mean simulate?"),
        (lambda: kn.arctan2, "did you mean atan2?"),
        (lambda: kn._private, "has no attribute '_private'"),
    ],
)
def test_attributes(read, message):
    with pytest.raises(AttributeError) as caught:
        read()
    assert str(caught.value).endswith(message)


def test_a_hint_is_never_the_wrong_name_itself():
    assert find_close("q", ["q", "u"]) == []
    assert find_close("Q", ["q", "u"]) == ["q"]
    assert find_close("", ["q", ".u"]) == []


def test_words_of_others_are_translated_only_to_what_exists():
    assert translate("force", ["tension", "length"]) == ["tension"]
    assert translate("force", ["length"]) == []
    assert translate("left.h.torque", ["left.h.effort", "left.h.q"]) == ["left.h.effort"]
    assert translate(".".join(["torque"] * 50), ["t"]) == []
    assert all(word == word.lower() for word in OTHER_WORDS)
