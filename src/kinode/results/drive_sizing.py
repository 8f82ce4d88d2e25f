"""What motor and gear of each drive have to give: peak, rms, speed at the peak, power, on the motor's and output side.

A drive is what moves a joint: its own law or prescribed motion, the shafts that are geared to it, or the motor of a
network.  On the motor's side the inertia and the losses of the rotor count; on the output side is what the gear
transmits to the links.  A prescribed joint with one gear is driven through that gear.  If several shafts drive a joint,
each has a row; what the joint itself then gives, by a law or a prescribed motion, is a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.constraints.constraint import find_transmissions
from kinode.model.constraints.gear_coupling import Transmission
from kinode.model.network.motors import Motor
from kinode.model.system import System
from kinode.results.run_quantities import IGNORE_OVERFLOW, Measure, measure
from kinode.sheets.tables import Sheet, Shown, Table, format_number

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


RPM = 30.0 / np.pi  # of rad/s
HEAD = ("drive", "side", "at", "peak", "rms", "speed at peak", "top speed", "peak power", "mean power")


@dataclass(frozen=True)
class DriveSide:
    """One side of a drive over a run.

    Attributes
    ----------
    at : str
        The joint, shaft or motor.
    effort : Measure
        Magnitude of the moment or force, N*m or N.
    speed_at_peak, top_speed : float
        Magnitudes of the speed at the peak of the effort, and at most; rad/s or m/s.
    power : Measure
        Magnitude of the power, W.
    mean_power : float
        Mean over time, W: negative where the drive brakes.
    turns : bool
        Whether it turns, so that the effort is a moment.
    """

    at: str
    effort: Measure
    speed_at_peak: float
    top_speed: float
    power: Measure
    mean_power: float
    turns: bool

    def cells(self) -> list[str]:
        """Its figures with their units."""
        unit, factor, speed = ("N*m", RPM, "rpm") if self.turns else ("N", 1.0, "m/s")
        speeds = [f"{format_number(factor * x)} {speed}" for x in (self.speed_at_peak, self.top_speed)]
        powers = [f"{format_number(x)} W" for x in (self.power.peak, self.mean_power)]
        efforts = [f"{format_number(x)} {unit}" for x in (self.effort.peak, self.effort.rms)]
        return [*efforts, *speeds, *powers]


@dataclass(frozen=True)
class DriveSizing:
    """A drive over a run: its motor side and its output side.

    Attributes
    ----------
    drive : str
        The drive unit, motor or joint.
    ratio : float
        Speed of the motor over that of the output: rad/m where the output slides, nan where a network is in between.
    motor, output : DriveSide
    """

    drive: str
    ratio: float
    motor: DriveSide
    output: DriveSide


@dataclass(frozen=True)
class Sizing(Shown):
    """The drives of a run; prints as a table."""

    drives: tuple[DriveSizing, ...]

    def __iter__(self) -> Iterator[DriveSizing]:
        return iter(self.drives)

    def __len__(self) -> int:
        return len(self.drives)

    def __getitem__(self, drive: str | int) -> DriveSizing:
        if isinstance(drive, int):
            return self.drives[drive]
        try:
            return next(row for row in self.drives if drive in (row.drive, row.output.at))
        except StopIteration:
            raise KeyError(drive) from None

    @property
    def table(self) -> Table:
        """Two rows for each drive."""
        rows = []
        for drive in self.drives:
            rows.append([drive.drive, "motor", drive.motor.at, *drive.motor.cells()])
            rows.append(["", "output", drive.output.at, *drive.output.cells()])
        return Table(HEAD, rows, "wwwqqqqqq")

    @property
    def sheet(self) -> Sheet:
        return Sheet("", parts=[self.table] if self.drives else ["no joint is driven"])


# -- which drives there are ------------------------------------------------------------------------
class Drives:
    """The drives of a system, by joint."""

    def __init__(self, system: System) -> None:
        self.system, self.gears = system, find_transmissions(system)

    def gears_to(self, joint: str) -> list[Transmission]:
        """The gears with a joint on their load side."""
        return [gear for gear in self.gears if gear.load == joint]

    def drives_itself(self, joint: str) -> bool:
        """Whether a joint has an effort by a law, or a prescribed motion."""
        record = self.system.joints[joint]
        return record.n_u == 1 and (record.driven or record.effort is not None)

    def is_driven(self, joint: str) -> bool:
        """Whether anything drives a joint: itself, or a shaft geared to it."""
        return self.drives_itself(joint) or any(self.is_source(gear.motor) for gear in self.gears_to(joint))

    def is_source(self, joint: str) -> bool:
        """Whether a shaft drives what it is geared to, by itself or by a network."""
        return self.is_driven(joint) or joint in self.motor_joints

    @property
    def motor_joints(self) -> dict[str, Motor]:
        """The joints that a motor of a network turns directly."""
        motors = (part for part in self.system.parts.values() if isinstance(part, Motor))
        return {motor.shaft: motor for motor in motors if motor.shaft in self.system.joints}

    def chain(self, gear: Transmission) -> list[Transmission]:
        """A gear and those before it, down to the motor's shaft."""
        chain = [gear]
        while len(before := self.gears_to(chain[-1].motor)) == 1 and not self.drives_itself(chain[-1].motor):
            chain += before
        return chain

    def outputs(self) -> list[str]:
        """The driven joints that do not turn another as shafts do."""
        shafts = {gear.motor for gear in self.gears}
        return [name for name in self.system.joints if name not in shafts and self.is_driven(name)]

    def joint_of(self, motor: Motor) -> str | None:
        """The joint that a motor moves through the shafts, gears and slides of its network; None unless it is one."""
        nodes, seen, joints = self.system.nodes, {motor.shaft}, set()
        waiting = [motor.shaft]
        while waiting:
            node = nodes[waiting.pop()]
            if node.joint is not None:
                joints.add(node.joint)
                continue
            for part, _ in node.ports:
                for name, other in nodes.items():
                    mechanical = bool(other.domain.moves) and not other.reference
                    if mechanical and name not in seen and part in {owner for owner, _ in other.ports}:
                        seen.add(name)
                        waiting.append(name)
        return joints.pop() if len(joints) == 1 and all(self.system.joints[name].n_u == 1 for name in joints) else None


# -- their figures ---------------------------------------------------------------------------------
@IGNORE_OVERFLOW
def compute_sizing(run: RunQuantities) -> Sizing:
    """The drives of a run, in order of declaration, then the motors of networks."""
    drives, rows = Drives(run.system), []
    run.evaluate(_needed(drives))
    for joint in drives.outputs():
        gears = drives.gears_to(joint)
        if len(gears) == 1:
            rows.append(_through_gear(run, drives, gears[0]))
            continue
        rows += [_one_of_several(run, drives, gear) for gear in gears if drives.is_source(gear.motor)]
        if drives.drives_itself(joint):
            geared = sum((_ratio(run, gear) * _shaft_effort(run, drives, gear.motor) for gear in gears), 0.0)
            side = _side(run, joint, run[f"{joint}.effort.drive"] - geared)
            rows.append(DriveSizing(joint, 1.0, side, side))
    in_rows = {side.at for row in rows for side in (row.motor, row.output)}
    for name, part in run.system.parts.items():
        if isinstance(part, Motor) and part.shaft not in in_rows:
            rows.append(_of_network(run, drives, name, part))
    return Sizing(tuple(rows))


def _needed(drives: Drives) -> list[str]:
    """The quantities of all rows, to be computed by one compiled function."""
    names: dict[str, None] = {}
    for joint in drives.outputs():
        gears: list[Transmission] = []
        rest = drives.gears_to(joint)
        while rest:
            gears, rest = gears + rest, [gear for one in rest for gear in drives.gears_to(one.motor)]
        for name in (joint, *(gear.motor for gear in gears)):
            names |= dict.fromkeys([f"{name}.u", f"{name}.effort.drive"])
        names |= dict.fromkeys([f"{joint}.effort.rotor"] if gears else [])
    for part in (part for part in drives.system.parts.values() if isinstance(part, Motor)):
        names |= dict.fromkeys(f"{part.name}.{quantity}" for quantity in ("electric_moment", "moment", "speed"))
        joint_of_part = drives.joint_of(part)
        names |= dict.fromkeys([] if joint_of_part is None else [f"{joint_of_part}.{x}" for x in ("u", "effort.parts")])
    return list(names)


def _through_gear(run: RunQuantities, drives: Drives, gear: Transmission) -> DriveSizing:
    """A joint that one gear drives, through which all goes that drives the joint."""
    chain = drives.chain(gear)
    ratio = float(np.prod([_ratio(run, each) for each in chain]))
    given = run[f"{gear.load}.effort.drive"]
    output = _side(run, gear.load, given + run[f"{gear.load}.effort.rotor"])
    effort = given / ratio + _taken_by_rotor(run, drives, chain[-1].motor)
    return DriveSizing(_name(chain[-1]), ratio, _side(run, chain[-1].motor, effort), output)


def _one_of_several(run: RunQuantities, drives: Drives, gear: Transmission) -> DriveSizing:
    """One of several shafts that drive a joint; at the output is what its own gear transmits."""
    relation = run.system.constraints[gear.constraint].relation(run.system)
    assert relation is not None
    along = run[f"{gear.constraint}.reaction"]
    if gear.load != relation.follower:
        along = -float(run.dynamics.arguments.resolver(run.p)(relation.ratio)) * along
    chain = drives.chain(gear)
    ratio = float(np.prod([_ratio(run, each) for each in chain]))
    effort = _shaft_effort(run, drives, gear.motor) * _ratio(run, gear) / ratio
    effort = effort + _taken_by_rotor(run, drives, chain[-1].motor)
    return DriveSizing(_name(chain[-1]), ratio, _side(run, chain[-1].motor, effort), _side(run, gear.load, along))


def _of_network(run: RunQuantities, drives: Drives, name: str, motor: Motor) -> DriveSizing:
    """A motor of a network: what its field gives, and what reaches the joint."""
    values = run.evaluate([f"{name}.electric_moment", f"{name}.speed", f"{name}.moment"])
    inner = _figures(run, name, values[f"{name}.electric_moment"], values[f"{name}.speed"], turns=True)
    joint = drives.joint_of(motor)
    if joint is None:
        return DriveSizing(
            name, 1.0, inner, _figures(run, motor.shaft, values[f"{name}.moment"], values[f"{name}.speed"], turns=True)
        )
    return DriveSizing(name, np.nan, inner, _side(run, joint, run[f"{joint}.effort.parts"]))


def _shaft_effort(run: RunQuantities, drives: Drives, shaft: str) -> Array:
    """What drives a shaft: its own drive, those geared to it, and a motor of a network."""
    effort, motor = run[f"{shaft}.effort.drive"], drives.motor_joints.get(shaft)
    return effort if motor is None else effort + run[f"{motor.name}.moment"]


def _taken_by_rotor(run: RunQuantities, drives: Drives, shaft: str) -> Array | float:
    """What the rotor of a network's motor takes of its moment before it reaches the shaft."""
    motor = drives.motor_joints.get(shaft)
    return 0.0 if motor is None else run[f"{motor.name}.electric_moment"] - run[f"{motor.name}.moment"]


def _ratio(run: RunQuantities, gear: Transmission) -> float:
    return float(run.dynamics.arguments.resolver(run.p)(gear.ratio))


def _name(gear: Transmission) -> str:
    """A drive unit by its own name, else its shaft."""
    unit = gear.motor.removesuffix(".shaft")
    return unit if gear.constraint == f"{unit}.gear" else gear.motor


def _side(run: RunQuantities, joint: str, effort: Array) -> DriveSide:
    turns = run.system.joints[joint].coordinates[0][1] == "angle"
    return _figures(run, joint, effort, run[f"{joint}.u"], turns=turns)


def _figures(run: RunQuantities, at: str, effort: Array, speed: Array, *, turns: bool) -> DriveSide:
    peaks, power = measure(run.t, effort), measure(run.t, effort * speed)
    k = int(np.argmax(run.t >= peaks.time)) if np.isfinite(peaks.time) else 0
    span = float(run.t[-1] - run.t[0])
    mean = float(np.trapezoid(effort * speed, run.t)) / span if span > 0 else float((effort * speed)[0])
    return DriveSide(at, peaks, float(abs(speed[k])), float(np.abs(speed).max()), power, mean, turns)
