"""A still picture of a mechanism: bodies, joints, springs, ground, and the paths of what moves.

``draw`` makes a figure of its own; ``draw_mechanism`` fills an axes of another one.  Planar mechanisms are
seen along their common axis, others from the front, the right and above; up is against gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.frames import Frame
from kinode.model.system import joint_frame
from kinode.views.mechanism.camera import find_camera, find_up, hull, is_inside
from kinode.views.mechanism.drawn_scene import (
    TINTS,
    DrawnScene,
    DrawnSolid,
    find_scene,
    link_frames,
    rod_ends,
    solids,
    tips,
)
from kinode.views.mechanism.mechanism_symbols import (
    Paper,
    Triad,
    arrow_tips,
    draw_center,
    draw_ground,
    draw_joints,
    draw_margin,
    draw_springs,
    draw_triads,
    find_triads,
    glyph_of,
    halo,
    mix,
    place_labels,
)
from kinode.views.style import INK, MUTED, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinode.results.trajectory import Trajectory

LINK_WIDTH = 6.0  # points
MOST_NAMES = 14  # in a picture
PATH_POINTS = 400  # points of a path
FITTINGS = 12  # steps in which the scale is fitted to arrows


def draw(
    run: Trajectory, *, time: float | None = None, view: Any = "auto", file: Any = None, paths: bool = True,
    ghosts: int = 2, names: bool = True, size: tuple[float, float] | None = None, seen_from: str | None = None,
    frames: Sequence[str] = (),
) -> Figure:  # fmt: skip
    """A picture of the mechanism at one time.

    Parameters
    ----------
    run : Trajectory
    time : float, optional
        Time in s, of which the nearest stored one is drawn; the start if left out.
    view : str or three numbers, default "auto"
        auto, side, front, top, isometric, or a direction to look along, in world axes.
    file : path, optional
        A .png, .svg or .pdf file to write.
    paths : bool, default True
        Whether the paths of the ends of chains are drawn.
    ghosts : int, default 2
        How many later positions are drawn faintly.
    names : bool, default True
        Whether joints and bodies have their names.
    size : (float, float), optional
        Width and height in inches; if left out, 8 inches wide and as high as the mechanism needs.
    seen_from : str, optional
        A body or frame that stands still in the picture, such as a vehicle; the ground is then left out.
    frames : sequence of str, optional
        Bodies, places and frames whose axes are drawn.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure = new_figure(size or (8.0, 5.0), shown=file is None)
        figure.set_layout_engine("none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        draw_mechanism(
            axes, run, time=time, view=view, paths=paths, ghosts=ghosts, names=names, grow=size is None,
            seen_from=seen_from, frames=frames,
        )  # fmt: skip
        if file is not None:
            save_figure(figure, file)
    return figure


def draw_mechanism(
    axes: Axes, run: Trajectory, *, time: float | None = None, view: Any = "auto", paths: bool = True,
    ghosts: int = 2, names: bool = True, grow: bool = False, seen_from: str | None = None, frames: Sequence[str] = (),
) -> None:  # fmt: skip
    """The same picture in the whole of an axes; with ``grow`` the height of the figure is changed to suit."""
    first = 0 if time is None else int(np.argmin(np.abs(np.asarray(run.t) - time)))
    last = len(run.t) - 1
    later = [int(k) for k in np.linspace(first, last, ghosts + 1)[1:]] if last > first else []
    still = find_scene(run, [first, *later], seen_from)
    system = run.system
    directions = [still.axis(joint, 0) for joint in system.joints.values() if joint.n_u]
    known = [d for d in directions if d is not None]
    camera = find_camera(system, view, known if len(known) == len(directions) else ())
    paper = Paper(axes, camera)
    places = link_frames(system) | ({} if seen_from is None else {"world": []})
    triads = find_triads(run, frames, first, seen_from) if frames else []
    rows = np.unique(np.linspace(first, last, PATH_POINTS).astype(int))
    moving = find_scene(run, rows, seen_from) if paths and last > first else None
    trails = {name: camera.project(moving.path(tip)) for name, tip in tips(system, places).items()} if moving else {}
    fit(paper, still, places, trails, grow, triads)
    colors = {name: TINTS[k % len(TINTS)] for k, name in enumerate(system.bodies)}
    for name, trail in trails.items():
        paper.line(trail, color=colors[name], linewidth=1.2, alpha=0.75, zorder=2)
    for k in range(len(later), 0, -1):
        paper.faint = True
        draw_bodies(paper, still, places, colors, k)
    paper.faint = False
    if seen_from is None:
        draw_ground(paper, still, find_up(system))
    draw_springs(paper, still)
    draw_bodies(paper, still, places, colors, 0)
    draw_joints(paper, still)
    draw_margin(paper, system)
    if names:
        draw_names(paper, still, places, colors)
    draw_triads(paper, triads)


def fit(
    paper: Paper, scene: DrawnScene, frames: dict[str, list[Frame]], trails: dict[str, Array], grow: bool,
    triads: Sequence[Triad] = (),
) -> None:  # fmt: skip
    """Limits that show everything, with one scale for both directions and room for names."""
    axes = paper.axes
    points = [
        paper.camera.project(scene.path(f))
        for name in scene.system.bodies
        for f in (*frames[name], scene.system.bodies[name].com)
    ]
    points += [paper.camera.project(scene.path(f)) for f in frames["world"]] + list(trails.values())
    for body in scene.system.bodies.values():
        for k in range(len(scene.rows)):
            points += [patch.points for solid in solids(scene, paper.camera, body, k) for patch in solid.patches]
            ends = rod_ends(scene, body, k)
            points += [] if ends is None else [paper.camera.project(ends)]
    cloud = np.concatenate([np.atleast_2d(p) for p in points])
    margin = np.array([46.0, 40.0])
    figure: Any = axes.get_figure(root=True)
    size = np.array(figure.get_size_inches())
    if grow:
        span = _span(cloud)[1]
        size[1] = np.clip((size[0] * 72 - 2 * margin[0]) * span[1] / span[0] / 72 + 2 * margin[1] / 72, 2.6, 5.4)
        figure.set_size_inches(size)
    box = axes.get_position()
    width, height = size * (box.width, box.height) * 72.0
    room = np.array([width, height]) - 2 * margin
    scale = float((room / _span(cloud)[1]).min())
    for _ in range(FITTINGS if triads else 0):  # arrows have their length on paper
        whole = np.concatenate([cloud, *(arrow_tips(paper, triads, scale))])
        scale = 0.5 * scale + 0.5 * float((room / _span(whole)[1]).min())
    if triads:
        cloud = np.concatenate([cloud, *(arrow_tips(paper, triads, scale))])
    (low, high), _ = _span(cloud)
    middle = (low + high) / 2
    axes.set_xlim(middle[0] - width / scale / 2, middle[0] + width / scale / 2)
    axes.set_ylim(middle[1] - height / scale / 2, middle[1] + height / scale / 2)
    axes.set_axis_off()
    paper.scale = scale


def _span(cloud: Array) -> tuple[tuple[Array, Array], Array]:
    """The corners of a cloud of points, and its width and height, which are not zero."""
    low, high = np.nanmin(cloud, axis=0), np.nanmax(cloud, axis=0)
    return (low, high), np.maximum(high - low, 1e-9 + 0.02 * float((high - low).max()))


def draw_bodies(
    paper: Paper, scene: DrawnScene, frames: dict[str, list[Frame]], colors: dict[str, str], k: int
) -> None:
    """Solids and links from the farthest to the nearest."""
    items: list[tuple[float, str, DrawnSolid | None]] = []
    for name, body in scene.system.bodies.items():
        shapes = solids(scene, paper.camera, body, k)
        items += [(solid.depth, name, solid) for solid in shapes]
        if not shapes:
            items.append((float(paper.camera.depth(scene.point(body.com, k))), name, None))
        elif not paper.faint:
            center = paper.camera.project(scene.point(body.com, k))
            outlines = [patch.points for solid in shapes for patch in solid.patches]
            for frame in frames[name]:
                end = paper.camera.project(scene.point(frame, k))
                if not any(is_inside(end, outline) for outline in outlines):
                    paper.line([end, center], color=mix(colors[name], -0.3), linewidth=1.6, zorder=3.9)
    items.sort(key=lambda item: item[0])
    for rank, (_, name, solid) in enumerate(items):
        zorder = (1.0 if paper.faint else 4.0) + 0.9 * rank / len(items)
        if solid is not None:
            draw_solid(paper, solid, colors[name], zorder)
            continue
        ends = rod_ends(scene, scene.system.bodies[name], k)
        points = [scene.point(f, k) for f in frames[name]] + ([] if ends is None else list(ends))
        draw_link(paper, np.array(points), scene.point(scene.system.bodies[name].com, k), colors[name], zorder)


def draw_solid(paper: Paper, solid: DrawnSolid, color: str, zorder: float) -> None:
    """A solid in the shades of its color; of a later pose a faint outline."""
    faint = {"edgecolor": mix(color, 0.6), "linewidth": 0.6, "alpha": 0.35, "zorder": zorder}
    for patch in solid.patches:
        if paper.faint:
            if patch.edge:
                paper.fill(patch.points, mix(color, 0.82), **faint)
            continue
        tone = mix(color, patch.shade)
        edge = mix(color, -0.55) if patch.edge else tone
        paper.fill(patch.points, tone, edgecolor=edge, linewidth=0.8 if patch.edge else 0.4, zorder=zorder)


def draw_link(paper: Paper, joints: Array, com: Array, color: str, zorder: float) -> None:
    """A body without a shape: a bar or plate between its frames and its center of mass."""
    near = 1.0 / paper.scale
    center = paper.camera.project(com)
    points = paper.camera.project(joints) if len(joints) else np.zeros((0, 2))
    points = np.array(
        [p for k, p in enumerate(points) if all(np.linalg.norm(p - q) > near for q in points[:k])]
    ).reshape(-1, 2)
    if all(np.linalg.norm(center - p) > near for p in points):
        points = np.concatenate([points, center[None]])
    alpha = 0.16 if paper.faint else 1.0
    outline = hull(points)
    fill, edge = mix(color, 0.25), mix(color, -0.5)
    if len(outline) > 2:
        if not paper.faint:
            paper.fill(outline, edge, edgecolor=edge, linewidth=LINK_WIDTH + 1.6, zorder=zorder)
        paper.fill(outline, fill, edgecolor=fill, linewidth=LINK_WIDTH, zorder=zorder, alpha=alpha)
    elif len(outline):
        outline = outline if len(outline) == 2 else np.repeat(outline, 2, axis=0)
        if not paper.faint:
            paper.line(outline, color=edge, linewidth=LINK_WIDTH + 1.6, zorder=zorder)
        paper.line(outline, color=fill, linewidth=LINK_WIDTH, zorder=zorder, alpha=alpha)
    if not paper.faint:
        draw_center(paper, center, zorder + 0.01)


def draw_names(paper: Paper, scene: DrawnScene, frames: dict[str, list[Frame]], colors: dict[str, str]) -> None:
    """Names of joints and bodies beside them, where they cover nothing; too many are left out."""
    system = scene.system
    taken: list[Array] = []
    wanted: list[Any] = []
    for joint in system.joints.values():
        M = paper.camera.project(scene.point(joint_frame(joint, "child"), 0))
        taken.append(M)
        if "world" in (joint.a.body, joint.b.body):
            taken += [M + np.array([x, -16.0]) / paper.scale for x in (-12.0, -4.0, 4.0, 12.0)]
        if joint.n_u and glyph_of(joint).mark is not None and len(system.joints) <= MOST_NAMES:
            wanted.append((joint.name, M, INK, False))
    if len(system.bodies) <= MOST_NAMES:
        for name, body in system.bodies.items():
            points = [scene.point(f, 0) for f in frames[name][:2]]
            far = np.mean(points, axis=0) if len(points) == 2 else scene.point(body.com, 0)
            wanted.append((name, paper.camera.project(far), mix(colors[name], -0.45), True))
    lines = [
        paper.camera.project([scene.point(f, 0) for f in frames[name]])
        for name in system.bodies
        if len(frames[name]) > 1
    ]
    shapes = [solid for body in system.bodies.values() for solid in solids(scene, paper.camera, body, 0)]
    lines += [patch.points for solid in shapes for patch in solid.patches if patch.edge]
    for text, anchor, middle, color, bold in place_labels(
        paper.axes, paper.scale, wanted, np.array(taken).reshape(-1, 2), lines
    ):
        lead = np.linalg.norm(middle - anchor) * paper.scale
        if lead > 26:
            paper.line([anchor, middle], color=MUTED, linewidth=0.5, zorder=6.9)
        paper.axes.text(
            middle[0], middle[1], text, color=color, fontsize=8.5, ha="center", va="center", zorder=8,
            fontweight="bold" if bold else "normal", path_effects=halo(),
        )  # fmt: skip
