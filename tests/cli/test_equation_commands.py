"""Commands that print equations, reactions, balances, explanations and circuits."""

import io
import json
import re
import sys

from command_line import ROOT, kinode

import kinode as kn
from kinode.cli.derivation_commands import counting_operations
from kinode.simulation import progress_bar


def test_reactions_say_who_loads_a_joint(tmp_path):
    rotor, picture = ROOT / "examples" / "rotor.yaml", tmp_path / "causes.svg"
    done = kinode("reactions", rotor, "--joint", "shaft", "--causes", "--plot", picture, "--frequency", "55 Hz")
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("kinetic force", "centrifugal", "100 %", "EXCITED", f"wrote {picture}"):
        assert words in done.stdout
    assert "<svg" in picture.read_text()
    done = kinode("reactions", rotor, "--set", "loose=0", "--part", "total")
    assert done.returncode == 0 and "static N" in done.stdout and "hub" in done.stdout


def test_balances_about_a_frame(tmp_path):
    shell, picture = ROOT / "examples" / "asymmetric_shell.yaml", tmp_path / "moment.svg"
    asked = ("balance", shell, "--until", "10 ms", "--samples", 5)
    done = kinode(*asked, "--about", "aero", "--moment", "--axis", "y", "--plot", picture, COLUMNS="50")
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("about the origin of aero", "weight", "gyroscopic", "residual", f"wrote {picture}"):
        assert words in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 50
    assert "<svg" in picture.read_text()
    done = kinode(*asked, "--about", "wind")
    assert done.returncode == 2 and "wind follows a velocity" in done.stderr
    done = kinode(*asked, "--about", "areo")
    assert done.returncode == 1 and "did you mean aero" in done.stderr


def test_equations_about_a_frame(tmp_path):
    shell, paper = ROOT / "examples" / "asymmetric_shell.yaml", tmp_path / "shell.tex"
    done = kinode("equations", shell, "--frame", "aero", COLUMNS="60")
    assert done.returncode == 0 and "I_X*p*r~" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert kinode("equations", shell, "--frame", "aero", "--latex", paper).returncode == 0
    assert r"\tilde{r}" in paper.read_text()
    done = kinode("equations", shell, "--frame", "aero", "--python", tmp_path / "a.py")
    assert done.returncode == 2 and "--python" in done.stderr


def test_values_of_balances_about_a_frame():
    """The start of the example: 250, 3, -2 m/s along aero, which does not roll, 80 rad/s of roll, phi = 0.4."""
    shell = ROOT / "examples" / "asymmetric_shell.yaml"
    done = kinode("equations", shell, "--frame", "aero", "--values")
    assert done.returncode == 0, done.stderr
    _, _, table = done.stdout.partition("Values at the start\n")
    values = {row.split()[0]: row.split()[-1] for row in table.splitlines()}
    known = {"u": "250", "v": "3", "w": "-2", "p": "80", "phi": "0.4", "p~": "0", "g_Y": "0", "m": "43"}
    assert {name: values[name] for name in known} == known
    assert "e-1" not in table
    done = kinode("equations", shell, "--frame", "wind", "--values")
    assert done.returncode == 1 and "follows a velocity" in done.stderr
    done = kinode("equations", shell, "--frame", "aero", "--shape", "vectors", "--values")
    assert done.returncode == 2 and "in vectors have no values" in done.stderr


def test_reactions_of_loops_need_to_know_who_holds():
    four_bar = ROOT / "examples" / "four_bar.yaml"
    done = kinode("reactions", four_bar, "--until", "0.1", "--samples", 5)
    assert done.returncode == 0 and "name a joint: left, pin, right or top" in " ".join(done.stdout.split())
    done = kinode(
        "reactions", four_bar, "--until", "0.1", "--samples", 5, "--joint", "top", "--causes", "--hold", "left"
    )
    assert done.returncode == 0 and "kinetic part by body" in done.stdout


def test_reactions_of_loops_without_one_who_holds_show_the_total():
    asked = ("reactions", ROOT / "examples" / "four_bar.yaml", "--until", "0.1", "--samples", 5)
    done = kinode(*asked, "--joint", "pin")
    words = " ".join(done.stdout.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert "total force" in words and "kinetic force" not in words
    assert "name a joint: left, pin, right or top (--hold NAME)" in words
    held = kinode(*asked, "--joint", "pin", "--hold", "left")
    assert held.returncode == 0 and "kinetic force" in held.stdout and "--hold" not in held.stdout
    for more in (("--joint", "pin", "--causes"), ("--joint", "pin", "--hold", "nobody"), ("--hold", "nobody")):
        refused = kinode(*asked, *more)
        assert refused.returncode == 2 and refused.stderr.startswith("kinode: --hold: ")


def test_explain_draws_scheme_and_chart(model, tmp_path):
    scheme, chart, words = tmp_path / "scheme.svg", tmp_path / "chart.svg", tmp_path / "chart.txt"
    done = kinode("explain", model, "--scheme", scheme, "--chart", chart)
    assert (done.returncode, done.stdout) == (0, f"wrote {scheme}\nwrote {chart}\n")
    assert "Decompose" not in done.stdout
    for file, word in ((scheme, "rod"), (chart, "Take the system apart")):
        text = file.read_text(encoding="utf-8")
        assert "</svg>" in text and word in text
    assert kinode("explain", model, "--chart", words).returncode == 0
    assert "11. Check against other derivations" in words.read_text(encoding="utf-8")
    wrong = kinode("explain", model, "--chart", tmp_path / "chart.docx")
    assert wrong.returncode == 2 and "docx" in wrong.stderr


def test_equations_are_printed_and_written(tmp_path):
    """Within the width of the terminal; LaTeX that is a document, Python that runs, C; errors name the joint."""
    model = ROOT / "examples" / "double_pendulum.yaml"
    done = kinode("equations", model, "--reactions", "elbow", COLUMNS="60")
    assert done.returncode == 0, done.stderr
    assert "u_dot_shoulder" in done.stdout and "elbow.reaction.force.x" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 60
    files = {kind: tmp_path / f"a.{kind}" for kind in ("latex", "python", "c")}
    done = kinode("equations", model, *(x for kind, path in files.items() for x in (f"--{kind}", path)))
    assert done.returncode == 0 and done.stdout.count("wrote") == 3
    latex = files["latex"].read_text()
    assert latex.startswith("\\documentclass") and latex.count("\\begin{") == latex.count("\\end{")
    assert latex.count("{") == latex.count("}")
    space: dict = {}
    exec(files["python"].read_text(), space)
    assert len(space["double_pendulum"](0.0, [0.1, 0.2], [0.0, 0.0])["M"]) == 2
    wrong = kinode("equations", model, "--reactions", "wrist")
    assert wrong.returncode == 2 and "has no joint 'wrist'; it has shoulder, elbow" in wrong.stderr


def test_other_formulations(model):
    run = kinode("run", model, "--formulation", "newton_euler")
    assert run.returncode == 0
    assert "drift joints are apart by up to" in run.stdout
    elimination = kinode("equations", model, "--elimination")
    assert elimination.stdout.startswith("pendulum: 6 velocities, 5 constraint forces eliminated")
    refused = kinode("equations", model, "--elimination", "--formulation", "lagrange")
    assert refused.returncode == 2
    assert "part of the formulation newton_euler alone" in refused.stderr
    assert "did you mean hamilton" in kinode("run", model, "--formulation", "hamiltn").stderr


def test_reactions_in_vectors(tmp_path):
    """Terms within the width of the terminal, values on request, a LaTeX document; no code."""
    model, vectors = ROOT / "examples" / "double_pendulum.yaml", ("--shape", "vectors", "--reactions", "elbow")
    done = kinode("equations", model, "--formulation", "rotators", *vectors, "--values", COLUMNS="70")
    assert done.returncode == 0, done.stderr
    for line in ("double_pendulum: reactions in vectors, by rotators", "Reaction of elbow", "  D_n1^(O2)"):
        assert line in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 70
    assert "wrote" in kinode("equations", model, *vectors, "--latex", tmp_path / "v.tex").stdout
    assert (tmp_path / "v.tex").read_text().startswith("\\documentclass")
    code = kinode("equations", model, *vectors, "--python", tmp_path / "v.py")
    assert code.returncode == 2 and "vectors are printed, and evaluated by .values()" in code.stderr
    assert "is for --shape vectors" in kinode("equations", model, "--values").stderr


def test_circuit(model, tmp_path):
    done = kinode("circuit", model, COLUMNS="100")
    assert done.returncode == 0
    assert "pendulum: circuit of 5 components, 43 unknowns, index 2" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "equations hold to" in kinode("circuit", model, "--values").stdout
    assert "rod.1" in kinode("circuit", model, "--incidence").stdout
    assert "25" in kinode("circuit", model, "--scalar").stdout
    files = kinode("circuit", model, "--json", tmp_path / "c.json", "--latex", tmp_path / "c.tex")
    assert files.stdout.count("wrote") == 2
    assert json.loads((tmp_path / "c.json").read_text())["index"] == 2
    assert (tmp_path / "c.tex").read_text().startswith("\\documentclass")
    wrong = kinode("circuit", model, "--basis", "local")
    assert wrong.returncode == 2 and "basis: 'local' is none of body, global" in wrong.stderr


def test_a_terminal_sees_how_far_long_equations_are(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(progress_bar, "SHOWN_AFTER", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with counting_operations():
        kn.equations(kn.load(ROOT / "examples" / "gyroscope.yaml"))
    assert re.search(r"writing out: \d", sys.stderr.getvalue())
