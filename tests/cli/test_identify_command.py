"""kinode identify: a model and its log on the command line."""

import numpy as np
import pytest
from command_line import PENDULUM, kinode

import kinode as kn


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM)
    return path


def test_a_length_from_a_log(model, tmp_path):
    run = kn.simulate(model, 1.0, samples=51, parameters={"L": 0.8})
    log, fitted = tmp_path / "log.csv", tmp_path / "fitted.yaml"
    angle = np.degrees(run["pivot.q"]) + 0.05 * np.random.default_rng(0).normal(size=51)
    log.write_text("t,a\n" + "\n".join(f"{t!r},{a!r}" for t, a in zip(run.t.tolist(), angle.tolist(), strict=True)))
    args = ("--measure", "pivot.q=a deg", "--free", "L=0.3 m..2 m", "--save", fitted, "--report", tmp_path / "out")
    done = kinode("identify", model, log, *args)
    assert done.returncode == 0, done.stderr
    assert "match" in done.stdout and "log.csv" in done.stdout
    assert kn.load(fitted).parameters["L"].value == pytest.approx(0.8, rel=1e-2)
    assert (tmp_path / "out" / "fit.html").exists()
    wrong = kinode("identify", model, log, "--measure", "pivot.q=b deg", "--free", "L")
    assert wrong.returncode == 2 and "no column is called 'b'" in wrong.stderr
    wrong = kinode("identify", model, log, "--measure", "pivot.q=a deg", "--free", "L=3")
    assert wrong.returncode == 2 and "NAME=LOW..HIGH" in wrong.stderr


def test_the_column_of_the_times_and_its_unit(model, tmp_path):
    run, log = kn.simulate(model, 3.0, samples=51, parameters={"L": 0.8}), tmp_path / "log.csv"
    rows = [f"{1e3 * t!r},{a!r}" for t, a in zip(run.t.tolist(), run["pivot.q"].tolist(), strict=True)]
    log.write_text("\n".join(["Zeit_ms,angle rad", *rows]))
    args = ("identify", model, log, "--measure", "pivot.q=angle", "--free", "L")
    questioned = kinode(*args)
    assert questioned.returncode == 2 and "time='Zeit_ms ms'" in questioned.stderr
    assert "kinode: warning: log.csv: the numbers of 'Zeit_ms' are taken in s" in questioned.stderr
    done = kinode(*args, "--time", "Zeit_ms ms")
    assert done.returncode == 0 and "0.8" in done.stdout, done.stderr
