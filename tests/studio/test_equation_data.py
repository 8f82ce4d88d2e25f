"""Equations of the player: the terms of every line balance along a run, and their markup is well formed."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kinode as kn
from kinode.player.equation_data import LONG, equation_data

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def lines_of(record):
    """Each line with the values of its terms by sides."""
    row = 0
    for line in record.data["lines"]:
        terms = [term for term in line["terms"] if term["series"]]
        values = record.values[row : row + len(terms)]
        assert [info["name"] for info in record.infos[row : row + len(terms)]] == [term["series"] for term in terms]
        row += len(terms)
        yield line, terms, values
    assert row == len(record.values) == len(record.infos)


@pytest.mark.parametrize(
    ("name", "lines"),
    [("pendulum", 1), ("double_pendulum", 2), ("four_bar", 7), ("motor_axis", 7), ("rlc", 2), ("backlash_axis", 3)],
)
def test_the_terms_of_every_line_balance(name, lines):
    run = kn.simulate(kn.load(EXAMPLES / f"{name}.yaml"), 0.4, samples=41)
    record = equation_data(run)
    assert len(record.data["lines"]) == lines
    for line, terms, values in lines_of(record):
        signs = np.array([1.0 if term["side"] == "left" else -1.0 for term in terms])
        largest = np.abs(values).max()
        assert np.abs(signs @ values).max() <= 1e-9 * largest, line["name"]
        assert not any("what sticks" in term["mathml"] for term in terms), line["name"]


def test_terms_are_those_of_the_run_and_its_parameters():
    system = kn.load(EXAMPLES / "pendulum.yaml")
    run = kn.simulate(system, 1.0, samples=11, parameters={"L": 0.7})
    record = equation_data(run)
    np.testing.assert_allclose(record.values[0], 0.7**2 / 3 * run["pivot.u_dot"])
    np.testing.assert_allclose(record.values[1], 4.905 * 0.7 * np.cos(run["pivot.q"]))
    assert [info["unit"] for info in record.infos] == ["N*m", "N*m"]
    meaning = {symbol["name"]: symbol["value"] for symbol in record.data["symbols"]}
    assert meaning == {"L": 0.7, "pivot.u_dot": None, "pivot.q": None}


def test_multipliers_are_the_loads_in_the_cut_joint():
    run = kn.simulate(kn.load(EXAMPLES / "four_bar.yaml"), 0.4, samples=21)
    record = equation_data(run)
    (last,) = [(terms, values) for line, terms, values in lines_of(record) if line["name"] == "right"]
    terms, values = last
    sides = np.array([term["side"] == "right" for term in terms])
    # the moment of the pin's force about the bearing of the right bar, from the loads of the run
    arm = run["top.child.position"] - run["right.child.position"]
    force = np.einsum("tij,tj->ti", run["top.parent.rotation"], run["top.reaction.force"])
    joints = run.system.joints
    toward = 1.0 if joints["top"].b.body == joints["right"].b.body else -1.0
    moment = toward * (arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0])
    np.testing.assert_allclose(values[sides].sum(axis=0), moment, atol=1e-9 * np.abs(moment).max())


def test_what_sticks_is_a_term_of_its_own():
    run = kn.simulate(kn.load(EXAMPLES / "brake_arm.yaml"), 1.0, samples=101)
    record = equation_data(run)
    sticking = 0
    for _, terms, values in lines_of(record):
        signs = np.array([1.0 if term["side"] == "left" else -1.0 for term in terms])
        assert np.abs(signs @ values).max() <= 1e-9 * np.abs(values).max()
        sticking += any("what sticks" in term["mathml"] for term in terms)
    assert sticking


def test_other_times_than_those_of_the_run():
    run = kn.simulate(kn.load(EXAMPLES / "double_pendulum.yaml"), 1.0, samples=11)
    coarse = kn.simulate(kn.load(EXAMPLES / "double_pendulum.yaml"), 1.0, samples=6)
    whole, part = equation_data(run), equation_data(run, coarse)
    assert part.values.shape[1] == 6
    np.testing.assert_allclose(part.values[:, 0], whole.values[:, 0])


def test_markup_is_well_formed_and_names_its_terms():
    record = equation_data(kn.simulate(kn.load(EXAMPLES / "leg.yaml"), 0.1, samples=3))
    for line in record.data["lines"]:
        math = ElementTree.fromstring(line["mathml"])
        numbers = [node.get("data-term") for node in math.iter() if node.get("data-term")]
        assert numbers == [str(k) for k in range(len(line["terms"]))]
        for term in line["terms"]:
            ElementTree.fromstring(term["mathml"])


def test_long_equations_say_how_to_get_them():
    record = equation_data(kn.simulate(kn.load(EXAMPLES / "ur5.yaml"), 0.01, samples=2))
    assert record.data["lines"] == [] and record.data["note"] == LONG


def test_a_system_without_states_has_none():
    assert equation_data(kn.simulate(kn.load(EXAMPLES / "rotor.yaml"), 0.01, samples=2)) is None
