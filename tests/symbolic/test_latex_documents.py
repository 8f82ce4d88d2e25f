"""Every document in LaTeX is compiled by a real TeX, where one is installed."""

import re
import shutil
import subprocess

import pytest
from example_counts import by_day

import kinode as kn

PDFLATEX = shutil.which("pdflatex")
pytestmark = pytest.mark.skipif(
    PDFLATEX is None, reason="no pdflatex on this machine: Debian's texlive-latex-base has it"
)


def example(name):
    return kn.load(f"examples/{name}.yaml")


def hostile():
    """A model whose words are full of signs that TeX takes for its own."""
    system = kn.System("50% of a_b & {c} #1 ~ ^ \\ $x$")
    body = system.body("a_body", mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.parameter("k_1", 3.0, note="100 % _")
    system.revolute("pin_1", system.world, body, stiffness="k_1", damping=0.1)
    return system


DOCUMENTS = {
    "equations of a pendulum": lambda: kn.equations(example("pendulum"), reactions="pivot"),
    "named equations": lambda: kn.equations(example("excavator"), shape="named"),
    "equations of a loop": lambda: kn.equations(example("four_bar")),
    "equations of bodies": lambda: kn.equations(example("double_pendulum"), "newton_euler"),
    "other states": lambda: kn.equations(example("rlc")),
    "explanation": lambda: kn.explain(example("four_bar")),
    "explanation of the ship": lambda: kn.explain(example("ship_gimbal")),
    "circuit": lambda: kn.circuit(example("motor_axis")),
    "circuit in world axes": lambda: kn.circuit(example("spinning_shell"), "global"),
    "scalar circuit": lambda: kn.circuit(example("pendulum")).scalar(),
    "reactions in quasi-base vectors": lambda: kn.equations(
        example("ship_gimbal"), "quasi_base", reactions=["heel"], shape="vectors"
    ),
    "reactions in rotators": lambda: kn.equations(
        example("ship_gimbal"), "rotators", reactions=["azimuth"], shape="vectors"
    ),
    "reactions with hostile names": lambda: kn.equations(hostile(), reactions=["pin_1"], shape="vectors"),
    "balances about a frame": lambda: kn.equations(example("asymmetric_shell"), frame="aero"),
    "balances of several bodies": lambda: kn.equations(example("double_pendulum"), frame="lower"),
    "balances with hostile names": lambda: kn.equations(hostile(), frame="a_body"),
    "equations with hostile names": lambda: kn.equations(hostile()),
    "circuit with hostile names": lambda: kn.circuit(hostile()),
    "scalar circuit with hostile names": lambda: kn.circuit(hostile()).scalar(),
    "kinematic circuit": lambda: kn.circuit(example("four_bar"), mode="kinematic"),
    "explanation with hostile names": lambda: kn.explain(hostile()),
}


@pytest.mark.parametrize("name", by_day(DOCUMENTS, 11))
def test_a_document_compiles(name, tmp_path):
    (tmp_path / "document.tex").write_text(DOCUMENTS[name]().latex(document=True), encoding="utf-8")
    command = [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-1500:]
    assert not re.search(r"Missing character", (tmp_path / "document.log").read_text(errors="replace"))
    assert (tmp_path / "document.pdf").read_bytes().startswith(b"%PDF")
