"""Text of users inside generated text: names and notes that stay text in Python, C and LaTeX, whatever they hold.

Each function gives one line.  Characters that are not printable (line breaks, control characters, marks that turn the
direction of writing, halves of surrogate pairs) become ``\\uXXXX``.
"""

from __future__ import annotations

LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    **{mark: f"\\{mark}" for mark in "{}_#%&$"},
}


def docstring(words: str) -> str:
    """A docstring of Python whose value is these words, quotes included."""
    return f'"""{_visible(words.replace(chr(92), chr(92) * 2)).replace(chr(34), chr(92) + chr(34))}"""'


def comment(words: str) -> str:
    """Words for the inside of a comment of C, which they cannot end, nor open another."""
    text = _visible(words).replace("\\", "\\\\").replace("??", "? ?")  # ??/ is a backslash in C99
    while "*/" in text or "/*" in text:
        text = text.replace("*/", "* /").replace("/*", "/ *")
    return text


def latex_text(words: str) -> str:
    """Words outside of formulas in LaTeX."""
    return "".join(LATEX.get(letter, letter) for letter in _visible(words))


def _visible(words: str) -> str:
    if words.isprintable():
        return words
    return "".join(letter if letter.isprintable() else _code(ord(letter)) for letter in words)


def _code(number: int) -> str:
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
