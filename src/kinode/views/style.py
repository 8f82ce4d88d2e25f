"""The style of figures: one palette, one set of matplotlib settings, and the labels of axes.

Colors are Okabe and Ito's, which stay apart for color-blind readers and in gray; text stays text in SVG.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import write_bytes
from kinode.errors import ArgumentError
from kinode.sheets.tables import MINUS, pretty_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1d2733"
MUTED = "#66707c"
GRID = "#e4e7eb"
COLORS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#e69f00", "#56b4e9")
MOST_POINTS = 1200  # of a line, at the most; a screen shows no more


def settings(*, scale: float = 1.0) -> dict[str, Any]:
    """Settings of matplotlib for our figures; ``scale`` enlarges text and lines."""
    text = 9.0 * scale
    return {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": text,
        "text.color": INK,
        "text.parse_math": False,  # names are users' text
        "axes.titlesize": text * 1.1,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": text,
        "axes.labelcolor": INK,
        "axes.edgecolor": "#aab2bb",
        "axes.linewidth": 0.8 * scale,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.facecolor": "white",
        "axes.unicode_minus": True,
        "grid.color": GRID,
        "grid.linewidth": 0.7 * scale,
        "lines.linewidth": 1.5 * scale,
        "lines.solid_capstyle": "round",
        "lines.solid_joinstyle": "round",
        "xtick.color": "#aab2bb",
        "ytick.color": "#aab2bb",
        "xtick.labelcolor": MUTED,
        "ytick.labelcolor": MUTED,
        "xtick.labelsize": text * 0.92,
        "ytick.labelsize": text * 0.92,
        "xtick.direction": "out",
        "xtick.major.size": 3.0,
        "ytick.major.size": 0.0,
        "legend.frameon": False,
        "legend.fontsize": text * 0.95,
        "legend.handlelength": 1.4,
        "legend.handletextpad": 0.5,
        "legend.columnspacing": 1.2,
        "legend.borderaxespad": 0.0,
        "figure.facecolor": "white",
        "figure.dpi": 100,
        "savefig.dpi": 150,
        "savefig.facecolor": "white",
        "svg.fonttype": "none",
        "svg.hashsalt": "kinode",
        "agg.path.chunksize": 20000,
    }


def style(*, scale: float = 1.0) -> AbstractContextManager[Any]:
    """A context with these settings, whatever the caller has set."""
    from matplotlib import rc_context

    given: Any = settings(scale=scale)
    return rc_context(given)


def new_figure(size: tuple[float, float], *, shown: bool, layout: Any = "constrained") -> Figure:
    """A figure; one to be ``shown`` is pyplot's, so that an interactive session displays it."""
    if shown:
        if "MPLBACKEND" not in os.environ and not _has_screen():
            import matplotlib

            matplotlib.use("agg", force=False)
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout=layout)
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout=layout)


def small_axes(size: tuple[float, float]) -> tuple[Figure, Any]:
    """A small figure with one axes and fixed margins: finding them by drawing would take longer than drawing."""
    figure = new_figure(size, shown=False, layout="none")
    return figure, figure.add_axes(_small_box(size))


def _small_box(size: tuple[float, float]) -> tuple[float, float, float, float]:
    left, right, bottom, top = 0.64, 0.14, 0.44, 0.24  # inches
    return left / size[0], bottom / size[1], 1 - (left + right) / size[0], 1 - (bottom + top) / size[1]


class SmallSheet:
    """A figure as of ``small_axes`` that is drawn on again: its ticks, a third of the work of a picture, are kept."""

    def __init__(self, size: tuple[float, float]) -> None:
        self.size = size
        self.figure, self.axes = small_axes(size)
        self._own = set(self.axes.get_children())

    def clear(self) -> tuple[Figure, Any]:
        """The figure and its axes, empty."""
        axes = self.axes
        for child in axes.get_children():
            if child not in self._own:
                child.remove()
        self.figure.set_size_inches(self.size)
        axes.set_position(_small_box(self.size))
        axes.set_prop_cycle(None)
        for write in (axes.set_title, axes.set_xlabel, axes.set_ylabel):
            write("")
        axes.relim()
        axes.autoscale()
        return self.figure, axes


def _has_screen() -> bool:
    import sys

    if sys.platform != "linux" or "ipykernel" in sys.modules:
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def save_figure(figure: Figure, file: Any) -> None:
    """Write a figure to a file, whose ending says the format, or to an open stream."""
    try:
        if hasattr(file, "write"):
            figure.savefig(file)
            return
        path = Path(file)
        if not path.suffix:
            import matplotlib

            path = path.with_name(f"{path.name}.{matplotlib.rcParams['savefig.format']}")
        out = BytesIO()
        figure.savefig(out, format=path.suffix.removeprefix("."))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"file: {error}") from None
    write_bytes(path, out.getbuffer())


def to_svg(figure: Figure) -> str:
    """A figure as an SVG element without the head of a file, for the inside of a page."""
    out = StringIO()
    with style():
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = out.getvalue()
    return text[text.index("<svg") :].strip()


def label(word: str, unit: str) -> str:
    """The words under an axis: ``word (unit)``."""
    if unit in ("", "1") or not word:
        return word or pretty_unit(unit)
    return f"{word} ({pretty_unit(unit)})"


PREFIXED = frozenset({"N", "N*m", "N*m*s", "N*s", "J", "W", "m", "m/s", "N/m"})


def find_prefix(unit: str, peak: float) -> tuple[str, float]:
    """The unit with the prefix that suits a peak, and its size in the plain unit: kN and 1000 for 52000 N."""
    if unit not in PREFIXED or not np.isfinite(peak) or 1e-2 <= peak < 1e4 or peak == 0:
        return unit, 1.0
    for prefix, size in (("M", 1e6), ("k", 1e3), ("m", 1e-3)):
        if peak >= 10 * size or size < 1:
            return prefix + unit, size
    return unit, 1.0


def tick(value: float, _: object = None) -> str:
    """The number at a tick, in full: without a common power of ten beside the axis."""
    text = "0" if abs(value) < 1e-300 else f"{value:.10g}"
    mantissa, mark, exponent = text.partition("e")
    return (f"{mantissa}e{int(exponent)}" if mark else mantissa).replace("-", MINUS)


def thin(t: Array, y: Array, limit: int = MOST_POINTS) -> tuple[Array, Array]:
    """A long line with fewer points: the lowest and highest of every stretch, so that no peak is lost."""
    count = len(t)
    if count <= limit:
        return t, y
    size = -(-2 * count // limit)
    whole = count // size * size
    parts = y[:whole].reshape(-1, size)
    first = np.arange(0, whole, size)
    # A value that is no number is kept as it is, and breaks the line where it stands.
    low, high = (first + pick(parts, axis=1) for pick in (np.argmin, np.argmax))
    rows = np.unique(np.concatenate([[0], low, high, np.arange(whole, count), [count - 1]]))
    return t[rows], y[rows]
