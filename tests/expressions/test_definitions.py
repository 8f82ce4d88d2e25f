"""Chains of names that laws define: evaluated, ordered and substituted without recursion."""

from __future__ import annotations

import math
import sys

import pytest

import kinode as kn
from kinode.algebra.scalars import Dual
from kinode.expressions.definitions import Definitions, order_by_need, write_out
from kinode.expressions.parser import parse
from kinode.expressions.syntax_tree import Expression

LENGTH = 3000


def make_chain(law: str, count: int = LENGTH) -> dict[str, Expression | float]:
    laws: dict[str, Expression | float] = {"s0": parse("2*t")}
    return laws | {f"s{k}": parse(law.replace("before", f"s{k - 1}")) for k in range(1, count)}


def test_a_chain_longer_than_pythons_stack_is_evaluated_once_for_each_name() -> None:
    assert sys.getrecursionlimit() < LENGTH
    laws = make_chain("before + 1")
    definitions = Definitions(laws.get)
    assert parse(f"3*s{LENGTH - 1}").evaluate({"t": 0.25}.__getitem__, None, definitions) == 3 * (0.5 + LENGTH - 1)
    assert len(definitions.values) == LENGTH
    assert definitions.values["s10"] == 10.5


def test_a_chain_is_evaluated_for_dual_numbers() -> None:
    laws = make_chain("before*1.0001")
    value = parse(f"s{LENGTH - 1}").evaluate({"t": Dual(3.0, 1.0)}.__getitem__, None, Definitions(laws.get))
    assert isinstance(value, Dual)
    assert value.rate == pytest.approx(2 * 1.0001 ** (LENGTH - 1), rel=1e-10)


def test_only_the_selected_branch_looks_at_its_signals() -> None:
    laws = {"bad": parse("log(t)"), "good": parse("t + 5")}
    value = parse("where(t < 0, bad, good)").evaluate({"t": 1.0}.__getitem__, None, Definitions(laws.get))
    assert value == 6.0
    value = parse("where(t < 0, good, 2*bad)").evaluate({"t": math.e}.__getitem__, None, Definitions(laws.get))
    assert value == pytest.approx(2.0)


def test_the_order_puts_each_name_after_what_it_needs() -> None:
    laws = {"a": parse("b + c"), "b": parse("c*t"), "c": 2.0, "d": parse("a")}
    assert order_by_need(laws, ["a", "t"]) == ["c", "b", "a"]
    assert order_by_need(laws, ["d"], known={"b"}) == ["c", "a", "d"]
    written = write_out(laws)
    assert written["d"] == parse("2*t + 2")


def test_circles_are_named() -> None:
    laws = {"a": parse("b + 1"), "b": parse("2*c"), "c": parse("a^2")}
    with pytest.raises(kn.LawError, match="depends on itself: a -> b -> c -> a"):
        parse("a").evaluate({}.__getitem__, None, Definitions(laws.get))
    with pytest.raises(kn.LawError, match="depends on itself: a -> b -> c -> a"):
        order_by_need(laws, ["a"])


@pytest.fixture(scope="module")
def slide() -> kn.System:
    """A slide of 2 kg, and signals in a chain from time to a force."""
    system = kn.System("chain", gravity=(0, 0, 0))
    for name, law in make_chain("before + 0.001").items():
        system.signal(name, law)
    system.prismatic("slide", system.world, system.body("block", mass=2), axis="x", effort=f"s{LENGTH - 1}")
    return system


def test_a_law_at_the_end_of_3000_signals_acts(slide: kn.System) -> None:
    run = kn.simulate(slide, 1.0, samples=2)
    offset = 0.001 * (LENGTH - 1)
    assert run["slide.q"][-1] == pytest.approx((1 / 3 + offset / 2) / 2, rel=1e-8)
    assert run[f"s{LENGTH - 1}"][-1] == pytest.approx(2 + offset)


def test_a_motion_at_the_end_of_3000_signals_is_differentiated(slide: kn.System) -> None:
    driven = slide.copy()
    driven.change("slide", effort=None, motion=f"s{LENGTH - 1}^2")
    assert kn.simulate(driven, 1.0, samples=3)["slide.effort.drive"] == pytest.approx([16.0, 16.0, 16.0])


def test_breaks_at_the_start_of_a_chain_are_found_at_its_end() -> None:
    system = kn.System("pulse", gravity=(0, 0, 0))
    for name, law in (make_chain("before", 500) | {"s0": parse("100*(abs(t - 0.5) < 1e-3)")}).items():
        system.signal(name, law)
    system.prismatic("slide", system.world, system.body("block", mass=2), axis="x", effort="s499")
    run = kn.simulate(system, 1.0)
    assert run["slide.u"][-1] == pytest.approx(0.1, rel=1e-9)  # 100 N for 2 ms on 2 kg


def test_a_network_is_driven_by_a_chain_of_signals() -> None:
    system = kn.System("motor", gravity=(0, 0, 0))
    for name, law in make_chain("before + 0.001", 400).items():
        system.signal(name, law)
    rotor = system.body("rotor", inertia=(1, 1, 2), mass=1)
    system.revolute("hinge", system.world, rotor, axis="z")
    system.element("source", "moment_source", a="hinge", moment="s399")
    run = kn.simulate(system, 1.0, samples=2)
    assert run["hinge.u"][-1] == pytest.approx((1 + 0.399) / 2, rel=1e-8)
