"""The text of a law as tokens: numbers, names and operators; with messages for characters that have no meaning.

A name is ``word{.word}[@word{.word}]``: elbow.q, lower.velocity.y@lower.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from kinode.errors import LawError

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"{_WORD}(?:\.{_WORD})*(?:@{_WORD}(?:\.{_WORD})*)?")
_MARK = r"\*\*|<=|>=|==|!=|[-+*/^(),<>=]"
_TOKEN = re.compile(f"(?P<number>{_NUMBER})|(?P<name>{_NAME.pattern})|(?P<mark>{_MARK})")


def is_name(text: str) -> bool:
    """Whether a text can be the name of a quantity in a law."""
    return _NAME.fullmatch(text) is not None and not any(
        not word.isidentifier() or word.startswith("_") for word in re.split("[.@]", text)
    )


class Token(NamedTuple):
    """A number, name or operator of the text; ``kind`` is number, name, end, or the operator itself."""

    kind: str
    text: str
    position: int


def fail_at(text: str, position: int, message: str) -> NoReturn:
    """Raise a LawError that points at a position of the text."""
    raise LawError(message, text=text, position=position)


def tokenize(text: str) -> list[Token]:
    """The tokens of a law; the last one has the kind ``end``."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            _refuse_character(text, position)
        kind = "" if match.lastgroup == "mark" else str(match.lastgroup)
        tokens.append(Token(kind or match.group(), match.group(), position))
        if kind == "name":
            _check_name(text, tokens[-1])
        position = match.end()
    return [*tokens, Token("end", "", len(text))]


def _check_name(text: str, token: Token) -> None:
    """Refuse words that cannot be part of a name."""
    start = token.position
    for word in re.split("[.@]", token.text):
        if word.startswith("_"):
            fail_at(text, start, f"{word!r} cannot be a name: names do not begin with an underscore")
        if not word.isidentifier():
            fail_at(text, start, f"{word!r} cannot be a name: powers are written x^2")
        start += len(word) + 1


def _refuse_character(text: str, position: int) -> NoReturn:
    character = text[position]
    if character in "\"'`":
        fail_at(text, position, "a law holds no quoted text")
    if character in "[]{}":
        fail_at(text, position, f"{character!r} has no meaning in a law; parts of a vector are named: velocity.x")
    if character == ".":
        fail_at(text, position, "only a name has parts after a point")
    if character == "@":
        fail_at(text, position, "'@' stands between a quantity and a frame: lower.velocity.y@lower")
    if character in "&|!~":
        fail_at(text, position, f"{character!r} has no meaning in a law: a*b is 'and', max(a, b) 'or', 1 - a 'not'")
    if character == "%":
        fail_at(text, position, "'%' has no meaning in a law; the remainder is mod(a, b)")
    fail_at(text, position, f"{character!r} has no meaning in a law")


def locate(text: str, name: str) -> int | None:
    """The position of the first use of a name or table in the text of a law; None if it is not used."""
    for token in tokenize(text):
        if token.kind == "name" and (token.text == name or re.fullmatch(re.escape(name) + r"(\.d\d)+", token.text)):
            return token.position
    return None
