"""What a study is to do, as it travels to whoever makes its runs; and the maker of its runs.

A plan holds the models, the design and what is kept.  Pickled once, it is a few kilobytes; a worker opens it once and
keeps it, compiles each model once, and is then given numbers of runs.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_formulations import RECURSIVE_NAME
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.model.system import System
from kinode.records import dataclass
from kinode.tasks.batches.reducers import Kept
from kinode.tasks.batches.run_rows import RowMaker, RunRow, fail_row
from kinode.tasks.batches.value_sets import Values
from kinode.tasks.simulate import RunTask, read_task
from kinode.tasks.studies.kept_results import read_all_kept
from kinode.tasks.studies.study_design import Design
from kinode.tasks.studies.study_lanes import LEAST_RUNS, fits_lanes, make_in_lanes

MOST_OPEN = 4
"""Plans that a worker keeps open."""


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """All that the runs of a study need.

    Attributes
    ----------
    models : tuple of System
        One, or those of the axis ``model``.
    names : tuple of str
        What the models are called.
    until, start, fields
        As in ``kn.simulate``; what varies is not among them.
    common : mapping
        Parameters and inputs that all runs have in common, by name.
    keep : tuple of str or function
    times : int
        Number of times of courses.
    design : Design
    formulation : str
    """

    models: tuple[System, ...]
    names: tuple[str, ...]
    until: Any
    start: Any
    fields: Mapping[str, Any]
    keep: tuple[Any, ...]
    times: int
    design: Design
    common: Mapping[str, Any]
    formulation: str = RECURSIVE_NAME

    def pack(self) -> bytes:
        """The plan as bytes, without values: a chunk comes with its own.

        Raises
        ------
        ArgumentError
            Something, which is named, cannot be sent to another process.
        """
        plan = replace(self, design=self.design.outline())
        try:
            return pickle.dumps(plan)
        except Exception as first:
            try:
                import cloudpickle  # comes with dask; takes functions that no module has
            except ImportError:
                raise self._refusal(first) from None
            try:
                packed: bytes = cloudpickle.dumps(plan)
                return packed
            except Exception as error:
                raise self._refusal(error) from None

    def _refusal(self, error: Exception) -> ArgumentError:
        """Which part cannot be sent."""
        parts: list[tuple[str, Any]] = [("start", self.start)]
        parts += [(f"keep: {getattr(each, '__name__', each)}", each) for each in self.keep]
        for system in self.models:
            for section in ("bodies", "joints", "elements", "parts", "signals", "functions", "tables"):
                entries = getattr(system, section, None)
                if isinstance(entries, Mapping):
                    parts += [(f"{system.name}: {name}", entry) for name, entry in entries.items()]
        culprit = next((name for name, part in parts if not _can_pack(part)), "the model")
        words = "cannot be sent to another process"
        return ArgumentError(f"{culprit} {words} ({error}); put its functions into a module, or use threads")


def _can_pack(part: Any) -> bool:
    try:
        pickle.dumps(part)
    except Exception:
        return False
    return True


class StudyWorker:
    """Makes the runs of a plan; several threads may call it at a time."""

    def __init__(self, plan: StudyPlan, compiled: Sequence[Dynamics] | None = None) -> None:
        self.plan = plan
        self.dynamics = tuple(compiled or (find_compiled(each, plan.formulation) for each in plan.models))
        self.kept: tuple[Kept, ...] = read_all_kept(self.dynamics[0].system, plan.keep, plan.times)
        """What is kept of each run."""
        self._makers: dict[Any, RowMaker] = {}
        self._lock = threading.Lock()
        for dynamics in self.dynamics:
            read_all_kept(dynamics.system, plan.keep, plan.times)
            dynamics.start.settle()

    def make(self, index: int, values: Values, progress: Callable[[float], Any] | None = None) -> RunRow | None:
        """The row of a run; None for a run that ``progress`` stopped."""
        roles = self.plan.design.roles
        model = next((self.plan.names.index(value) for name, value in values.items() if roles[name] == "model"), 0)
        fields = {name: value for name, value in values.items() if roles[name] == "field"}
        own = {**self.plan.common, **{name: value for name, value in values.items() if roles[name] == "value"}}
        try:
            row = self._maker(model, fields).make(index, own, progress)
        except Error as error:  # of the fields
            return fail_row(index, values, self.kept, str(error))
        return None if row is None else RunRow(index, values, row.status, row.message, row.results, row.notes)

    def make_together(self, sets: Sequence[Values], threads: int) -> Iterator[RunRow]:
        """The rows of runs that can share their steps; the others are left for ``make``."""
        maker = self._shared_maker(len(sets))
        if maker is None:
            return
        own = [(index, {**self.plan.common, **values}) for index, values in enumerate(sets)]
        for row in make_in_lanes(maker, own, threads):
            if row is not None:
                yield RunRow(row.index, sets[row.index], row.status, row.message, row.results, row.notes)

    def _shared_maker(self, count: int) -> RowMaker | None:
        """The maker of all runs, where they can share their steps."""
        if count < LEAST_RUNS or set(self.plan.design.roles.values()) != {"value"}:
            return None
        try:
            maker = self._maker(0, {})
        except Error:  # each run says it
            return None
        return maker if fits_lanes(maker) else None

    def _task(self, model: int, fields: Mapping[str, Any]) -> RunTask:
        arguments = {"until": self.plan.until, **self.plan.fields, **fields}
        return read_task(self.dynamics[model], arguments.pop("until"), **arguments)

    def _maker(self, model: int, fields: Mapping[str, Any]) -> RowMaker:
        key = model, *sorted(fields.items())
        with self._lock:
            if key not in self._makers:
                kept = read_all_kept(self.dynamics[model].system, self.plan.keep, self.plan.times)
                maker = RowMaker(self._task(model, fields), self.plan.start, kept)
                maker.check({name: 0.0 for name, role in self.plan.design.roles.items() if role == "value"})
                self._makers[key] = maker
            return self._makers[key]


_OPEN_PLANS: OrderedDict[str, StudyWorker] = OrderedDict()
_OPENING = threading.Lock()


def open_plan(packed: bytes) -> StudyWorker:
    """The worker of a plan that came as bytes; a process opens each plan once."""
    digest = hashlib.sha256(packed).hexdigest()
    with _OPENING:
        if digest not in _OPEN_PLANS:
            _OPEN_PLANS[digest] = StudyWorker(pickle.loads(packed))
            while len(_OPEN_PLANS) > MOST_OPEN:
                _OPEN_PLANS.popitem(last=False)
        _OPEN_PLANS.move_to_end(digest)
        return _OPEN_PLANS[digest]
