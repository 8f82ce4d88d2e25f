"""A study in a Zarr store: what is done is kept, and a killed study goes on where it ended.

The store has one array for each thing that is kept, (run, ...), in chunks of runs; ``status`` says how each run ended.
A chunk of results is written first, then its part of ``status``: a run whose status is not 0 is whole in the store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, Error
from kinode.tasks.batches.reducers import Kept
from kinode.tasks.studies.study_chunks import NOT_RUN, ChunkResult

FORMAT = "kinode study 1"
MESSAGE_BYTES = 240
"""Bytes of a message in UTF-8 that are stored."""
_TOLD = {
    "models": "another model", "design": "another design", "keep": "another list of what is kept",
    "fields": "other arguments of the simulation", "kinode": "another version of kinode",
}  # fmt: skip


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise ArgumentError("store: a store needs zarr: pip install 'kinode[cluster]'") from None
    return zarr


class StudyStore:
    """An open store.

    Parameters
    ----------
    path : path
    identity : mapping of str to str
        What must be the same for a study to go on: models, design, what is kept, fields, version.
    description : mapping
        What is needed to open the study again without its models.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._group: Any = None

    @property
    def exists(self) -> bool:
        """Whether there is something at the path."""
        return self.path.exists()

    def create(
        self, kept: Sequence[Kept], runs: int, chunk: int, identity: Mapping[str, str], description: Mapping[str, Any]
    ) -> None:
        """Begin a store; its chunks are so many runs."""
        zarr = _zarr()
        try:
            group = zarr.open_group(store=str(self.path), mode="w-")
            for k, each in enumerate(kept):
                group.create_array(
                    f"kept_{k}", shape=(runs, *each.size), chunks=(chunk, *each.size), dtype="float64",
                    fill_value=float("nan"), attributes={"text": each.text, "unit": each.unit},
                )  # fmt: skip
            group.create_array(
                "message", shape=(runs, MESSAGE_BYTES), chunks=(chunk, MESSAGE_BYTES), dtype="uint8", fill_value=0
            )
            group.create_array("status", shape=(runs,), chunks=(chunk,), dtype="int8", fill_value=NOT_RUN)
            told = {
                "format": FORMAT,
                "chunk": chunk,
                "identity": dict(identity),
                "description": json.dumps(description),
            }
            group.attrs.update(told)  # last: a store without them is no study
        except OSError as error:
            raise Error(f"{self.path}: cannot be written: {error.strerror or error}") from None
        self._group = group

    def open(self, identity: Mapping[str, str] | None = None) -> None:
        """Open a store that is there; with an identity, one of another study is refused."""
        zarr = _zarr()
        try:
            group = zarr.open_group(store=str(self.path), mode="r+" if identity is not None else "r")
        except (OSError, ValueError, KeyError) as error:
            raise ArgumentError(f"store: {self.path} holds no study: {error}") from None
        if group.attrs.get("format") != FORMAT:
            raise ArgumentError(f"store: {self.path} holds no study of kinode; remove it, or choose another name")
        stored = group.attrs.get("identity", {})
        for key, value in (identity or {}).items():
            if stored.get(key) != value:
                told = f"has {_TOLD[key]}"
                raise ArgumentError(f"store: the study in {self.path} {told}; remove it, or choose another name")
        self._group = group

    @property
    def chunk(self) -> int:
        """Runs of a chunk."""
        return int(self._group.attrs["chunk"])

    @property
    def description(self) -> dict[str, Any]:
        """What was said of the study when it was begun."""
        described: dict[str, Any] = json.loads(self._group.attrs["description"])
        return described

    @property
    def status(self) -> Array:
        """How each run ended."""
        return np.asarray(self._group["status"][:])

    @property
    def messages(self) -> list[str]:
        """How each run ended, in words."""
        rows = np.asarray(self._group["message"][:])
        return [row.tobytes().rstrip(b"\0").decode(errors="replace") for row in rows]

    def results(self) -> Iterator[tuple[str, str, Array]]:
        """Text, unit and values of all that is kept."""
        for k in range(sum(name.startswith("kept_") for name in self._group.array_keys())):
            array = self._group[f"kept_{k}"]
            yield str(array.attrs["text"]), str(array.attrs["unit"]), np.asarray(array[:])

    def write(self, kept: Sequence[Kept], result: ChunkResult) -> None:
        """Write a chunk: its results, then that it is done."""
        span = slice(result.first, result.first + len(result))
        try:
            for k, each in enumerate(kept):
                self._group[f"kept_{k}"][span] = result.results[each.text]
            if any(result.messages):
                self._group["message"][span] = np.stack([_encode(text) for text in result.messages])
            self._group["status"][span] = result.status
        except OSError as error:
            raise Error(f"{self.path}: cannot be written: {error.strerror or error}") from None


def _encode(text: str) -> Array:
    """A message as bytes; a long one ends with dots."""
    raw = text.encode()
    if len(raw) > MESSAGE_BYTES:
        raw = raw[: MESSAGE_BYTES - 4].decode(errors="ignore").encode() + b" ..."
    return np.frombuffer(raw.ljust(MESSAGE_BYTES, b"\0"), dtype=np.uint8)
