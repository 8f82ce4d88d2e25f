"""``run.to_mat``: a run for MATLAB and Octave, as one struct for each component.

``t`` are the times; ``elbow.q`` and ``elbow.reaction_force`` are matrices with a row for each time.  The structs
``units`` and ``names`` have the same fields with the unit and the name in kinode; ``run`` says what run it is.  The
files have version 5, in which a variable has less than 2 GB.
"""

from __future__ import annotations

import io
import keyword
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.atomic_files import write_bytes
from kinode.errors import ArgumentError
from kinode.results.written_tables.written_columns import by_component, chosen_names, facts_of, values_of

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

LONGEST_NAME = 63
LARGEST = 2**31 - 2**20  # bytes of a variable
RESERVED = ("t", "units", "names", "run")
MATLAB_WORDS = frozenset(
    [
        "break",
        "case",
        "catch",
        "classdef",
        "continue",
        "else",
        "elseif",
        "end",
        "for",
        "function",
        "global",
        "if",
        "otherwise",
        "parfor",
        "persistent",
        "return",
        "spmd",
        "switch",
        "try",
        "while",
        "ans",
        "inf",
        "nan",
        "pi",
        "eps",
    ]
)


def to_mat(run: Trajectory, path: str | os.PathLike[str], names: Iterable[str] | None) -> None:
    """Write quantities over time as a MAT file; what does not fit one is refused."""
    from scipy.io import savemat

    if not os.fspath(path).lower().endswith(".mat"):
        raise ArgumentError(f"to_mat: the name of the file ends with .mat, not {os.path.basename(path)!r}")
    listed = chosen_names(run, names)
    values = run.evaluate(listed)
    data: dict[str, Any] = {"t": run.t.reshape(-1, 1), "run": _facts(run), "units": {"t": "s"}, "names": {"t": "t"}}
    variables = set(RESERVED)
    for component, own in by_component(run, listed).items():
        variable, fields = matlab_name(component, variables), set[str]()
        data[variable] = struct = dict[str, Any]()
        data["units"][variable], data["names"][variable] = units, known = dict[str, str](), dict[str, str]()
        for name in own:
            short = name.removeprefix(f"{component}.").replace("@", "_in_")
            field = matlab_name(short, fields)
            struct[field] = _matrix(values[name])
            unit = run.units(name)
            units[field], known[field] = unit if isinstance(unit, str) else ", ".join(unit), name
        if sum(array.nbytes for array in struct.values()) > LARGEST:
            raise ArgumentError(f"to_mat: {component} has more than the 2 GB of a variable; keep fewer times")
    buffer = io.BytesIO()
    savemat(buffer, data, long_field_names=True, oned_as="column", do_compression=True)
    write_bytes(path, buffer.getvalue())


def _matrix(values: Any) -> Any:
    """A row for each time; a matrix at each time is a page of (time, row, column)."""
    array = np.asarray(values, dtype=float)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _facts(run: Trajectory) -> dict[str, Any]:
    taken: set[str] = set()
    facts: dict[str, Any] = {matlab_name(key, taken): value for key, value in facts_of(run).items()}
    for word, entries in values_of(run).items():
        fields: set[str] = set()
        facts[word] = {matlab_name(name, fields): value for name, value, _ in entries}
    return {key: value for key, value in facts.items() if value != {}}


def matlab_name(text: str, taken: set[str]) -> str:
    """A name that MATLAB takes, no two alike: letters, digits and underscores, beginning with a letter."""
    words = "".join(x if x.isascii() and x.isalnum() else " " for x in text).split()
    plain = "_".join(words) or "x"
    if not plain[0].isalpha() or plain in MATLAB_WORDS or keyword.iskeyword(plain):
        plain = f"x_{plain}"
    plain = plain[:LONGEST_NAME]
    name, count = plain, 1
    while name in taken:
        count += 1
        end = f"_{count}"
        name = plain[: LONGEST_NAME - len(end)] + end
    taken.add(name)
    return name
