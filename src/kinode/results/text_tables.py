"""Tables of results as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def format_number(value: float, digits: int = 4) -> str:
    """A number as text with this many significant digits."""
    if not np.isfinite(value):
        return "infinite" if value > 0 else "not finite"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:.{digits}g}" if abs(value) < 10**digits else f"{value:.0f}"
    return f"{value:.{digits - 1}e}"


def format_percent(share: float) -> str:
    """A share of 1 in percent."""
    return f"{100.0 * share:.0f} %".replace("-0 %", "0 %") if np.isfinite(share) else "-"


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column flush left, the others flush right."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return [
        "  ".join(text.rjust(width) if k else text.ljust(width) for k, (text, width) in enumerate(zip(line, widths)))
        for line in lines
    ]
