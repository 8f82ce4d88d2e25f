"""Designs of studies: which values each run has."""

import numpy as np
import pytest
from scipy import stats

import kinode as kn
from kinode.studies import axes as study_axes
from kinode.studies.design import Axis, Distribution, make_design, random_shares


def spread(name, distribution):
    return Axis(name, "m", spread=(distribution, distribution.numbers(name, float)))


def test_grid_is_the_product_of_its_lists():
    design = make_design([Axis("a", "", [1.0, 2.0]), Axis("b", "", [10.0, 20.0, 30.0])], None, None, 0)
    assert design.dims == {"a": 2, "b": 3}
    rows = design.rows(0, len(design))
    assert rows == [{"a": a, "b": b} for a in (1.0, 2.0) for b in (10.0, 20.0, 30.0)]
    assert design.rows(2, 4) == rows[2:4]


def test_range_in_a_grid_is_spaced_evenly():
    design = make_design([spread("a", kn.between(0.0, 1.0))], "grid", 5, 0)
    assert [row["a"] for row in design.rows(0, 5)] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_samples_do_not_depend_on_chunks():
    whole = random_shares(3, "length", np.arange(1000))
    pieces = [random_shares(3, "length", np.arange(first, min(first + 7, 1000))) for first in range(0, 1000, 7)]
    assert np.array_equal(whole, np.concatenate(pieces))
    order = np.random.default_rng(0).permutation(1000)
    assert np.array_equal(random_shares(3, "length", order), whole[order])
    assert not np.array_equal(whole, random_shares(4, "length", np.arange(1000)))
    assert abs(np.corrcoef(whole, random_shares(3, "width", np.arange(1000)))[0, 1]) < 0.1


def test_further_axis_leaves_the_samples_of_the_others():
    alone = make_design([spread("a", kn.normal(1.0, 0.1))], None, 50, 7)
    both = make_design([spread("a", kn.normal(1.0, 0.1)), spread("b", kn.uniform(0.0, 1.0))], None, 50, 7)
    assert alone.values("a", np.arange(50)) == both.values("a", np.arange(50))


@pytest.mark.parametrize("distribution, law", [
    (kn.normal(2.0, 0.5), stats.norm(2.0, 0.5)), (kn.uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["random", "latin", "sobol"])
def test_samples_follow_their_law(distribution, law, kind):
    design = make_design([spread("a", distribution), spread("b", kn.between(0.0, 1.0))], kind, 512, 1)
    values = design.values("a", np.arange(512))
    assert stats.kstest(values, law.cdf).pvalue > 0.01


def test_latin_hypercube_has_one_sample_in_each_stratum():
    design = make_design([spread("a", kn.between(0.0, 1.0)), spread("b", kn.between(0.0, 1.0))], "latin", 64, 5)
    for name in "ab":
        assert sorted(np.floor(64 * np.array(design.values(name, np.arange(64))))) == list(range(64))


def test_lists_and_samples_make_a_product():
    design = make_design([Axis("speed", "", [1.0, 2.0]), spread("a", kn.normal(0.0, 1.0))], None, 10, 0)
    assert design.dims == {"speed": 2, "run": 10}
    rows = design.rows(0, 20)
    assert [row["a"] for row in rows[:10]] == [row["a"] for row in rows[10:]]
    assert {row["speed"] for row in rows[:10]} == {1.0}


def test_table_has_a_run_for_each_row():
    design = make_design([Axis("a", "", [1.0, 2.0]), Axis("b", "", [5.0, 6.0])], "rows", None, 0)
    assert design.dims == {"run": 2}
    assert design.rows(0, 2) == [{"a": 1.0, "b": 5.0}, {"a": 2.0, "b": 6.0}]


@pytest.mark.parametrize("axes, kind, n, words", [
    ([Axis("a", "", [1.0])], "gird", None, "did you mean 'grid'"),
    ([spread("a", kn.normal(0.0, 1.0))], None, None, "how many samples"),
    ([spread("a", kn.between(0.0, 1.0))], None, None, "how many values of a"),
    ([spread("a", kn.normal(0.0, 1.0))], "grid", 3, "no place in a grid"),
    ([Axis("a", "", [1.0])], "sobol", 8, "all axes are lists"),
    ([Axis("a", "", [1.0])], None, 8, "n is for samples"),
    ([Axis("a", "", [])], None, None, "a: the list of its values is empty"),
    ([Axis("a", "", [1.0, 2.0]), Axis("b", "", [1.0])], "rows", None, "a 2, b 1"),
    ([spread("a", kn.normal(0.0, 1.0))], None, 0, "from 1 is expected"),
    ([Axis("a", "", range(10**6)), Axis("b", "", range(10**6))], None, None, "more than"),
])  # fmt: skip
def test_impossible_designs_are_refused(axes, kind, n, words):
    with pytest.raises(kn.ArgumentError, match=words):
        make_design(axes, kind, n, 0)


@pytest.mark.parametrize("distribution", [kn.normal(1.0, 0.0), kn.uniform(2.0, 1.0), kn.between(1.0, 1.0)])
def test_impossible_spreads_are_refused(distribution):
    with pytest.raises(kn.ArgumentError, match="a: "):
        distribution.numbers("a", float)


def test_spread_of_a_temperature_is_a_difference():
    scale = {"K": (1.0, 0.0), "degC": (1.0, 273.15)}

    def read(text):
        number, unit = text.split()
        return float(number) * scale[unit][0] + scale[unit][1]

    assert kn.normal("20 degC", "2 degC").numbers("T", read) == pytest.approx((293.15, 2.0))


def test_public_names():
    assert kn.normal(1, 2) == Distribution("normal", 1, 2)
    assert kn.uniform(1, 2).random and not kn.between(1, 2).random


@pytest.mark.parametrize("text", ["elbow.q=1 deg..80 deg:200", "L=400 mm..600 mm:200", "L=0.4..0.6:200"])
def test_many_texts_are_read_as_each_alone(text):
    arm = kn.compile(kn.load("examples/double_pendulum.yaml"))
    name, texts = study_axes.read_axis_text(text)
    (axis,) = study_axes.read_axes([arm], ["arm"], {name: texts}, False)
    assert axis.values == [study_axes._read_one(arm, name, each) for each in texts]
    with pytest.raises(kn.ArgumentError, match="5 s"):
        study_axes.read_axes([arm], ["arm"], {name: [*texts, "5 s"]}, False)
