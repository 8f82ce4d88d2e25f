"""Response curves under sliders: one number of a run over the range of one value, computed in the background.

They are pushed as they become finer: the runs go from coarse to fine.

A curve pauses while a run is asked for, and for a moment after it, so that a drag has the processor to itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypedDict

import numpy as np

from kinode.errors import ArgumentError
from kinode.studies.batch import Batch, RunRow, read_value, refined_order
from kinode.studies.kept_results import read_reduction
from kinode.studies.sweep import set_up_study
from kinode.studio.live.changing_run import ChangingRun, ChosenRun
from kinode.studio.server.messages import Quantity
from kinode.studio.server.session import Client, GoesOn, Lane

Ends = tuple[Quantity, Quantity]
QUIET = 0.3
"""s without a request for a run, before curves go on."""
PUSH_EVERY = 0.04
"""s between two pushes of a curve."""
DEFAULT_POINTS, MOST_POINTS = 33, 513  # a power of two and one: refining halves the spacing
THREADS = 1
"""Runs of curves at a time: one processor remains for the page."""


class FailedValue(TypedDict):
    """A value for which there is no result, and why."""

    value: float
    message: str


class CurvePush(TypedDict):
    """What is known of a curve by now; ``complete`` if nothing more will come."""

    name: str
    of: str
    unit: str
    values: list[float]
    results: list[float]
    failed: list[FailedValue]
    complete: bool


class ResponseBoard:
    """The curves under way, by page and name."""

    def __init__(self) -> None:
        self._changed = threading.RLock()
        self._curves: dict[tuple[Client, str], _PushedCurve] = {}
        self._busy, self._paused = 0, False
        self._resuming = Lane(self._resume)

    def start(
        self, client: Client, model: ChangingRun, chosen: ChosenRun, name: str, ends: Ends, of: str, points: int
    ) -> None:
        """Begin a curve of ``of`` over the number ``name``, in the place of one of the same name."""
        if not 2 <= points <= MOST_POINTS:
            raise ArgumentError(f"points: a number from 2 to {MOST_POINTS} is expected, not {points}")
        self.stop(client, name)
        curve = _PushedCurve(client, model, chosen, name, ends, of, points)
        with self._changed:
            self._curves = {key: each for key, each in self._curves.items() if not each.finished}
            self._curves[client, name] = curve
            if self._paused:
                curve.batch.pause()
        curve.ready.set()

    def stop(self, client: Client | None = None, name: str | None = None) -> None:
        """Stop the curves of a page, or one of them, or all."""
        with self._changed:
            for key, curve in list(self._curves.items()):
                if client in (None, key[0]) and name in (None, key[1]):
                    curve.batch.cancel()
                    del self._curves[key]

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Curves pause in a ``with`` block, and for a moment after it."""
        with self._changed:
            self._busy += 1
            self._pause()
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1
                if self._paused:
                    self._resuming.ask(None, QUIET)

    def close(self) -> None:
        """Stop all."""
        self.stop()
        self._resuming.close()

    def _pause(self) -> None:
        if not self._paused and self._curves:
            self._paused = True
            for curve in self._curves.values():
                curve.batch.pause()

    def _resume(self, _: None, goes_on: GoesOn) -> None:
        """Let the curves go on; while a run is asked for its end lets them."""
        with self._changed:
            if not self._busy:
                self._paused = False
                for curve in self._curves.values():
                    curve.batch.resume()


class _PushedCurve:
    """One curve, and what of it was told to its page."""

    def __init__(
        self, client: Client, model: ChangingRun, chosen: ChosenRun, name: str, ends: Ends, of: str, points: int
    ) -> None:
        self.client, self.name, self.of = client, name, of
        self.ready = threading.Event()
        self._told = 0.0
        dynamics, choice = chosen.setting.dynamics, chosen.choice
        self._reduction = read_reduction(dynamics.system, of)
        low, high = (read_value(dynamics, name, end) for end in ends)
        if not (math.isfinite(low) and math.isfinite(high)) or low == high:
            given = f"{ends[0]!r} and {ends[1]!r}"
            raise ArgumentError(f"low, high: two different values of {name} are expected, not {given}")
        self.values: list[float] = np.linspace(low, high, points).tolist()
        fixed = {**chosen.setting.parameters, **model.split(choice.values)[1]}
        worker, _ = set_up_study(
            dynamics, {name: self.values}, choice.until, keep=self._reduction.text,
            parameters={key: value for key, value in fixed.items() if key != name},
            start={key: value for key, value in choice.start.items() if key != name} or None,
            times=model.task(dynamics, choice.until).requested["times"], **model.options,
        )  # fmt: skip
        sets = worker.plan.design.rows(0, len(self.values))
        self.batch = Batch(worker.make, sets, refined_order(len(sets)), THREADS, self._tell)

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.batch.finished

    def _tell(self, row: RunRow) -> None:
        """Push what is known of the curve; of rows that come fast not each."""
        self.ready.wait()
        if self.client not in self.client.session.clients:
            self.batch.cancel()
            return
        rows = self.batch.rows
        complete, now = len(rows) == len(self.batch), time.monotonic()
        if not complete and now - self._told < PUSH_EVERY and len(rows) > 3:
            return
        self._told = now
        made = [each for each in rows if not each.failed]
        told: CurvePush = {
            "name": self.name,
            "of": self.of,
            "unit": self._reduction.unit,
            "values": [self.values[each.index] for each in made],
            "results": [float(each.results[self._reduction.text]) for each in made],
            "failed": [{"value": self.values[each.index], "message": each.message} for each in rows if each.failed],
            "complete": complete,
        }
        self.client.push({"kind": "response", **told})
