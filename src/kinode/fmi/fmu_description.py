"""What an FMU says of itself (its version, its kinds, its variables), and its files in a folder of their own.

The description is read by FMPy and kept as plain records.  The folder is removed when nobody uses the FMU any more.

An FMU is a zip archive with a description, a library for each system, and resources.  The archive may come from a
stranger, so that it is looked through before anything is written: no path may lead out of the folder, nothing may be a
link, and number and size of the files are bounded.  The library is code all the same: whoever opens an FMU runs it.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import stat
import tempfile
import weakref
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from kinode.errors import ArgumentError, ModelError
from kinode.optional_packages import need

REALS = frozenset({"Real", "Float64", "Float32"})
WHOLE = frozenset({"Integer", "Enumeration", *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))})
NUMBERS = REALS | WHOLE | {"Boolean"}
INDEXED = re.compile(r"(.+)\[(\d+(?:\s*,\s*\d+)*)\]")
VERSION = re.compile(r"""fmiVersion\s*=\s*["']([^"']*)["']""")
DIRECTIONAL = re.compile(r"""<ModelExchange\b[^>]*\bprovidesDirectionalDerivatives\s*=\s*["'](true|1)["']""")  # of 3.0
IDENTIFIER = re.compile(r"(?!\.)[\w.\- ]{1,200}")  # the name of a library, and no path
MOST_ENTRIES = 100_000  # of an array
MOST_INDICATORS = 10_000
LAST_REFERENCE = 2**32 - 1
SHORTEST_STEP = 1e-15  # s


@dataclass(frozen=True)
class FmuVariable:
    """A variable of an FMU."""

    name: str
    kind: str
    """Its type in the words of FMI: Real, Float64, Boolean ..."""
    reference: int
    causality: str
    variability: str
    unit: str
    sizes: tuple[int, ...]
    """Of an array; empty for a scalar."""
    derivative_of: str | None
    """The state whose derivative it is."""
    nominal: float = 1.0
    """Its usual size."""

    @property
    def count(self) -> int:
        """The number of its entries."""
        return math.prod(self.sizes)


@dataclass(frozen=True)
class FmuEntry:
    """A scalar variable, or one entry of an array."""

    variable: FmuVariable
    index: int = 0

    def __str__(self) -> str:
        return f"{self.variable.name}[{self.index + 1}]" if self.variable.sizes else self.variable.name


@dataclass(frozen=True)
class InterfaceKind:
    """One of the kinds of an FMU: Co-Simulation or Model Exchange."""

    identifier: str
    once: bool
    """Whether a process may have one instance only."""
    keeps_states: bool
    """Whether its state can be read and set."""
    directional: bool
    """Whether it gives directional derivatives."""
    steps_matter: bool
    """Whether it wants to be told of each completed step."""
    variable_steps: bool
    fixed_step: float | None
    """The step that it takes, in s, if it says one."""


@dataclass(frozen=True)
class FmuDescription:
    """The description of an FMU."""

    name: str
    version: int
    token: str
    variables: Mapping[str, FmuVariable]
    co_simulation: InterfaceKind | None
    model_exchange: InterfaceKind | None
    states: tuple[FmuEntry, ...]
    rates: tuple[FmuEntry, ...]
    n_indicators: int
    log_categories: tuple[str, ...]
    dependencies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The variables that outputs and derivatives depend on, where the FMU says so."""

    def find_entry(self, name: str) -> FmuEntry | None:
        """A scalar variable, or an entry of an array such as x[2]; None if there is none."""
        variable = self.variables.get(name)
        if variable is not None:
            return None if variable.sizes else FmuEntry(variable)
        match = INDEXED.fullmatch(name)
        variable = self.variables.get(match[1]) if match else None
        if match is None or variable is None:
            return None
        places = [int(text) - 1 for text in match[2].split(",")]
        if len(places) != len(variable.sizes):
            return None
        index = 0
        for place, size in zip(places, variable.sizes, strict=True):
            if not 0 <= place < size:
                return None
            index = index * size + place
        return FmuEntry(variable, index)

    def named(self, causality: str) -> list[str]:
        """The names of all numbers of a causality; those of arrays with an index."""
        chosen = [v for v in self.variables.values() if v.causality == causality and v.kind in NUMBERS]
        return [name for variable in chosen for name in _entry_names(variable)]


def _entry_names(variable: FmuVariable) -> list[str]:
    if not variable.sizes:
        return [variable.name]
    names = [""]
    for size in variable.sizes:
        names = [f"{name},{k + 1}" for name in names for k in range(size)]
    return [f"{variable.name}[{name[1:]}]" for name in names]


def read_description(folder: str, file: str) -> FmuDescription:
    """The description of an unpacked FMU; ``file`` names it in errors."""
    fmpy = import_fmpy()
    head = Path(folder, DESCRIPTION).read_text(encoding="utf-8", errors="replace")
    said = VERSION.search(head)
    if said is not None and said[1] != "2.0" and not said[1].startswith("3.0"):
        raise ModelError(f"{file} is of FMI {said[1][:20]}; versions 2.0 and 3.0 are read", field="file")
    try:
        read = fmpy.read_model_description(folder, validate=False)
        return _describe(read, file, DIRECTIONAL.search(head) is not None)
    except ModelError:
        raise
    except Exception as error:  # whatever the library says of a file that is not one
        plain = str(error).replace(folder, file)
        message = f"{file} cannot be read: its {DESCRIPTION} is not one of FMI ({type(error).__name__}: {plain})"
        raise ModelError(message, field="file") from None


def _describe(read: Any, file: str, directional: bool) -> FmuDescription:
    """What was read, as records, after it was looked at: it may be from anyone."""
    _refuse_twice(file, "variable", [v.name for v in read.modelVariables])
    _refuse_twice(file, "derivative", [unknown.variable.name for unknown in read.derivatives])
    variables = {v.name: _variable(v, file) for v in read.modelVariables}
    rates = [unknown.variable for unknown in read.derivatives]
    states = [rate.derivative for rate in rates]
    if any(state is None for state in states):
        raise ModelError(f"{file} names a derivative of no state", field="file")
    _refuse_twice(file, "state", [state.name for state in states])
    return FmuDescription(
        name=read.modelName or "", version=int(str(read.fmiVersion)[0]), token=str(read.guid), variables=variables,
        co_simulation=_kind(read.coSimulation, file),
        model_exchange=_kind(read.modelExchange, file, str(read.fmiVersion), directional),
        states=_entries(variables[state.name] for state in states),
        rates=_entries(variables[rate.name] for rate in rates),
        n_indicators=_count_indicators(read, file), log_categories=tuple(c.name for c in read.logCategories),
        dependencies=_dependencies((*read.outputs, *read.derivatives)),
    )  # fmt: skip


def _refuse_twice(file: str, what: str, names: list[str]) -> None:
    known: set[str] = set()
    for name in names:
        if name in known:
            raise ModelError(f"{file} names the {what} {name!r} twice", field="file")
        known.add(name)


def import_fmpy() -> Any:
    """The library that calls FMUs."""
    try:
        return need("fmpy", "fmu", "an FMU")
    except ArgumentError as error:
        raise ModelError(str(error), field="file") from None


def _entries(variables: Iterable[FmuVariable]) -> tuple[FmuEntry, ...]:
    return tuple(FmuEntry(v, k) for v in variables for k in range(v.count))


def _dependencies(unknowns: Iterable[Any]) -> dict[str, frozenset[str]]:
    """What is said of unknowns; of those of which nothing is said all matters."""
    said = ((u.variable.name, u.dependencies) for u in unknowns if u.dependencies is not None)
    return {name: frozenset(v.name for v in variables) for name, variables in said}


def _count_indicators(read: Any, file: str) -> int:
    third = str(read.fmiVersion).startswith("3")
    count = len(read.eventIndicators) if third else int(read.numberOfEventIndicators or 0)
    if not 0 <= count <= MOST_INDICATORS:
        raise ModelError(f"{file} has {count} event indicators: 0 to {MOST_INDICATORS} are read", field="file")
    return count


def _kind(read: Any, file: str, version: str = "", directional: bool = False) -> InterfaceKind | None:
    if read is None:
        return None
    identifier = read.modelIdentifier or ""
    if not IDENTIFIER.fullmatch(identifier):
        message = f"{file} has the modelIdentifier {identifier[:60]!r}, which names no library in it"
        raise ModelError(message, field="file")
    not_needed = getattr(read, "completedIntegratorStepNotNeeded", True)
    step = float(getattr(read, "fixedInternalStepSize", None) or 0.0)
    if step and not SHORTEST_STEP <= step < math.inf:
        raise ModelError(f"{file} has a fixedInternalStepSize of {step:g}, which is no time", field="file")
    return InterfaceKind(
        identifier=identifier,
        once=bool(read.canBeInstantiatedOnlyOncePerProcess),
        keeps_states=bool(read.canGetAndSetFMUstate),
        directional=bool(read.providesDirectionalDerivative) or directional,
        steps_matter=not not_needed if version == "2.0" else bool(getattr(read, "needsCompletedIntegratorStep", False)),
        variable_steps=bool(getattr(read, "canHandleVariableCommunicationStepSize", False)),
        fixed_step=step or None,
    )


def _variable(read: Any, file: str) -> FmuVariable:
    sizes = tuple(_size(dimension, read.name, file) for dimension in read.dimensions or ())
    if not 0 <= int(read.valueReference) <= LAST_REFERENCE:
        raise ModelError(f"{file}: {read.name} has the value reference {read.valueReference}", field="file")
    if math.prod(sizes) > MOST_ENTRIES:
        raise ModelError(f"{file}: {read.name} has {math.prod(sizes)} entries, too many", field="file")
    unit = read.unit or (read.declaredType.unit if read.declaredType is not None else None) or ""
    derivative = read.derivative.name if read.derivative is not None else None
    return FmuVariable(
        read.name, read.type, int(read.valueReference), read.causality or "local", read.variability or "",
        unit, sizes, derivative, _nominal(read),
    )  # fmt: skip


def _nominal(read: Any) -> float:
    try:
        nominal = abs(float(read.nominal))
    except (AttributeError, TypeError, ValueError):
        return 1.0
    return nominal if 0 < nominal < math.inf else 1.0


def _size(dimension: Any, name: str, file: str) -> int:
    start: Any = dimension.start if dimension.start is not None else getattr(dimension.variable, "start", None)
    try:
        size = int(start)
    except (TypeError, ValueError):
        raise ModelError(f"{file}: the size of {name} is not given", field="file") from None
    if size < 0:
        raise ModelError(f"{file}: {name} has the size {size}", field="file")
    return size


MOST_FILES = 20_000
MOST_BYTES = 2_000_000_000  # of all files together, unpacked
MOST_DESCRIPTION = 200_000_000  # bytes of modelDescription.xml
DESCRIPTION = "modelDescription.xml"
TAKEN = ("binaries/", "resources/")  # what else is unpacked; sources and documentation stay in the archive


class FmuFolder:
    """The unpacked files of one FMU."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = tempfile.mkdtemp(prefix="kinode-fmu-")
        self.remove = weakref.finalize(self, shutil.rmtree, self.place, ignore_errors=True)
        try:
            _unpack(path, self.place)
        except BaseException:
            self.remove()
            raise


def find_digest(path: str) -> str:
    """What tells the content of a file from that of others."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise _fault(path, "cannot be read: it is no ordinary file")
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _fault(path, f"cannot be read: {error.strerror or error}") from None


def _fault(path: str, message: str) -> ModelError:
    return ModelError(f"{os.path.basename(path)} {message}", field="file")


def _unpack(path: str, place: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _check_entries(path, archive)
            for entry in entries:
                archive.extract(entry, place)
    except ModelError:
        raise
    except OSError as error:
        raise _fault(path, f"cannot be unpacked: {error.strerror or error}") from None
    except Exception as error:  # zipfile and what it unpacks with raise many types of errors for damaged files
        raise _fault(path, f"is no FMU, or damaged: {error}") from None
    _refuse_entities(path, Path(place, DESCRIPTION).read_bytes())


def _refuse_entities(path: str, text: bytes) -> None:
    """Refuse a description that declares a document type, in whatever encoding."""

    def refuse(*_: object) -> None:
        raise _fault(path, f"is refused: its {DESCRIPTION} declares entities of its own")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        words = f"its {DESCRIPTION} is not XML: {expat.ErrorString(error.code)}, line {error.lineno}"
        raise _fault(path, f"cannot be read: {words}") from None
    except (LookupError, ValueError) as error:  # an encoding that is unknown, or none of single bytes
        raise _fault(path, f"cannot be read: its {DESCRIPTION} is not XML: {error}") from None


def _check_entries(path: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The entries to unpack, after all of them were looked at."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise _fault(path, f"is refused: it holds {len(entries)} files, and {MOST_FILES} are the most")
    for entry in entries:
        name = entry.orig_filename
        outside = "\\" in name or ":" in name or "\0" in name or ".." in PurePosixPath(name).parts
        if outside or name.startswith("/"):
            raise _fault(path, f"is refused: it holds {name!r}, a path that may lead out of its folder")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _fault(path, f"is refused: {name!r} in it is a link")
    chosen = [entry for entry in entries if entry.filename == DESCRIPTION or entry.filename.startswith(TAKEN)]
    size = sum(entry.file_size for entry in chosen)
    if size > MOST_BYTES:
        raise _fault(path, f"is refused: unpacked it has {size:.1e} bytes, and {MOST_BYTES:.0e} are the most")
    described = [entry for entry in chosen if entry.filename == DESCRIPTION]
    if not described:
        raise _fault(path, f"is no FMU: there is no {DESCRIPTION} in it")
    if described[0].file_size > MOST_DESCRIPTION:
        raise _fault(path, f"is refused: its {DESCRIPTION} is larger than {MOST_DESCRIPTION:.0e} bytes")
    return chosen
