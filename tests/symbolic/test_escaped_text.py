"""Text of a model stays text in generated Python, C and LaTeX, which are executed or parsed.

What is generated differs from that of a harmless name in that text alone.
"""

import ast
import re
import shutil
import subprocess

import pytest
from hostile_words import HARMLESS, HOSTILE, TEXTS, accepted, equations, explanation
from hypothesis import example, given, settings

import kinode as kn
from kinode.sheets.text import LATEX, latex_text
from kinode.symbolic.notation import RESERVED_WORDS
from kinode.symbolic.source_code import comment, docstring

COMPILER = shutil.which("cc")


@settings(max_examples=12)
@given(TEXTS)
@example("lambda")
@example("math")
@example("main")
@example("len")
def test_python_with_any_name(words):
    """The same tree but for name and docstring; run, it gives the same numbers."""
    words = accepted(words)
    trees = [ast.parse(equations(name).python(library)) for name in (words, HARMLESS) for library in ("math", "numpy")]
    for tree in trees:
        (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        heading = ast.get_docstring(function, clean=False)
        assert heading.startswith(f"{words if tree in trees[:2] else HARMLESS}: 1 equation of motion")
        function.name, function.body[0].value.value = "f", ""
    assert ast.dump(trees[0]) == ast.dump(trees[2]) and ast.dump(trees[1]) == ast.dump(trees[3])
    space = {}
    exec(equations(words).python(), space)
    (function,) = [value for value in space.values() if getattr(value, "__code__", None)]
    assert function(0.0, [0.3], [0.0], [0.0])["M"] == [[pytest.approx(0.01 + 2.0 * 0.25)]]


@pytest.mark.parametrize("words", [*HOSTILE, "main", "exit", "sin", "int", "malloc"])
def test_c_with_any_name(words, tmp_path, compiler):
    """Without its comments the same text but for the function's name; it compiles without a warning."""
    words = accepted(words)
    texts = []
    for name in (words, HARMLESS):
        file = tmp_path / "code.c"
        file.write_text(equations(name).c(), encoding="utf-8")
        texts.append(
            subprocess.run(
                [*compiler, "-std=c99", "-trigraphs", "-E", "-P", file], capture_output=True, text=True, check=True
            ).stdout
        )
    assert re.sub(r"void \w+_equations\(", "void f(", texts[0]) == re.sub(r"void \w+_equations\(", "void f(", texts[1])
    file.write_text(equations(words).c(), encoding="utf-8")
    subprocess.run(
        [
            *compiler,
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wno-unused",
            "-Werror",
            "-Wno-unused-parameter",
            "-c",
            "-o",
            tmp_path / "code.o",
            file,
        ],
        check=True,
    )


def macros() -> list[str]:
    """Names that mean something to the compiler at hand before a program begins."""
    if COMPILER is None:
        return []
    text = subprocess.run(
        [COMPILER, "-dM", "-E", "-"], input="#include <math.h>\n", capture_output=True, text=True
    ).stdout
    names = re.findall(r"#define ([A-Za-z]\w*)[ \n]", text)
    return [name for name in names if re.fullmatch(r"[A-Za-z]\w*", name)]


def test_code_with_any_name_of_a_parameter(tmp_path):
    """Words of both languages, what the code calls, and macros: a parameter of that name is one all the same."""
    system = kn.System("names")
    words = {
        *RESERVED_WORDS,
        *macros(),
        "table_1",
        "q",
        "u",
        "u_dot",
        "p",
        "M",
        "bias",
        "reactions",
        "names",
        "x1",
        "self",
    }
    names = []
    for word in sorted(words):
        try:
            system.parameter(word, 1.0 + 0.01 * len(names))
            names.append(word)
        except kn.Error as error:  # a word of laws or of Python
            assert re.search("reserved|meaning in Python", str(error))
    assert len(names) > 60
    system.table("curve", axes=[-1.0, 0.0, 1.0], values=[1.0, 2.0, 4.0], outside="hold")
    system.revolute(
        "pin",
        system.world,
        system.body("bar", mass=1.0, inertia=(1, 1, 1)),
        effort=" + ".join([*names, "curve(pin.q)"]),
    )
    total = kn.compile(system).bias(0.0, [0.5], [0.0])[0]
    derived = kn.equations(system, "recursive", shape="named", reactions=["pin"])
    for library in ("math", "numpy"):
        space = {}
        exec(derived.python(library), space)
        assert float(space["names_"](0.0, [0.5], [0.0], [0.0])["bias"][0]) == pytest.approx(total, rel=1e-12)
    if COMPILER is not None:
        (tmp_path / "code.c").write_text(derived.c())
        subprocess.run([COMPILER, "-Werror", "-c", "-o", tmp_path / "code.o", tmp_path / "code.c", "-lm"], check=True)


@given(TEXTS)
def test_words_inside_code(words):
    """The three ways of quoting by themselves, with text that a system's name would not be allowed."""
    (expression,) = ast.parse(docstring(words)).body
    assert expression.value.value == words
    inside = comment(words)
    assert inside.isprintable() and "*/" not in inside and "/*" not in inside and "??" not in inside
    check_latex(latex_text(words))


def check_latex(text: str) -> None:
    """Nothing but letters and the escapes of marks, on one line."""
    escapes = sorted(map(re.escape, LATEX.values()), key=len, reverse=True)
    rest = re.sub("|".join(escapes), "", text)
    assert text.isprintable() and not set(rest) & set(LATEX)


@settings(max_examples=12)
@given(TEXTS)
def test_latex_with_any_name(words):
    words = accepted(words)
    for write in (
        lambda name: equations(name).latex(document=True),
        lambda name: explanation(name).latex(document=True),
    ):
        mine, harmless = (re.sub(r"\\section\*\{(.*)\}\n", "", write(name)) for name in (words, HARMLESS))
        assert mine == harmless
        check_latex(re.search(r"\\section\*\{(.*)\}\n", write(words))[1])
