"""Text of a model stays text in everything that is generated from it; what is generated is executed or parsed.

A name or note cannot add anything to generated code, markup or files: what is generated differs from that of a harmless
name in that text alone.
"""

import ast
import csv
import itertools
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import kinode as kn
from kinode.cli.commands import app
from kinode.errors import Error
from kinode.formats.yaml_files import dumps, loads
from kinode.symbolic.escaped_text import LATEX, comment, docstring, latex_text
from kinode.symbolic.notation import RESERVED_WORDS
from kinode.views.report import html_report
from kinode.views.report.html_report import compose

COMPILER = shutil.which("cc")
HARMLESS = "plain words"
HOSTILE = (
    '"""; import os; os._exit(3); """',
    '\\"""\nraise SystemExit(3)\n"""',
    "'''+__import__('os').system('exit 3')+'''",
    "\\",
    'ends with a quote"',
    "ends with a backslash\\",
    "*/ int stolen(void) { return 3; } /*",
    "**//* */ /* ??/",
    "*\\\n/ int stolen;",
    "#include </etc/passwd>",
    r"}\input{/etc/passwd}\write18{id}{",
    r"\end{document} % & $ # _ ^ ~ { }",
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "--><img src=x onerror=alert(1)>",
    "]]></style></svg><b>&amp;&lt;",
    "{{7*7}} ${7*7} %s %(x)s {0}",
    "=cmd|' /C calc'!A0",
    "a: [b, {c: !!python/object:os.system d}]",
    "[red]markup[/] [link=file:///etc/passwd]x[/link]",
    "../../../etc/passwd",
    "\x1b[2J\x1b]0;title\x07",
    "line\nbreak\r\n---\nkinode: 2",
    "nul\0byte",
    "\u202eesrever\u2066",
    "half \ud800 pair",
    "ünïcödé 机构 🦾",
    "x" * 3000,
)
EVERY = "".join(letter for words in HOSTILE[:-1] for letter in f"{words} " if letter.isprintable()).strip()
TEXTS = st.sampled_from(HOSTILE) | st.text(alphabet="\"'\\*/<>&%$#{}_^~-!?;:=[]()|`\n\r\t ab0é\u2028\x1b") | st.text()


def model(words: str = HARMLESS, notes: str = HARMLESS) -> kn.System:
    """A pendulum with hostile words wherever a model has room for text."""
    system = kn.System(words)
    system.notes.append(notes)
    length = system.parameter("L", "0.5 m", note=notes, bounds=(0.1, 2))
    system.input("push", 0.1)
    bar = system.body("bar", mass=2.0, com=(0, 0, -length), inertia=(0.05, 0.01, 0.05))
    system.revolute("pin", system.world, bar, axis="y", q=0.3, effort="push")
    return system


def accepted(words: str) -> str:
    """The words as a name that is not refused: what cannot be seen has no place in one."""
    if not words.isprintable() or not words.strip():
        with pytest.raises(Error, match=r"no place|needs a name"):
            kn.System(words)
    return "".join(x for x in words if x.isprintable()).strip() or "x"


@cache
def equations(words: str):
    return kn.equations(model(words), reactions=["pin"])


# -- code ------------------------------------------------------------------------------------------
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


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("words", [*HOSTILE, "main", "exit", "sin", "int", "malloc"])
def test_c_with_any_name(words, tmp_path):
    """Without its comments the same text but for the function's name; it compiles without a warning."""
    words = accepted(words)
    texts = []
    for name in (words, HARMLESS):
        file = tmp_path / "code.c"
        file.write_text(equations(name).c(), encoding="utf-8")
        texts.append(
            subprocess.run(
                [COMPILER, "-std=c99", "-trigraphs", "-E", "-P", file], capture_output=True, text=True, check=True
            ).stdout
        )
    assert re.sub(r"void \w+_equations\(", "void f(", texts[0]) == re.sub(r"void \w+_equations\(", "void f(", texts[1])
    file.write_text(equations(words).c(), encoding="utf-8")
    subprocess.run(
        [
            COMPILER,
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
        except Error as error:  # a word of laws or of Python
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


@cache
def explanation(words: str):
    return kn.explain(model(words))


# -- markup ----------------------------------------------------------------------------------------
class Skeleton(HTMLParser):
    """The tags and attributes of a page, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [name for name, _ in attributes]))

    def handle_endtag(self, tag):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.tags.append(("comment", data))

    def handle_decl(self, data):
        self.tags.append(("declaration", data))

    def unknown_decl(self, data):
        self.tags.append(("unknown", data))


@pytest.fixture(scope="module")
def run():
    return kn.simulate(model(), 0.2, samples=5)


def renamed(run, words: str, notes):
    """The run with other words in its system; the numbers stay."""
    system = run.system
    system.name, system.notes[:] = words, notes
    system.change("L", note=notes[0] if notes else "")
    return run


def test_reports_with_any_text(run):
    harmless = Skeleton(compose(renamed(run, HARMLESS, [HARMLESS] * len(HOSTILE)), verify=False, explain=True))
    page = Skeleton(compose(renamed(run, EVERY, HOSTILE), verify=False, explain=True, title=EVERY))
    assert page.tags == harmless.tags
    assert all(words in "".join(page.texts) for words in (EVERY, *HOSTILE))


@pytest.mark.parametrize("words", ["../../../etc/passwd", "x" * 3000, "机" * 200, "...", "a/b\\c:d"])
def test_a_report_stays_in_its_folder(run, words, tmp_path, monkeypatch):
    monkeypatch.setattr(html_report, "compose", lambda *_, **__: "page")
    file = renamed(run, words, []).report(tmp_path / "out")
    assert file.parent == tmp_path / "out" and file.read_text() == "page"


@pytest.mark.parametrize("words", HOSTILE)
def test_drawings_with_any_text(words):
    name = accepted(words)
    mine, harmless = (kn.diagram(model(n), note=note).svg for n, note in ((name, name), (HARMLESS, HARMLESS)))
    shapes = [
        [(e.tag, sorted(e.attrib.keys() - {"aria-label"})) for e in xml.fromstring(svg).iter()]
        for svg in (mine, harmless)
    ]
    assert shapes[0] == shapes[1]
    assert name in {e.text for e in xml.fromstring(mine).iter()}
    assert Skeleton(explanation(name).html()).tags == Skeleton(explanation(HARMLESS).html()).tags


# -- files and the terminal ------------------------------------------------------------------------
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_models_with_any_text(words, notes):
    """A saved model says the same when it is read again; what would command a terminal is not written."""
    system = model(accepted(words), notes)
    if CONTROL.search(notes):
        with pytest.raises(Error, match=r"holds a control character"):
            dumps(system)
    else:
        text = dumps(system)
        assert not CONTROL.search(text)
        assert loads(text) == system


def test_a_name_that_is_no_text_is_refused_everywhere(tmp_path):
    (tmp_path / "base.yaml").write_text(dumps(model()))
    (tmp_path / "model.yaml").write_text("kinode: 1\nextends: base.yaml\nname: [1, 2]\n")
    with pytest.raises(Error, match=r"model.yaml:\d: .*needs a name in text"):
        kn.load(tmp_path / "model.yaml")
    with pytest.raises(Error, match="no place"):
        kn.load(tmp_path / "base.yaml", name="a\nb")
    system = model()
    with pytest.raises(Error, match="no place"):
        system.name = "\x1b[2J"
    assert system.name == HARMLESS


@pytest.mark.parametrize("words", HOSTILE)
def test_runs_with_any_text(run, words, tmp_path):
    system = renamed(run, accepted(words), [HARMLESS]).system
    run.save(tmp_path / "run.nc")
    again = kn.Trajectory.load(tmp_path / "run.nc")
    assert again.system.name == system.name
    run.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0][:3] == ["t [s]", "pin.q [rad]", "pin.u [rad/s]"] and {len(row) for row in rows} == {len(rows[0])}


@pytest.mark.parametrize("command", ["show --text", "equations", "run --until 0.1", "explain"])
def test_the_terminal_with_any_text(command, tmp_path):
    """No command of a terminal and no markup of its own: what is printed is the text."""
    (tmp_path / "model.yaml").write_text(dumps(model(EVERY, HARMLESS)), encoding="utf-8")
    first, *options = command.split()
    done = CliRunner().invoke(app, [first, str(tmp_path / "model.yaml"), *options])
    assert done.exit_code == 0, done.output
    assert not CONTROL.search(done.output)
    assert re.sub(r"\s+", "", EVERY) in re.sub(r"\s+", "", done.output)


@pytest.mark.parametrize(
    "unit", ["m; import os", "m*/", "<b>", "\\input", '"""', "m\n", "$m$", "N*m)(", "m^(2", "%s", "m#", "=1+1"]
)
def test_units_are_units(unit):
    """A unit is one of the table or refused, so that none can bring its own text along."""
    for build in (
        lambda s: s.parameter("k", f"2 {unit}"),
        lambda s: s.body("b", mass=f"2 {unit}"),
        lambda s: s.define("lamp", base="two_pole", parameters={"r": unit}, equations={"a": "voltage = r*current"}),
    ):
        system = kn.System("units")
        try:
            build(system)
        except Error:
            continue
        assert all(
            p.dimension is None or re.fullmatch(r"[A-Za-z0-9*/^-]+", p.dimension.unit)
            for p in system.parameters.values()
        )


@pytest.mark.parametrize("words", HOSTILE[:-1])
def test_names_of_components_are_refused(words):
    """Components have names of letters, digits and _, wherever they come from."""
    system = model()
    bar = system["bar"]
    for build in (
        lambda: system.body(words, mass=1),
        lambda: system.parameter(words, 1),
        lambda: system.input(words),
        lambda: system.signal(words, "t"),
        lambda: system.spring(words, system.world, bar),
        lambda: bar.at(0, 0, 1, name=words),
        lambda: system.table(words, axes=[0, 1], values=[0, 1]),
        lambda: system.define(words, base="two_pole", equations={"a": "voltage = 2*current"}),
        lambda: system.add(words, model()),
        lambda: system.resistor("r", words, "gnd", resistance=1),
        lambda: system.frame(words, "fixed", on="bar"),
    ):
        with pytest.raises(Error):
            build()
    assert not set(itertools.chain(system.components, system.nodes, system.kinds)) - {"L", "push", "bar", "pin"}
