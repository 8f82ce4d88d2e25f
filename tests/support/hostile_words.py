"""Text that would do harm if it were taken for code or markup, and models that have it."""

from functools import cache

import pytest
from hypothesis import strategies as st

import kinode as kn

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
        with pytest.raises(kn.Error, match=r"no place|needs a name"):
            kn.System(words)
    return "".join(x for x in words if x.isprintable()).strip() or "x"


@cache
def equations(words: str):
    return kn.equations(model(words), reactions=["pin"])


@cache
def explanation(words: str):
    return kn.explain(model(words))
