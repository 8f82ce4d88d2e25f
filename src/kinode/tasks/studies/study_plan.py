"""What a study is to do, as it travels to whoever makes its runs; and the maker of its runs.

A plan holds the models, the design and what is kept.  Pickled once, it is a few kilobytes; a worker opens it once and
keeps it, compiles each model once, and is then given numbers of runs.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_formulations import RECURSIVE_NAME
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.model.system import System
from kinode.tasks.batches.reducers import Kept
from kinode.tasks.batches.run_rows import RowMaker, RunRow, fail_row
from kinode.tasks.batches.value_sets import Values
from kinode.tasks.simulate import RunTask, read_task
from kinode.tasks.studies.kept_results import read_all_kept
from kinode.tasks.studies.study_design import Design

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
        try:
            row = self._maker(*self._find_key(values)).make(index, self._own(values), progress)
        except Error as error:  # of the fields
            return fail_row(index, values, self.kept, str(error))
        return None if row is None else RunRow(index, values, row.status, row.message, row.results, row.notes)

    def group(self, sets: Sequence[Values]) -> list[tuple[RowMaker, list[tuple[int, Values]]]]:
        """The runs of each model with the same fields, as number and values of its own; wrong fields are left out."""
        groups: dict[Any, list[int]] = {}
        of_values = {name for name, role in self._roles.items() if role == "value"}
        if len(of_values) == len(self._roles):  # all runs have the same model and fields
            groups[0, ()] = list(range(len(sets)))
        for k, values in enumerate(() if groups else sets):
            model, fields = self._find_key(values)
            groups.setdefault((model, tuple(sorted(fields.items()))), []).append(k)
        found = list[tuple[RowMaker, list[tuple[int, Values]]]]()
        for (model, fields), places in groups.items():
            with suppress(Error):  # each run says it
                found.append((self._maker(model, dict(fields)), [(k, self._own(sets[k])) for k in places]))
        return found

    @cached_property
    def _roles(self) -> dict[str, str]:
        return self.plan.design.roles

    def _find_key(self, values: Values) -> tuple[int, dict[str, Any]]:
        """The model of a run and its fields."""
        roles = self._roles
        model = next((self.plan.names.index(value) for name, value in values.items() if roles[name] == "model"), 0)
        return model, {name: value for name, value in values.items() if roles[name] == "field"}

    def _own(self, values: Values) -> dict[str, Any]:
        """The values of a run that are neither a model nor a field."""
        return {**self.plan.common, **{name: value for name, value in values.items() if self._roles[name] == "value"}}

    def _task(self, model: int, fields: Mapping[str, Any]) -> RunTask:
        arguments = {"until": self.plan.until, **self.plan.fields, **fields}
        return read_task(self.dynamics[model], arguments.pop("until"), **arguments)

    def _maker(self, model: int, fields: Mapping[str, Any]) -> RowMaker:
        key = model, *sorted(fields.items())
        with self._lock:
            if key not in self._makers:
                kept = read_all_kept(self.dynamics[model].system, self.plan.keep, self.plan.times)
                maker = RowMaker(self._task(model, fields), self.plan.start, kept)
                maker.check({name: 0.0 for name, role in self._roles.items() if role == "value"})
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
