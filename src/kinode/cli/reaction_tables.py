"""Tables and pictures of the command ``kinode reactions``: loads of a joint by cause, bearings, spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from kinode.cli.terminal_tables import MOST_ROWS, console, is_too_wide, make_table, print_part, print_rest
from kinode.errors import ArgumentError
from kinode.kernels.state import Wrench
from kinode.results.causes import causes_or_bodies
from kinode.results.joint_loads import describe_left_out, find_wrenches, is_negligible, reactions
from kinode.results.run_quantities import Measure, measure
from kinode.sheets.tables import Head, Table, number

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

PARTS = ("total", "static", "kinetic")


@dataclass(frozen=True)
class Question:
    """The options of the command for one joint; ``at`` are the positions of two bearings on the axis."""

    joint: str
    part: str = "kinetic"
    hold: Sequence[str] | None = None
    causes: bool = False
    at: tuple[str, str] | None = None
    frequency: str | None = None
    plot: Path | None = None

    @property
    def needs_part(self) -> bool:
        """Whether the share must be known: supports were named, or more than a table is requested."""
        return bool(self.hold or self.causes or self.at or self.frequency or self.plot)

    @property
    def hold_for_part(self) -> Sequence[str] | None:
        """The supports of loops, which do not matter to the total."""
        return None if self.part == "total" else self.hold


def print_all(run: Trajectory, hold: Any = None) -> None:
    """Peak reactions of all joints, in total and by share where the supports of loops are known."""
    out = console()
    joints, reason = list(find_wrenches(run)), ""
    parts = {}
    for part in PARTS:
        try:
            parts[part] = reactions(run, joints, part, None if part == "total" else hold)
        except ArgumentError as error:
            if hold:
                raise
            reason = str(error)
    rows = []
    for name in joints[:MOST_ROWS]:
        peaks = [_measures(run, wrenches[name], parts["total"][name]) for wrenches in parts.values()]
        rows.append([name, *(number(pair[k].peak) for k in range(2) for pair in peaks)])
    heads: list[Head] = ["joint", *((part, unit) for unit in ("N", "N*m") for part in parts)]
    wide = 2 + len(parts) * 24 <= out.width
    table = Table(heads, rows, title="reactions, peaks of force and moment" if wide else "reactions, peaks of force")
    out.print(make_table(table if wide else table.pick(range(1 + len(parts)))))
    print_rest(out, len(joints), "joints; --joint asks for one")
    if reason:
        _print_reason(out, reason)
    _print_left_out(out, parts["total"])


def print_joint(run: Trajectory, asked: Question) -> None:
    """Print the requested tables of one joint, and draw the picture."""
    out = console()
    _print_parts(out, run, asked)
    if asked.causes:
        causes = causes_or_bodies(run, [asked.joint], asked.hold)[0]
        title = f"who loads {causes.joint}: kinetic part by {causes.by}, share of its peak"
        print_part(out, replace(causes.table.most(MOST_ROWS), title=title))
    if asked.at is not None:
        out.print()
        for bearing in run.bearings(asked.joint, asked.at, asked.part, hold=asked.hold_for_part):
            out.print(Text(str(bearing)))
    if asked.frequency is not None:
        spectrum = run.spectrum(asked.joint, asked.part, hold=asked.hold_for_part)
        if spectrum.lines:
            print_part(out, replace(spectrum.table, title=f"spectrum, {asked.part} force"))
        resonance = run.resonance(asked.joint, asked.frequency, asked.part, hold=asked.hold_for_part)
        out.print(Text(str(resonance), style="bold red" if resonance.excited else "bold"))
    if asked.plot is not None:
        draw(run, asked, asked.plot)


def _print_parts(out: Console, run: Trajectory, asked: Question) -> None:
    rows, total, reason = [], run.reaction(asked.joint), ""
    for part in PARTS:
        try:
            wrench = run.reaction(asked.joint, part, hold=None if part == "total" else asked.hold)
        except ArgumentError as error:
            if asked.part == part and asked.needs_part:
                raise
            reason = str(error)
            continue
        for m, word, unit in zip(_measures(run, wrench, total), ("force", "moment"), ("N", "N*m")):
            rows.append([f"{part} {word}", *(number(x) for x in (m.peak, m.time, m.mean, m.rms)), unit])
    head = ("", "peak", "at s", "mean", "rms", "unit")
    title = f"{asked.joint}: reaction on {total.on}, about {total.at}"
    table = Table(head, rows, "wnnnnu", title)
    out.print(make_table(table.pick((0, 1, 2, 5)) if is_too_wide(out, table) else table))
    if reason:
        _print_reason(out, reason)
    _print_left_out(out, {asked.joint: total})


def _print_reason(out: Console, reason: str) -> None:
    out.print(Text(f"no static and kinetic parts: {reason.removeprefix('hold: ')} (--hold NAME)"))


def _print_left_out(out: Console, wrenches: dict[str, Wrench]) -> None:
    note = describe_left_out({name: wrench.left_out for name, wrench in wrenches.items()})
    if note:
        out.print(Text(note))


def _measures(run: Trajectory, wrench: Wrench, total: Wrench) -> list[Measure]:
    """Measures of force and moment; values within the rounding of the total load count as zero."""
    parts = (wrench.force, wrench.moment)
    return [measure(run.t, 0.0 * x if is_negligible(x, total) else x) for x in parts]


def draw(run: Trajectory, asked: Question, file: Path) -> None:
    """Draw the picture that the options select: causes, spectrum, pressure around a shaft, or load over time."""
    from kinode.views.plots.time_plots import plot_loads

    bearings = run.system.joints[asked.joint].has_bearings
    if asked.causes:
        causes_or_bodies(run, [asked.joint], asked.hold)[0].plot(file=file)
    elif asked.frequency is not None:
        spectrum = run.spectrum(asked.joint, asked.part, hold=asked.hold_for_part)
        spectrum.plot(file=file, frequency=asked.frequency)
    elif bearings and float(np.ptp(run[f"{asked.joint}.q"].reshape(len(run), -1)[:, -1])) > 2.0 * np.pi:
        run.pressure(asked.joint, asked.part, hold=asked.hold_for_part).plot(file=file)
    else:
        plot_loads(run, asked.joint, part=asked.part, hold=asked.hold_for_part, file=file)
