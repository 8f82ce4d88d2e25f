"""The form of a study: what is read of it, what is wrong with which field, and the same as a command and a call."""

import numpy as np
import pytest

import kinode as kn
from kinode.studies.axes import read_axis_text
from kinode.studio.editor.study_form import MOST_RUNS, read_form, write_call, write_command
from kinode.studio.editor.worker_tasks import check_fields

SPEED = {"name": "n", "kind": "range", "first": "1000 rpm", "second": "3000", "count": "3", "values": ""}
FORM = {"axes": [SPEED], "design": "grid", "n": "", "keep": ["main.reaction.force|peak"], "until": "20 ms"}


@pytest.fixture(scope="module")
def crank():
    return kn.compile(kn.load("examples/slider_crank.yaml"))


def errors_of(raw, dynamics=None):
    form, errors = read_form(raw)
    errors += check_fields(dynamics, form) if dynamics is not None else []
    return {each["field"]: each["message"] for each in reversed(errors)}


def test_a_form_is_what_sweep_takes(crank):
    form, errors = read_form(FORM)
    assert not errors and not check_fields(crank, form)
    assert form.over() == {"n": ["1000.0 rpm", "2000.0 rpm", "3000.0 rpm"]} and form.runs == 3
    drawn, errors = read_form({**FORM, "design": "latin", "n": "20"})
    assert not errors and not check_fields(crank, drawn)
    assert str(drawn.over()["n"]) == "between(1000 rpm, 3000 rpm)" and drawn.runs == 20
    mixed = {**SPEED, "name": "main.q", "kind": "list", "values": "0, 10 deg"}
    both, errors = read_form({**FORM, "axes": [SPEED, mixed], "design": "sobol", "n": "8"})
    assert not errors and both.runs == 16
    assert both.options() == {"keep": FORM["keep"], "design": "sobol", "n": 8}


@pytest.mark.parametrize("change, field, words", [
    ({"axes": []}, "axes", "nothing varies"),
    ({"axes": [{**SPEED, "name": ""}]}, "axes.0.name", "what varies"),
    ({"axes": [{**SPEED, "name": "m"}]}, "axes.0.name", "neither a parameter nor an input"),
    ({"axes": [SPEED, SPEED]}, "axes.1.name", "stands twice"),
    ({"axes": [{**SPEED, "name": "rtol", "first": "1", "second": "2"}]}, "axes.0.name", "a setting of runs"),
    ({"axes": [{**SPEED, "first": "fast"}]}, "axes.0.first", "a number is expected"),
    ({"axes": [{**SPEED, "second": "3 kg"}]}, "axes.0.second", "kg"),
    ({"axes": [{**SPEED, "count": "1.5"}]}, "axes.0.count", "a whole number from 2"),
    ({"axes": [{**SPEED, "kind": "normal"}]}, "axes.0.kind", "design of samples"),
    ({"axes": [{**SPEED, "kind": "list", "values": " , "}]}, "axes.0.values", "values are expected"),
    ({"axes": [{**SPEED, "kind": "list", "values": "1, x"}]}, "axes.0.values", "x"),
    ({"axes": [{**SPEED, "second": "1000 rpm"}], "design": "latin", "n": "3"}, "axes.0.second", "below the second"),
    ({"axes": [{**SPEED, "kind": "list", "values": "1"}], "design": "latin", "n": "3"}, "design", "all values are"),
    ({"axes": [{**SPEED, "count": "400"}, {**SPEED, "name": "main.q", "count": "400"}]}, "axes", str(MOST_RUNS)),
    ({"design": "latin"}, "n", "number of samples"),
    ({"design": "cube"}, "design", "one of grid"),
    ({"keep": []}, "keep", "nothing is kept"),
    ({"keep": ["main.q"]}, "keep.0", "main.q|peak"),
    ({"keep": ["main.reaction.force|pek"]}, "keep.0", "did you mean peak"),
    ({"keep": ["crnk.q|peak"]}, "keep.0", "crnk"),
    ({"until": "-1 s"}, "until", "after the start"),
    ({"until": "0 s"}, "until", "after the start"),
    ({"until": "soon"}, "until", "soon"),
])  # fmt: skip
def test_what_is_wrong_stands_at_its_field(crank, change, field, words):
    errors = errors_of({**FORM, **change}, crank)
    assert words in errors[field]


@pytest.mark.parametrize("change", [
    {},
    {"axes": [{**SPEED, "kind": "list", "values": "1000 rpm, 2000 rpm"}]},
    {"axes": [{**SPEED, "first": "100", "second": "300"}]},
    {"design": "sobol", "n": "4"},
    {"axes": [{**SPEED, "kind": "normal", "second": "10 rpm"}], "design": "random", "n": "5"},
])  # fmt: skip
def test_the_command_and_the_call_say_the_same(change):
    form = read_form({**FORM, **change})[0]
    command = write_command(form, "crank.yaml")
    assert command.startswith("kinode sweep crank.yaml --over ") and "--until '20 ms'" in command
    axis = command.split("--over ")[1].split(" --keep")[0].strip("'")
    name, values = read_axis_text(axis)
    assert name == "n" and values == form.over()["n"]
    said = {}

    def sweep(file, over, until, **options):
        said.update(file=file, over=over, until=until, **options)

    namespace = {"kn": type("Kn", (), {"sweep": staticmethod(sweep), "between": kn.between, "normal": kn.normal})}
    lines = [line for line in write_call(form, "crank.yaml").splitlines() if line != "import kinode as kn"]
    exec("\n".join(line for line in lines if not line.startswith("print")), namespace)
    assert (said["file"], said["until"], said["keep"]) == ("crank.yaml", "20 ms", list(form.keep))
    assert (said.get("design"), said.get("n")) == ((form.design, form.n) if form.samples else (None, None))
    given = said["over"]["n"]
    if isinstance(form.over()["n"], list):
        numbers = [[float(str(value).split()[0]) for value in values] for values in (given, form.over()["n"])]
        assert np.allclose(*numbers, rtol=1e-14)
    else:
        assert given == form.over()["n"]
