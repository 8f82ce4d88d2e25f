"""The command line: what it prints where, what it writes, and its exit codes.

Commands are called within this process; that a process of its own gives the same is checked with one of each outcome.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from command_line import PENDULUM, ROOT, kinode, process

import kinode as kn
from kinode.ode.method_table import METHODS


@pytest.mark.parametrize(
    ("args", "code"), [(("verify", "{}"), 0), (("run", "{}", "--set", "M=3"), 1), (("run", "nothing.yaml"), 2)]
)
def test_a_process_does_what_the_call_does(model, args, code):
    args = [arg.format(model) for arg in args]
    one, other = kinode(*args, COLUMNS="80"), process(*args, COLUMNS="80")
    assert (one.returncode, one.stdout) == (other.returncode, other.stdout) and one.returncode == code
    assert one.stderr == other.stderr.replace("python -m kinode.cli", "kinode")


def test_run_prints_loads_ends_and_audit(model):
    done = kinode("run", model)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("pendulum: 2 s simulated", "dop853", "joint loads", "pivot", "coordinates", "energy audit", "N·m"):
        assert word in done.stdout
    assert "\x1b" not in done.stdout, "no color where there is no terminal"


def test_run_writes_what_is_asked_for(model, tmp_path):
    report, saved, table = tmp_path / "out", tmp_path / "run.nc", tmp_path / "run.csv"
    done = kinode("run", model, "--report", report, "--save", saved, "--csv", table, "--samples", 11)
    assert done.returncode == 0, done.stderr
    assert (report / "pendulum.html").read_text().startswith("<!DOCTYPE html>")
    assert len(kn.Trajectory.load(saved)) == 11
    assert len(table.read_text().splitlines()) == 12
    for path in (report / "pendulum.html", saved, table):
        assert f"wrote {path}" in done.stdout.replace("\n", "").replace("wrote", "\nwrote")


def test_options_reach_the_simulation(model, tmp_path):
    saved = tmp_path / "run.nc"
    args = ("--until", "500 ms", "--method", "rk4", "--step", "1 ms", "--set", "L=2 m", "--input", "push=3")
    done = kinode("run", model, *args, "--start", "pivot.q=10 deg", "--save", saved, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    run = kn.Trajectory.load(saved)
    assert run.t[-1] == 0.5 and run.facts["method"] == "rk4" and run.facts["step"] == 1e-3
    assert run.parameters["L"] == 2.0 and run.input_values["push"] == 3.0
    assert run["pivot.q"][0] == pytest.approx(0.17453292519943295)


APART = "number and unit stand apart: write '5 {0}' for a quantity; for a product write 5*{0}"


@pytest.mark.parametrize(("args", "unit"), [
    (("run", "--until", "5s"), "s"), (("run", "--step", "5ms"), "ms"), (("run", "--every", "5ms"), "ms"),
    (("run", "--set", "L=5mm"), "mm"), (("run", "--input", "push=5Nm"), "Nm"),
    (("run", "--start", "pivot.q=5deg"), "deg"), (("sweep", "--over", "L=5mm,6 mm"), "mm"),
    (("sweep", "--over", "L=5mm..6 mm:3"), "mm"), (("sweep", "--over", "L=4 mm..5mm"), "mm"),
    (("sweep", "--over", "L=normal(5mm, 1 mm)", "-n", "3"), "mm"),
    (("sweep", "--over", "L=" + ",".join(["5mm"] * 40)), "mm"), (("sweep", "--over", "until=5s"), "s"),
    (("sweep", "--over", "L=1", "--keep", "pivot|life(5kN, 0, 1)"), "kN"),
    (("reactions", "--joint", "pivot", "--frequency", "5Hz"), "Hz"),
    (("reactions", "--joint", "pivot", "--until", "1", "--bearings", "0,5cm"), "cm"),
    (("view", "--until", "5s"), "s"),
])  # fmt: skip
def test_a_number_stuck_to_its_unit_is_refused_everywhere_in_the_same_words(model, args, unit):
    done = kinode(args[0], model, *args[1:])
    assert done.returncode in (1, 2)
    assert APART.format(unit) in " ".join(done.stderr.split())


def test_an_angle_without_a_unit_is_asked_for_it(model):
    for args in (("run", "--start", "pivot.q=90"), ("sweep", "--over", "pivot.q=90..120:3")):
        done = kinode(args[0], model, *args[1:])
        assert done.returncode in (1, 2) and " deg', or '90" in done.stderr


def test_an_input_is_a_column_of_a_file(model, tmp_path):
    log, saved = tmp_path / "log.csv", tmp_path / "run.nc"
    log.write_text("time [ms],push_mNm,other\n0,0,1\n500,2000,1\n1000,1000,1\n")
    done = kinode("run", model, "--until", "1", "--input", f"push={log}:push_mNm mN*m", "--save", saved, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    run = kn.Trajectory.load(saved)
    assert run["push"] == pytest.approx(np.interp(run.t, [0, 0.5, 1], [0, 2, 1]), abs=1e-12)
    done = kinode("run", model, "--input", f"push={log}:pull", "--quiet")
    assert done.returncode == 2 and "log.csv: no column is called 'pull'" in done.stderr
    done = kinode("run", model, "--input", f"push={tmp_path / 'none.csv'}:pull", "--quiet")
    assert done.returncode == 2 and "No such file" in done.stderr


def test_a_saved_run_is_no_model(model, tmp_path):
    kinode("run", model, "--until", "0.1", "--save", tmp_path / "run.nc")
    result = kinode("show", tmp_path / "run.nc")
    assert result.returncode == 2
    assert "is a saved run, and no model" in " ".join(result.stderr.split())


def test_expressions_are_shown(model):
    assert "180/pi" in kinode("run", model, "--until", "0.1", "--show", "pivot.q*180/pi").stdout
    assert kinode("run", model, "--show", "2*pivot.torque").returncode != 0


def test_show_prints_quantities_even_when_quiet(model):
    done = kinode("run", model, "--quiet", "--show", "pivot.q", "--show", "rod.com.position")
    assert done.returncode == 0 and "pivot.q" in done.stdout and "rod.com.position.z" in done.stdout
    assert "joint loads" not in done.stdout


@pytest.mark.parametrize("columns", ["60", "120"])
def test_output_fits_the_terminal(model, columns):
    asked = ("--joint", "pivot", "--causes", "--bearings", "0,10 cm")
    for command in (
        ("run", model),
        ("verify", model),
        ("reactions", model),
        ("reactions", model, *asked),
        ("examples",),
    ):
        done = kinode(*command, COLUMNS=columns, NO_COLOR="1")
        assert done.returncode == 0
        assert max(len(line) for line in done.stdout.splitlines()) <= int(columns)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("run",), 2, "MODEL"),
        (("run", "nothing.yaml"), 2, "there is no file"),
        (("run", "pendulum.yaml"), 2, "kinode examples pendulum --copy ."),
        (("run", "{}", "--until", "5 kg"), 2, "--until"),
        (("run", "{}", "--method", "euler"), 2, "--method"),
        (("run", "{}", "--set", "L"), 2, "NAME=VALUE"),
        (("run", "{}", "--set", "M=3"), 1, "M"),
        (("run", "{}", "--set", "L=3 kg"), 1, "m is needed"),
        (("run", "{}", "--show", "pivt.q"), 1, "pivot"),
        (("run", "{}", "--until", "-1"), 2, "before the start"),
        (("run", "{}", "--rtol", "5"), 2, "rtol"),
        (("verify", "{}", "--base", "loose"), 2, "fixed or free"),
        (("reactions", "{}", "--causes"), 2, "which joint?"),
        (("reactions", "{}", "--joint", "pivt"), 2, "pivot"),
        (("reactions", "{}", "--joint", "pivot", "--bearings", "0"), 2, "two places are expected"),
        (("reactions", "{}", "--joint", "pivot", "--frequency", "5"), 2, "say the unit"),
        (("reactions", "{}", "--joint", "pivot", "--hold", "pivot"), 2, "in no loop"),
        (("examples", "pendulm"), 1, "pendulum"),
        (("schema", "--out", "/nowhere/at/all.json"), 1, "/nowhere/at/all.json"),
        (("fly",), 2, "fly"),
    ],
)
def test_errors_go_to_stderr_with_their_code(model, args, code, words):
    done = kinode(*(str(arg).format(model) for arg in args))
    assert done.returncode == code, done.stderr
    assert words in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_wrong_model_names_file_line_and_component(model):
    model.write_text(PENDULUM.replace("axis: y", "axis: w"))
    done = kinode("run", model)
    assert done.returncode == 1 and done.stdout == ""
    assert f"{model}:8" in done.stderr and "pivot" in done.stderr and "Traceback" not in done.stderr
    assert "Traceback" in process("run", model, "--debug").stderr


def test_a_failed_simulation_keeps_what_it_has(model, tmp_path):
    model.write_text(PENDULUM.replace("effort: push", "effort: 1/(1 - t)^2*exp(500*t)"))
    done = kinode("run", model, "--csv", tmp_path / "a.csv", "--report", tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr and "t = " in done.stderr
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 5
    assert "did not reach its end" in (tmp_path / "pendulum.html").read_text()


PRESSED_THRICE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs are born deaf to it
from kinode.cli import commands, options, run_commands
from kinode.results.trajectory import Trajectory
from kinode.simulation.progress_bar import Progress
def press():
    os.kill(os.getpid(), signal.SIGINT)
def then_press(function, before):
    def pressed(*args):
        press() if before else None
        result = function(*args)
        None if before else press()
        return result
    return pressed
Progress.__call__ = then_press(Progress.__call__, before=True)
Trajectory.save = then_press(Trajectory.save, before=True)
run_commands.print_result = then_press(run_commands.print_result, before=False)
sys.argv = ["kinode", "run", {model!r}, "--until", "1e6", "--save", {file!r}]
commands.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_control_c_keeps_the_run_however_often_it_is_pressed(model, tmp_path):
    """First while it runs, then while it is saved, then while its tables are printed."""
    file = tmp_path / "run.nc"
    code = PRESSED_THRICE.format(model=str(model), file=str(file))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    run = kn.Trajectory.load(file)
    assert done.returncode == 130 and run.status == "stopped" and 0 < run.t[-1] < 1e6
    said = [line for line in done.stderr.splitlines() if line.startswith("kinode: ")]
    assert said == [
        f"kinode: stopped at t = {run.t[-1]:g} s; what follows is the run up to there",
        "kinode: stopping: what was reached is being kept; Ctrl-C again gives it up",
        "kinode: stopped",
    ]
    assert "stopped by the user" in " ".join(done.stdout.split()) and f"wrote {file}" in done.stdout


def test_verify(model):
    done = kinode("verify", model, "--states", 2)
    assert done.returncode == 0 and "all agree" in done.stdout and "2 random states" in done.stdout


def test_examples_list_print_copy(tmp_path):
    listed = kinode("examples").stdout
    assert "excavator.yaml" in listed and "pendulum.yaml" in listed
    assert kinode("examples", "pendulum").stdout == (ROOT / "examples" / "pendulum.yaml").read_text()
    assert kinode("examples", "walker", "--copy", tmp_path / "new").returncode == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"walker.yaml", "leg.yaml"}
    again = kinode("examples", "walker", "--copy", tmp_path / "new")
    assert again.returncode == 1 and "there already" in again.stderr


def test_schema(tmp_path):
    assert json.loads(kinode("schema").stdout)["title"] == "kinode model"
    assert kinode("schema", "--out", tmp_path / "s.json").returncode == 0
    assert json.loads((tmp_path / "s.json").read_text()) == kn.schema()


def test_bench_names_the_target(model):
    for words in ([], [model, "--seconds", "0.05"]):
        done = kinode("bench", *words)
        assert (done.returncode, done.stdout) == (2, "") and "make bench" in done.stderr
    assert "bench" not in kinode("--help").stdout


def test_show(model, tmp_path):
    file = tmp_path / "circuit.svg"
    done = kinode("show", model, "--out", file, "--width", 500)
    assert (done.returncode, done.stderr) == (0, "")
    assert file.read_text(encoding="utf-8").startswith("<svg ")
    for word in (f"wrote {file}: 4 components, 3 links", "P3 = (Tx ∩ Tz) ∩ Ry, planar motion", "mode: dynamic"):
        assert word in done.stdout
    told = kinode("show", model, "--text")
    assert "1 degree of freedom" in told.stdout and "wrote" not in told.stdout
    assert kinode("show", model, "--width", 3).returncode == 2
    wrong = kinode("show", model, "--out", tmp_path / "circuit.pdf")
    assert wrong.returncode == 2 and "a diagram is written as .svg" in wrong.stderr


@pytest.mark.parametrize("command", ["", "run", "verify", "reactions", "show", "examples", "schema"])
def test_help_teaches_by_examples(command):
    done = process(*command.split(), "--help", COLUMNS="60")
    assert done.returncode == 0 and f"kinode {command}".strip() in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 79


def test_help_imports_little():
    code = (
        "import sys; sys.argv = ['kinode', '--help']\n"
        "from kinode.cli.commands import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'matplotlib', 'llvmlite', 'rich.table')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_method_can_be_asked_for():
    """Its help names them all, and imports no numbers for that."""
    assert "|".join(METHODS) in process("run", "--help").stdout


def test_version():
    assert process("--version").stdout == f"kinode {kn.__version__}\n"


def test_a_closed_pipe_is_no_error():
    """The reader, such as head, takes a line and goes."""
    command = [sys.executable, "-m", "kinode.cli", "schema"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_run_says_where_the_model_differs_from_a_urdf(tmp_path):
    path = tmp_path / "bar.urdf"
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="9" ixy="0" ixz="0" iyz="0"/>'
    bar = f'<link name="bar"><inertial><mass value="1"/>{inertia}</inertial></link>'
    joint = '<joint name="pin" type="continuous"><parent link="root"/><child link="bar"/></joint>'
    path.write_text(f'<robot name="r"><link name="root"/>{bar}{joint}</robot>')
    done = kinode("run", path, "--until", 0.1)
    assert done.returncode == 0
    assert "bar: the inertia is kept, though no body has it" in done.stderr
    assert kinode("run", path, "--until", 0.1, "-q").stderr == ""
