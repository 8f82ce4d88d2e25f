"""Errors in IPython: the user's lines and the message; in plain Python the whole traceback."""

import subprocess
import sys
import traceback
from types import SimpleNamespace

import pytest

import kinode as kn
from kinode.notebook_traceback import PACKAGE, count_hidden, shorten

CELL = """
import kinode as kn
system = kn.System("swing")
bar = system.body("bar", mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
system.revolute("pin", system.world, bar, effort="2*torque")
def mine(model):
    return kn.simulate(model, 1.0)
mine(system)
"""


def fail(text):
    """The error of a cell, whose lines are the user's."""
    with pytest.raises(kn.Error) as caught:
        exec(compile(text, "<ipython-input-1>", "exec"), {})
    return caught.value


@pytest.fixture
def shell(monkeypatch):
    """An IPython that renders as Python does."""
    tb = SimpleNamespace(mode="Context", structured_traceback=lambda *args: traceback.format_exception(*args))
    module = SimpleNamespace(get_ipython=lambda: SimpleNamespace(InteractiveTB=tb))
    monkeypatch.setitem(sys.modules, "IPython", module)
    return tb


def test_the_users_lines_stay_and_those_of_kinode_go(shell):
    error = fail(CELL)
    whole, lines = "".join(traceback.format_exception(error)), "".join(error._render_traceback_())
    assert PACKAGE in whole
    assert PACKAGE not in lines
    assert 'File "<ipython-input-1>", line 7, in mine' in lines
    assert "did you mean pin.effort?" in lines
    assert lines.endswith(f"({count_hidden(error.__traceback__)} frames of kinode hidden; %xmode Verbose shows them)")
    assert "".join(traceback.format_exception(error)) == whole  # the error itself is as it was


def test_functions_of_the_user_that_kinode_calls_stay(shell):
    error = fail(
        "import kinode as kn\n"
        "def law(s):\n"
        "    return 1/0\n"
        "system = kn.System('swing')\n"
        "bar = system.body('bar', mass=1, com=(1, 0, 0), inertia=(1, 1, 1))\n"
        "system.revolute('pin', system.world, bar, effort=law)\n"
    )
    lines = "".join(error._render_traceback_())
    assert "line 3, in law" in lines
    assert "line 6, in <module>" in lines
    assert PACKAGE not in lines


def test_everything_is_shown_where_it_is_asked_for(shell):
    shell.mode = "Verbose"
    error = fail(CELL)
    assert PACKAGE in "".join(error._render_traceback_())
    shell.mode = "Minimal"
    assert "hidden" not in "".join(error._render_traceback_())


def test_without_ipython_a_traceback_is_whole(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    error = fail(CELL)
    assert error._render_traceback_() == traceback.format_exception(error)


def test_libraries_are_hidden_only_within_kinode():
    """subprocess is called by the user here: its frame stays."""
    try:
        subprocess.run(["no such program"], check=True)
    except OSError as error:
        assert shorten(error.__traceback__) is not None
        assert count_hidden(error.__traceback__) == 0
    assert shorten(None) is None


def test_in_ipython():
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
    from IPython.utils.capture import capture_output

    shell = interactiveshell.InteractiveShell.instance()
    try:
        with capture_output() as captured:
            shell.run_cell(CELL)
            shell.run_cell("kn.simulate(system.copy(), 1).__class__")
        shell.user_ns["model"] = kn.System("shown")
        html = shell.display_formatter.format(shell.user_ns["model"])[0]["text/html"]
    finally:
        interactiveshell.InteractiveShell.clear_instance()
    shown = captured.stdout
    assert shown.count("frames of kinode hidden") == 2
    assert "nothing is called 'torque'" in shown
    assert "system_checks.py" not in shown
    assert "<strong>shown</strong>" in html


def test_names_are_completed_in_ipython():
    completer = pytest.importorskip("IPython.core.completer")
    system = kn.System("swing")
    bar = system.body("bar", mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
    system.revolute("pin", system.world, bar)
    run = kn.simulate(system, 0.1, samples=2)
    completion = completer.IPCompleter(namespace={"run": run}, use_jedi=False)
    text = 'run["pin.rea'
    with completer.provisionalcompleter():
        offered = {c.text for c in completion.completions(text, len(text))}
    assert any("reaction.force" in text for text in offered)
