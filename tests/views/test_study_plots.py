"""Plots and reports of studies show the numbers of the study."""

import numpy as np
import pytest

import kinode as kn
from kinode.views.plots.study_plots import find_shares

FORCE, SPEED = "elbow.reaction.force|peak", "elbow.u|rms"


@pytest.fixture(scope="module")
def arm():
    return kn.compile(kn.load("examples/double_pendulum.yaml"))


@pytest.fixture(scope="module")
def grid(arm):
    over = {"elbow.q": np.linspace(0, 1, 9).tolist(), "shoulder.q": np.linspace(0, 1, 9).tolist()}
    return kn.sweep(arm, over, 0.2, keep=[FORCE, SPEED])


@pytest.fixture(scope="module")
def samples(arm):
    over = {"elbow.q": kn.normal(0.3, 0.1), "shoulder.q": kn.uniform(0.0, 1.0), "rtol": kn.between(1e-9, 1e-8)}
    return kn.sweep(arm, over, 0.2, keep=[FORCE, SPEED], n=60, design="latin")


def test_lines_show_every_value(arm):
    study = kn.sweep(arm, {"elbow.q": [0.2, 0.1, 0.3], "shoulder.q": [0.0, 1.0]}, 0.1, keep=FORCE)
    figure = study.plot(shown=False)
    lines = figure.axes[0].get_lines()
    assert len(lines) == 2
    assert np.array_equal(lines[1].get_xdata(), [0.1, 0.2, 0.3])
    assert np.array_equal(lines[1].get_ydata(), study[FORCE].values[[1, 0, 2], 1])
    assert figure.axes[0].get_xlabel() == "elbow.q (rad)"


def test_map_shows_the_grid(grid):
    figure = grid.plot(FORCE, x="shoulder.q", shown=False)
    mesh = figure.axes[0].collections[0]
    assert np.array_equal(np.asarray(mesh.get_array()).reshape(9, 9), grid[FORCE].values)


def test_scatter_has_a_column_for_each_axis(samples):
    figure = samples.plot(shown=False)
    assert len(figure.axes) == 6
    dots = figure.axes[0].get_lines()[0]
    assert np.array_equal(dots.get_xdata(), samples["elbow.q"].values)


def test_tornado_of_a_linear_result_has_its_slopes(arm):
    def mixed(run):
        return 3.0 * run["elbow.q"][0] - run["shoulder.q"][0]

    over = {"shoulder.q": np.linspace(0, 1, 5).tolist(), "elbow.q": np.linspace(0, 2, 5).tolist()}
    first, second = find_shares(kn.sweep(arm, over, 0.01, keep=mixed), "mixed")
    assert first == ("elbow.q", pytest.approx(6.0), pytest.approx(36 / 37))
    assert second == ("shoulder.q", pytest.approx(-1.0), pytest.approx(1 / 37))


def test_tornado_puts_first_what_matters_most(samples):
    names = [name for name, _, _ in find_shares(samples, FORCE)]
    assert names[-1] == "rtol"
    figure = samples.plot(FORCE, kind="tornado", shown=False)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == names


def test_report_is_one_file_with_tables_and_pictures(samples, tmp_path):
    file = samples.report(tmp_path / "out")
    text = file.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert FORCE in text and "60 runs over" in text
    assert "http" not in text.replace("http://www.w3.org", "")


@pytest.mark.parametrize("arguments, words", [
    ((("nothing",), {}), "keeps no 'nothing'"), (((), {"kind": "pie"}), "none of lines"),
    (((), {"x": "elbow"}), "did you mean 'elbow.q'"),
])  # fmt: skip
def test_what_is_wrong_is_said(grid, arguments, words):
    with pytest.raises(kn.ArgumentError, match=words):
        grid.plot(*arguments[0], **arguments[1], shown=False)


def test_notebook_shows_the_table(grid):
    assert FORCE in grid._repr_html_()
