"""The acceleration of a point by chain segment and by term, stacked over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.views.plots.time_plots import MOST_LINES, WIDTH
from kinode.views.style import COLORS, INK, MOST_POINTS, MUTED, find_prefix, label, new_figure, save_figure, style, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.acceleration_causes import AccelerationCauses

LEAST_SHOWN = 1e-9  # of the largest contribution
REMAINDER = "the rest"


def plot_shaking(causes: AccelerationCauses, *, file: Any = None, size: tuple[float, float] | None = None) -> Figure:
    """The acceleration breakdown of a point: by chain segment (upper axes) and by term (lower axes).

    A negative contribution reduces the acceleration.

    Parameters
    ----------
    causes : AccelerationCauses
        The breakdown, from ``run.acceleration_by_cause``.
    file : path, optional
        A .png, .svg or .pdf file to write.
    size : (float, float), optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
    >>> figure = run.acceleration_by_cause("lower.tip").plot(file="acceleration.png")
    """
    with style():
        figure = new_figure(size or (WIDTH, 5.6), shown=file is None)
        rows: Any = figure.subplots(2, 1, sharex=True)
        for axes, names in zip(rows, (causes.tiers, causes.terms)):
            draw_stack(axes, causes.t, {name: causes[name] for name in names}, causes.total)
        title = f"{causes.of}: acceleration by {causes.by}, and by term"
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        rows[-1].set_xlabel(label("time", "s"))
        if file is not None:
            save_figure(figure, file)
    return figure


def draw_stack(axes: Axes, t: Array, parts: Mapping[str, Array], total: Array) -> None:
    """Each vector by its component along the sum, the largest first, and the magnitude of the sum."""
    every = -(-len(t) // MOST_POINTS)
    t, total = t[::every], total[::every]
    size = np.linalg.norm(total, axis=1)
    direction = total / np.where(size > LEAST_SHOWN * size.max(initial=0.0), size, np.inf)[:, None]
    along = {name: np.einsum("ti,ti->t", values[::every], direction) for name, values in parts.items()}
    peaks = {name: float(np.abs(values).max(initial=0.0)) for name, values in along.items()}
    order = sorted((n for n in along if peaks[n] > LEAST_SHOWN * max(peaks.values())), key=lambda n: -peaks[n])
    shown = {name: along[name] for name in order[:MOST_LINES]}
    if len(order) > MOST_LINES:
        shown[REMAINDER] = np.sum([along[name] for name in order[MOST_LINES:]], axis=0)
    unit, scale = find_prefix("m/s^2", float(size.max(initial=0.0)))
    up, down = np.zeros_like(size), np.zeros_like(size)
    for k, (name, values) in enumerate(shown.items()):
        color = MUTED if name == REMAINDER else COLORS[k % len(COLORS)]
        for base, part in ((up, np.maximum(values, 0.0)), (down, np.minimum(values, 0.0))):
            text = name if base is up else None
            axes.fill_between(t, base / scale, (base + part) / scale, color=color, alpha=0.75, linewidth=0, label=text)
            base += part
    axes.plot(t, size / scale, color=INK, linewidth=1.4, label="magnitude of the sum")
    axes.set_ylabel(label("acceleration", unit))
    axes.yaxis.set_major_formatter(tick)
    axes.margins(x=0.0)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=min(5, len(shown) + 1))
