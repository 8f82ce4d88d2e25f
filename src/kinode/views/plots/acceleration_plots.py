"""The acceleration of a point by chain segment and by term, stacked over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.views.plots.plot_parts import LEAST_SHOWN, draw_bands, find_largest, finish_axes, paired_axes
from kinode.views.style import MOST_POINTS, find_prefix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.acceleration_causes import AccelerationCauses


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
    with paired_axes(f"{causes.of}: acceleration by {causes.by}, and by term", file, size) as figure:
        for axes, names in zip(figure.axes, (causes.tiers, causes.terms), strict=True):
            draw_stack(axes, causes.t, {name: causes[name] for name in names}, causes.total)
    return figure


def draw_stack(axes: Axes, t: Array, parts: Mapping[str, Array], total: Array) -> None:
    """Each vector by its component along the sum, the largest first, and the magnitude of the sum."""
    every = -(-len(t) // MOST_POINTS)
    t, total = t[::every], total[::every]
    size = np.linalg.norm(total, axis=1)
    direction = total / np.where(size > LEAST_SHOWN * size.max(initial=0.0), size, np.inf)[:, None]
    along = {name: np.einsum("ti,ti->t", values[::every], direction) for name, values in parts.items()}
    unit, scale = find_prefix("m/s^2", float(size.max(initial=0.0)))
    shown = {name: values / scale for name, values in find_largest(along).items()}
    draw_bands(axes, t, shown, size / scale, list(shown))
    finish_axes(axes, "acceleration", unit, min(5, len(shown) + 1))
