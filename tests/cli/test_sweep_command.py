"""``kinode sweep``: many runs from the command line."""

import pytest
from command_line import kinode

import kinode as kn
from kinode.studies.axes import read_axis_text
from kinode.studies.design import Distribution


def test_a_study_is_printed_and_written(model, tmp_path):
    files = [tmp_path / name for name in ("study.nc", "study.csv", "study.png")]
    done = kinode(
        "sweep", model, "--over", "pivot.q=10 deg..30 deg:3", "--keep", "pivot.u|peak", "--until", "0.5",
        "--save", files[0], "--csv", files[1], "--plot", files[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 runs over pivot.q (3)" in done.stdout and "pivot.u|peak" in done.stdout
    assert all(file.exists() for file in files)
    study = kn.load(files[0])
    run = kn.simulate(kn.load(model), 0.5, start={"pivot.q": "20 deg"})
    assert abs(study["pivot.u|peak"].values[1]) == pytest.approx(abs(run["pivot.u"]).max(), rel=1e-12)


def test_what_is_wrong_is_said(model):
    for over, words in (
        ("pivot.q", "NAME=VALUES is expected"),
        ("pivot.k=1,2", "pivot.k"),
        ("pivot.q=1..2 m..3", "pivot.q"),
    ):
        done = kinode("sweep", model, "--over", over, "--until", "0.1")
        assert done.returncode == 2, done.stdout
        assert words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("text, axis", [
    ("k=1,2, 5 N/m", ("k", ["1", "2", "5 N/m"])),
    ("L=0.4..0.6:3", ("L", ["0.4", "0.5", "0.6"])),
    ("L=400 mm..600 mm:2", ("L", ["400.0 mm", "600.0 mm"])),
    ("L=-1..1", ("L", Distribution("between", "-1", "1"))),
    ("m=normal(1 kg, 10 g)", ("m", Distribution("normal", "1 kg", "10 g"))),
    ("method=dopri5,stiff", ("method", ["dopri5", "stiff"])),
])  # fmt: skip
def test_texts_of_axes(text, axis):
    assert read_axis_text(text, "--over") == axis


@pytest.mark.parametrize("text", ["k", "=1", "k=", "k=a..b:3", "k=1 m..2 kg:3", "k=1..2:1"])
def test_texts_that_are_no_axis(text):
    with pytest.raises(kn.ArgumentError, match="--over"):
        read_axis_text(text, "--over")


def test_a_step_is_a_time_and_the_largest_one_of_a_method_with_error_control(model, tmp_path):
    given = ["sweep", model, "--over", "pivot.q=0.2 rad", "--keep", "pivot.u|peak", "--until", "0.3"]
    run = kn.simulate(kn.load(model), 0.3, start={"pivot.q": 0.2}, method="rk4", step=0.1)
    for method in (["--method", "rk4"], []):
        if not method:  # the model says which
            model.write_text(model.read_text().replace("dop853", "rk4"))
        done = kinode(*given, *method, "--step", "100 ms", "--save", tmp_path / "study.nc")
        assert done.returncode == 0, done.stderr
        study = kn.load(tmp_path / "study.nc")
        assert study["pivot.u|peak"].values[0] == pytest.approx(abs(run["pivot.u"]).max(), rel=1e-12)
    assert "failed" not in kinode(*given, "--method", "dopri5", "--step", "100 ms").stdout
    wrong = kinode(*given, "--step", "soon")
    assert wrong.returncode == 2 and "--step" in wrong.stderr
