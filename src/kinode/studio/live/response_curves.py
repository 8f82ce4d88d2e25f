"""Response curves under sliders: one number of a run over the range of one value, computed in the background.

They are pushed as they become finer: the runs go from coarse to fine.

A curve pauses while a run is asked for, and for a moment after it, so that a drag has the processor to itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from kinode.errors import ArgumentError
from kinode.model.base.fields import short
from kinode.studies.batch import Batch, RunRow, read_value, refined_order
from kinode.studies.kept_results import BY_SIZE, read_reduction
from kinode.studies.sweep import set_up_study
from kinode.studio.live.changing_run import ChangingRun, ChosenRun
from kinode.studio.server.session import Client

QUIET = 0.3
"""s without a request for a run, before curves go on."""
PUSH_EVERY = 0.04
"""s between two pushes of a curve."""
DEFAULT_POINTS, MOST_POINTS = 33, 513  # a power of two and one: refining halves the spacing
THREADS = 1
"""Runs of curves at a time: one processor remains for the page."""


class ResponseBoard:
    """The curves under way, by page and name."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._curves: dict[tuple[Client, str], _PushedCurve] = {}
        self._busy, self._quiet_from, self._ended = 0, 0.0, False
        self._paused = False
        self._thread: threading.Thread | None = None

    def start(self, client: Client, model: ChangingRun, chosen: ChosenRun, fields: Mapping[str, Any]) -> None:
        """Begin a curve, in the place of one of the same name."""
        name, points = _name(fields.get("name")), fields.get("points", DEFAULT_POINTS)
        if isinstance(points, bool) or not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
            raise ArgumentError(f"points: a number from 2 to {MOST_POINTS} is expected, not {short(points)}")
        self.stop(client, name)
        curve = _PushedCurve(client, model, chosen, {**fields, "name": name, "points": points})
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
                self._quiet_from = time.monotonic() + QUIET
                self._changed.notify_all()
                if self._thread is None and self._paused:
                    self._thread = threading.Thread(target=self._resume_later, name="kinode curves", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Stop all."""
        self.stop()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _pause(self) -> None:
        if not self._paused and self._curves:
            self._paused = True
            for curve in self._curves.values():
                curve.batch.pause()

    def _resume_later(self) -> None:
        """Let the curves go on when nothing was asked for a moment; the thread ends then."""
        with self._changed:
            while not self._ended:
                left = QUIET if self._busy else self._quiet_from - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            self._paused, self._thread = False, None
            for curve in self._curves.values():
                curve.batch.resume()


class _PushedCurve:
    """One curve, and what of it was told to its page."""

    def __init__(self, client: Client, model: ChangingRun, chosen: ChosenRun, fields: Mapping[str, Any]) -> None:
        self.client, self.name, self.of = client, fields["name"], fields.get("of")
        self.ready = threading.Event()
        self._told = 0.0
        dynamics, name, choice = chosen.setting.dynamics, self.name, chosen.choice
        self._reduction = read_reduction(dynamics.system, fields.get("of", ""))
        low, high = (read_value(dynamics, name, fields.get(end)) for end in ("low", "high"))
        if not (math.isfinite(low) and math.isfinite(high)) or low == high:
            given = f"{fields.get('low')!r} and {fields.get('high')!r}"
            raise ArgumentError(f"low, high: two different values of {name} are expected, not {given}")
        self.values: list[float] = np.linspace(low, high, fields["points"]).tolist()
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
        known = [(self.values[each.index], float(each.results[self._reduction.text])) for each in made]
        size = abs if self._reduction.by in BY_SIZE else float
        least = min((pair for pair in known if math.isfinite(pair[1])), key=lambda pair: size(pair[1]), default=None)
        self.client.push(
            {
                "kind": "response",
                "name": self.name,
                "of": self.of,
                "unit": self._reduction.unit,
                "values": [value for value, _ in known],
                "results": [result for _, result in known],
                "failed": [{"value": self.values[each.index], "message": each.message} for each in rows if each.failed],
                "least": None if least is None else {"value": least[0], "result": least[1]},
                "points": len(self.batch),
                "complete": complete,
            }
        )


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"name: the name of a number is expected, not {short(name)}")
    return name
