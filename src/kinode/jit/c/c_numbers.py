"""Numbers, names and helper functions of C text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
near far small huge interface y0 y1 yn j0 j1 jn main
"""
KEYWORDS = frozenset(_WORDS.split())
"""Words that are no names in C, or that headers of some compilers define."""

_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint
stdio stdlib string tgmath time wchar wctype malloc memory unistd features
"""
_DEVICES = "con prn aux nul"
_OWN = "main fmi2 fmi3 fmu_core fmu_face fmu_memory fmu_config windows_entry"
FILE_NAMES = frozenset(f"{_HEADERS} {_DEVICES} {_OWN}".split())
"""Names that a file of C must not have: those of headers, of devices on Windows, of files beside it."""

LONGEST = 100  # letters of the name of a file; 255 with all that is put before and behind are the most of most disks


def real(x: float) -> str:
    """A double: the shortest decimal number that is read as the same bits."""
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return repr(float(x))


def identifier(text: str) -> str:
    """A text as a name in C."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    name = name if name[:1].isalpha() or name[:1] == "_" else f"m{name}"
    return f"{name}_" if name in KEYWORDS else name


def file_identifier(text: str) -> str:
    """A text as a name in C that files may have too: beside headers, whatever the case of letters."""
    name = identifier(text[:LONGEST])
    return f"{name}_" if name.lower() in FILE_NAMES else name


def rows(texts: Iterable[str], width: int = 116) -> str:
    """Texts with commas between them, in lines of at most a width."""
    lines, line = list[str](), ""
    for text in texts:
        if line and len(line) + len(text) + 2 > width:
            lines.append(line)
            line = ""
        line = f"{line} {text}," if line else f"    {text},"
    return "\n".join([*lines, line])


HELPERS = {
    "power": (
        "double", "double a, double b",
        "    const double x = pow(a, b);\n    return a == 0.0 && x < 0.0 ? -x : x;",
    ),
    "sign": ("double", "double a", "    return (a > 0.0 ? 1.0 : 0.0) - (a < 0.0 ? 1.0 : 0.0);"),
    "interval": (
        "double", "const double *table, int n, double x",
        "    int low = 0, high = n;\n"
        "    while (low < high) {\n"
        "        const int middle = (low + high) / 2;\n"
        "        if (x < table[middle]) high = middle; else low = middle + 1;\n"
        "    }\n"
        "    low = low > 1 ? low - 1 : 0;\n"
        "    return (double)(low < n - 2 ? low : n - 2);",
    ),
    "fetch": (
        "double", "const double *table, int n, double x",
        "    int k = 0;\n"
        "    if (!(fabs(x) < INFINITY)) return NAN;\n"
        "    k = x < -2147483648.0 ? -n : x > 2147483646.0 ? n - 1 : (int)x;\n"
        "    k = k < 0 ? k + n : k;\n"
        "    return table[k < 0 ? 0 : k < n ? k : n - 1];",
    ),
    "least": ("double", "double a, double b", "    return b < a ? b : a;"),
    "most": ("double", "double a, double b", "    return b > a ? b : a;"),
    "least_int": ("int64_t", "int64_t a, int64_t b", "    return b < a ? b : a;"),
    "most_int": ("int64_t", "int64_t a, int64_t b", "    return b > a ? b : a;"),
    "size_int": ("int64_t", "int64_t a", "    return a < 0 ? -a : a;"),
    "divide": (
        "int64_t", "int64_t a, int64_t b",
        "    const int64_t rest = b ? a % b : 0;\n"
        "    return b ? a / b - (rest != 0 && (rest < 0) != (b < 0)) : 0;",
    ),
    "remainder": (
        "int64_t", "int64_t a, int64_t b",
        "    const int64_t rest = b ? a % b : 0;\n    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;",
    ),
    "whole": (
        "int64_t", "double x",
        "    if (!(x == x)) return 0;\n"
        "    return x >= 9223372036854775807.0 ? INT64_MAX : x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;",
    ),
}  # fmt: skip
"""Functions that C text calls: result, arguments, body."""


class HelperNames(dict[str, str]):
    """The names of the helper functions that were asked for, with a prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __missing__(self, name: str) -> str:
        self[name] = f"{self.prefix}_{name}"
        return self[name]


def write_helpers(prefix: str, used: Iterable[str]) -> str:
    """The definitions of helper functions."""
    parts = []
    for name in sorted(set(used)):
        result, arguments, body = HELPERS[name]
        parts.append(f"static {result} {prefix}_{name}({arguments})\n{{\n{body}\n}}\n")
    return "\n".join(parts)


def bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1]
