"""The method "cvode" of earlier versions: it is taken as "stiff" everywhere, with one warning."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import kinode as kn
from kinode.ode.method_table import FORMER_METHODS, METHODS
from kinode.studio.editor.completion import complete_text

SAYS = 'method: "cvode" is taken as "stiff"'
MODEL = "examples/pendulum.yaml"


@pytest.fixture
def system():
    return kn.load(MODEL)


def said(call):
    """What a call gives, and the warnings of former methods in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(each.message) for each in caught if issubclass(each.category, FutureWarning)]


def test_a_run_is_that_of_the_stiff_method_with_its_tolerances(system):
    run, told = said(lambda: kn.simulate(system, 0.3, method="cvode", rtol=1e-6, atol=1e-7))
    same = kn.simulate(system, 0.3, method="stiff", rtol=1e-6, atol=1e-7)
    assert np.array_equal(run.y, same.y)
    assert (run.facts["method"], run.facts["rtol"], run.facts["atol"]) == ("stiff", 1e-6, 1e-7)
    assert len(told) == 1 and told[0].startswith(SAYS)


def test_a_file_may_name_it_and_keeps_its_word(system, tmp_path):
    system.run_defaults = {"method": "cvode", "until": 0.1, "step": 0.01}
    kn.export(system, "yaml", tmp_path / "model.yaml")
    loaded, told = said(lambda: kn.load(tmp_path / "model.yaml"))
    assert loaded.run_defaults["method"] == "cvode" and not told
    run, told = said(lambda: kn.simulate(loaded))
    assert (run.facts["method"], run.facts["max_step"]) == ("stiff", 0.01) and len(told) == 1
    assert "cvode" in kn.schema()["properties"]["run"]["properties"]["method"]["enum"]


@pytest.mark.parametrize("named", [True, False])
def test_studies_steppers_and_exports_take_it(system, named, tmp_path):
    """Named in the call, or in the model's run section."""
    more = {"method": "cvode"} if named else {}
    if not named:
        system.run_defaults = {"method": "cvode"}
    axis = {next(iter(system.parameters)): [0.5, 0.6, 0.7]}
    study, told = said(lambda: kn.sweep(system, axis, 0.02, keep=["system.energy|final"], **more))
    assert len(told) == 1 and len(study.data["system.energy|final"]) == 3
    _, told = said(lambda: kn.export(system, "c", tmp_path / "model", **more))
    assert set(told) == {f"{SAYS}; kinode runs no integrators of others any more"}
    if named:
        stepper, told = said(lambda: kn.compile(system).stepper(1e-3, **more))
        assert stepper.method == "stiff" and len(told) == 1


def test_formulations_and_derivatives_that_cvode_did_not_have(system):
    for more in ({"formulation": "newton_euler"}, {"sensitivity": ["pivot.q"]}):
        run, told = said(lambda more=more: kn.simulate(system, 0.05, method="cvode", **more))
        assert run.facts["method"] == "stiff" and len(told) == 1


def test_the_command_line_takes_it():
    call = [sys.executable, "-m", "kinode.cli", "run", MODEL, "--until", "0.05", "--method", "cvode", "--step", "1 ms"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count(SAYS) == 1
    assert "stiff, " in done.stdout


def test_it_is_offered_nowhere(system):
    text = "run: {method: }"
    offered = [option["label"] for option in complete_text(text, len(text) - 1, system)["options"]]
    assert offered == [*METHODS] and not FORMER_METHODS.keys() & METHODS.keys()
    with pytest.raises(kn.ArgumentError, match=r"methods are dopri5, auto, dop853, rk4, stiff$"):
        kn.simulate(system, 0.1, method="euler")
