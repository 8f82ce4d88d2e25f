"""Studies as files: NetCDF written whole at the end, a Zarr store while the runs are made.

In a store what is done is kept, and a killed study goes on where it ended.  It has one array for each thing that is
kept, (run, ...), in chunks of runs; ``status`` says how each run ended.  A chunk of results is written first, then its
part of ``status``: a run whose status is not 0 is whole in the store.

What is no result follows from the study: the metadata of all arrays, and a record that says which study it is.  So
these files are written before the first chunk, the record last, and again wherever one is damaged.  A copy of the
record, without the description, is with the array ``status``.  Chunks have checksums; one that is damaged counts as not
run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import locking, write_bytes, write_folder
from kinode.errors import ArgumentError, Error, caller_depth
from kinode.results.run_files import encode_dataset, read_dataset
from kinode.studies.kept_results import Kept
from kinode.studies.study import Study, compose_data
from kinode.studies.worker import FAILURE, NOT_RUN, ChunkResult
from kinode.version import __version__

if TYPE_CHECKING:
    import xarray


FORMAT = "kinode study 1"
MESSAGE_BYTES = 240
"""Bytes of a message in UTF-8 that are stored."""
RECORDS = ("zarr.json", "status/zarr.json")
"""The files with the record and with its copy."""
FILES_NAMED = 3
_DIFFERENCES = {
    "models": "another model", "design": "another design", "keep": "another list of what is kept",
    "fields": "other arguments of the simulation", "kinode": "another version of kinode",
}  # fmt: skip
_UNFINISHED = re.compile(r"((kept_\d+|message|status)/)?(zarr\.json|[^/]*\.partial)")


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise ArgumentError("store: a store needs zarr: pip install 'kinode[cluster]'") from None
    return zarr


class StoredRuns(NamedTuple):
    """What a store has of each run.

    Attributes
    ----------
    status : array
    messages : list of str
    results : list of (text, unit, values)
    damage : str
        Which files are damaged and how many runs were in them; "" where all can be read.
    """

    status: Array
    messages: list[str]
    results: list[tuple[str, str, Array]]
    damage: str


class StudyStore:
    """A study in a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._record: Mapping[str, Any] = {}
        self._arrays: dict[str, Any] = {}
        self._made = 0

    @property
    def exists(self) -> bool:
        """Whether there is something at the path."""
        return self.path.exists()

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """Keep others from making runs in the store while the block runs."""
        target = Path(os.path.realpath(self.path))
        with suppress(OSError):  # whoever writes the store says it
            target.parent.mkdir(parents=True, exist_ok=True)
        with locking(target.with_name(f".{target.name}.lock")) as free:
            if not free:
                cure = "wait until it ends, or choose another name; kn.load reads what is done so far"
                raise Error(f"store: another process makes the runs of the study in {self.path}; {cure}")
            yield

    def find(self, identity: Mapping[str, str]) -> bool:
        """Whether the study was begun here; another study, or anything else that is here, is refused.

        A store that was cut short before it had a record has no runs, and counts as not begun.
        """
        record = self._read_record()
        if record is None:
            if self.exists and not self._is_unfinished():
                raise self._refusal()
            return False
        for key, value in identity.items():
            if record["identity"].get(key) != value:
                difference = f"has {_DIFFERENCES[key]}"
                raise ArgumentError(f"store: the study in {self.path} {difference}; remove it, or choose another name")
        self._record = record
        return True

    def create(
        self, kept: Sequence[Kept], runs: int, chunk: int, identity: Mapping[str, str], description: Mapping[str, Any]
    ) -> None:
        """Write all that is no result, as far as it is not there already, and open the store.

        Parameters
        ----------
        kept : sequence of Kept
        runs : int
        chunk : int
            Runs of a chunk; those of a study that was begun have to stay.
        identity : mapping of str to str
            What must be the same for a study to go on: models, design, what is kept, fields, version.
        description : mapping
            What is needed to open the study again without its models.
        """
        record = {"format": FORMAT, "chunk": chunk, "identity": dict(identity)}
        files = _lay_out(kept, runs, record, json.dumps(description))
        new = {name: contents for name, contents in files.items() if _read_bytes(self.path / name) != contents}
        if new:
            write_folder(self.path, new)
        self.open(writing=True)

    def open(self, *, writing: bool = False) -> None:
        """Open the store of a study that was begun."""
        zarr = _zarr()
        record = self._read_record()
        if record is None:
            if self._is_unfinished():
                cure = "start the same study with this store: no run was in it"
                raise Error(f"{self.path}: the beginning of a study, cut short while it was made; {cure}")
            raise self._refusal()
        self._record = record
        for name, digest in record.get("files", {RECORDS[0]: ""}).items():
            if _digest(_read_bytes(self.path / name) or b"") != digest:
                cure = "start the same study again with this store: that mends it, and no run is lost"
                raise Error(f"{self.path}: {name} is damaged or missing; {cure}")
        with zarr.config.set({"array.write_empty_chunks": True}):  # so that a chunk without a file is lost
            arrays = [name.rpartition("/")[0] for name in record["files"]]
            mode = "r+" if writing else "r"
            self._arrays = {name: zarr.open_array(str(self.path / name), mode=mode) for name in arrays}

    @property
    def chunk(self) -> int:
        """Runs of a chunk."""
        return int(self._record["chunk"])

    @property
    def description(self) -> dict[str, Any]:
        """What describes the study, as it was given when it was begun."""
        described: dict[str, Any] = json.loads(self._record["description"])
        return described

    @property
    def status(self) -> Array:
        """How each run ended."""
        return self._read_array("status", ())[0]

    def read(self) -> StoredRuns:
        """All that the store has; runs of a damaged chunk count as not run."""
        status, broken = self._read_array("status", ())  # first: runs that others make meanwhile count as not run
        damaged = {f"status/c/{k}": k for k in broken}
        made = self._find_chunks(status != NOT_RUN)
        values = {}
        for name, array in self._arrays.items():
            if name == "status":
                continue
            needed = self._find_chunks(status == FAILURE) if name == "message" else made
            values[name], broken = self._read_array(name, needed)
            damaged |= {self._file(array, name, k): k for k in broken}
        lost = np.zeros(len(status), dtype=bool)
        for file, k in damaged.items():
            lost[self._span(k)] = True if file.startswith("status") else status[self._span(k)] != NOT_RUN
        for name, each in values.items():
            each[lost] = self._arrays[name].fill_value
        status[lost] = NOT_RUN
        self._made = int((status != NOT_RUN).sum())
        texts = [row.tobytes().rstrip(b"\0").decode(errors="replace") for row in values.pop("message")]
        attributes = {name: self._arrays[name].attrs for name in values}
        results = [(str(attributes[name]["text"]), str(attributes[name]["unit"]), values[name]) for name in values]
        return StoredRuns(status, texts, results, _describe_damage(list(damaged), int(lost.sum()), len(status)))

    def write(self, kept: Sequence[Kept], result: ChunkResult) -> None:
        """Write a chunk: its results, then that it is done."""
        span = slice(result.first, result.first + len(result))
        try:
            for k, each in enumerate(kept):
                self._arrays[f"kept_{k}"][span] = result.results[each.text]
            if any(result.messages):
                self._arrays["message"][span] = np.stack([_encode(text) for text in result.messages])
            self._arrays["status"][span] = result.status
        except OSError as error:
            stays = f"the {self._made} runs that are in it stay, and the same study goes on with the others"
            raise Error(f"{self.path}: cannot be written: {error.strerror or error}; {stays}") from None
        self._made += int((result.status != NOT_RUN).sum())

    def _read_record(self) -> Mapping[str, Any] | None:
        """The record of the study or, where that is damaged, its copy."""
        for name in RECORDS:
            try:
                attributes = json.loads((self.path / name).read_bytes())["attributes"]
                seal = attributes.pop("seal")
                if attributes["format"] == FORMAT and _seal(attributes)["seal"] == seal:
                    return dict(attributes)
            except PermissionError as error:
                raise Error(f"{self.path}: cannot be read: {error.strerror}") from None
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue
        return None

    def _is_unfinished(self) -> bool:
        """Whether nothing is here but the beginnings of a store."""
        files = [each.relative_to(self.path).as_posix() for each in self.path.rglob("*") if not each.is_dir()]
        return bool(files) and all(map(_UNFINISHED.fullmatch, files))

    def _refusal(self) -> ArgumentError:
        return ArgumentError(f"store: {self.path} holds no study of kinode; remove it, or choose another name")

    def _span(self, k: int) -> slice:
        return slice(k * self.chunk, (k + 1) * self.chunk)

    def _find_chunks(self, runs: Array) -> list[int]:
        """The chunks that have some of these runs."""
        return sorted(set((np.flatnonzero(runs) // self.chunk).tolist()))

    def _file(self, array: Any, name: str, k: int) -> str:
        return "/".join([name, "c", str(k), *["0"] * (array.ndim - 1)])

    def _read_array(self, name: str, needed: Iterable[int]) -> tuple[Array, list[int]]:
        """Values of all runs, and the chunks that cannot be read, or that are needed and not there."""
        array = self._arrays[name]
        broken = {k for k in needed if not (self.path / self._file(array, name, k)).is_file()}
        try:
            return _read(array, slice(None)), sorted(broken)
        except _Unreadable:
            values = np.full(array.shape, array.fill_value, array.dtype)
        for k in range(-(-len(values) // self.chunk)):
            try:
                values[self._span(k)] = _read(array, self._span(k))
            except _Unreadable:
                broken.add(k)
        return values, sorted(broken)


class _Unreadable(Exception):
    """A chunk is damaged."""


def _read(array: Any, span: slice) -> Array:
    try:
        return np.array(array[span])
    except PermissionError as error:
        raise Error(f"{error.filename}: cannot be read: {error.strerror}") from None
    except MemoryError:
        raise
    except Exception as error:  # whatever a codec says of damaged bytes
        raise _Unreadable from error


def _lay_out(kept: Sequence[Kept], runs: int, record: Mapping[str, Any], description: str) -> dict[str, bytes]:
    """The files of a store that are no chunks, the record last."""
    zarr = _zarr()
    files: dict[str, Any] = {}
    group = zarr.open_group(store=zarr.storage.MemoryStore(files), mode="w", zarr_format=3)
    chunk = record["chunk"]

    def add(name: str, inner: Sequence[int], dtype: str, fill: float, attributes: Mapping[str, Any]) -> None:
        group.create_array(
            name, shape=(runs, *inner), chunks=(chunk, *inner), dtype=dtype, fill_value=fill,
            compressors=zarr.codecs.ZstdCodec(level=0, checksum=True), attributes=dict(attributes),
        )  # fmt: skip

    for k, each in enumerate(kept):
        add(f"kept_{k}", each.size, "float64", float("nan"), {"text": each.text, "unit": each.unit})
    add("message", (MESSAGE_BYTES,), "uint8", 0, {})
    add("status", (), "int8", NOT_RUN, _seal(record))
    arrays = {name: contents.to_bytes() for name, contents in files.items() if "/" in name}
    digests = {name: _digest(contents) for name, contents in arrays.items()}
    group.update_attributes(_seal({**record, "files": digests, "description": description}))
    return {**arrays, RECORDS[0]: files[RECORDS[0]].to_bytes()}


def _digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with a digest of it, so that damage is seen."""
    return {**record, "seal": _digest(json.dumps(record, sort_keys=True).encode())}


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _describe_damage(files: Sequence[str], lost: int, runs: int) -> str:
    if not files:
        return ""
    more = f" and {len(files) - FILES_NAMED} more" if len(files) > FILES_NAMED else ""
    verb = "is" if len(files) == 1 else "are"
    return f"{', '.join(files[:FILES_NAMED])}{more} {verb} damaged or missing, with {lost} of {runs} runs"


def _encode(text: str) -> Array:
    """A message as bytes; a long one ends with dots."""
    raw = text.encode()
    if len(raw) > MESSAGE_BYTES:
        raw = raw[: MESSAGE_BYTES - 4].decode(errors="ignore").encode() + b" ..."
    return np.frombuffer(raw.ljust(MESSAGE_BYTES, b"\0"), dtype=np.uint8)


_SLASH = "\u2215"
"""In the place of the slash of an expression, which NetCDF keeps for groups."""


def save_study(study: Study, path: str | os.PathLike[str]) -> None:
    """Write a study to a NetCDF file."""
    data = _rename(study.data, "/", _SLASH)
    data["message"] = data["message"].astype(str)
    data.attrs = {
        "format": FORMAT,
        "kinode_version": __version__,
        "study": json.dumps({"kept": study.kept, "axes": study.axes, "notes": study.notes}),
    }
    write_bytes(path, encode_dataset(data))


def load_study(path: str | os.PathLike[str]) -> Study:
    """A study from a NetCDF file that ``save`` wrote, or from a Zarr store."""
    return _load_store(Path(path)) if os.path.isdir(path) else _load_file(path)


def _load_file(path: str | os.PathLike[str]) -> Study:
    data = read_dataset(path)
    told = _read_description(data.attrs.get("study"))
    if data.attrs.get("format") != FORMAT or "status" not in data or not _lists(told, "kept", "axes"):
        raise Error(f"{path}: is no study of kinode, or one of another version")
    data = _rename(data, _SLASH, "/")
    missing = [name for name in (*told["kept"], *told["axes"]) if name not in data.variables]
    if missing:
        raise Error(f"{path}: has no values for {', '.join(map(str, missing))}")
    data.attrs = {}
    return Study(data, told["kept"], told["axes"], told.get("notes", ()))


def _read_description(text: Any) -> Mapping[str, Any]:
    """What a file says of a study; an empty mapping where it says nothing."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _load_store(path: Path) -> Study:
    store = StudyStore(path)
    store.open()
    stored = store.read()
    study = read_store(store, stored)
    if stored.damage:
        warnings.warn(study.notes[-1], UserWarning, stacklevel=caller_depth())
    return study


def read_store(store: StudyStore, stored: StoredRuns | None = None) -> Study:
    """The study in a store, as far as its runs are made; ``stored`` is what was read of it already."""
    stored = stored or store.read()
    about = store.description
    coordinates = [(str(name), str(unit), str(dim), list(values)) for name, unit, dim, values in about["coordinates"]]
    data = compose_data(
        about["dims"], coordinates, about["times"], stored.results, stored.status, stored.messages
    )  # fmt: skip
    notes = list(about["notes"])
    if stored.damage:
        notes.append(f"{store.path}: {stored.damage}; the same study, started with this store, makes them again")
    return Study(data, [text for text, _, _ in stored.results], [name for name, _, _, _ in coordinates], notes)


def _lists(told: Mapping[str, Any], *keys: str) -> bool:
    return all(isinstance(told.get(key), list) and all(isinstance(text, str) for text in told[key]) for key in keys)


def _rename(data: xarray.Dataset, old: str, new: str) -> xarray.Dataset:
    """The names of variables and dimensions with another sign in the place of one."""
    names = {str(name) for name in (*data.variables, *data.dims)}
    return data.rename({name: name.replace(old, new) for name in names if old in name})
