"""The process that derives: reads tasks from its input, a line of JSON each, and writes what becomes of them."""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from kinode.errors import Error, ModelError
from kinode.formats.editing.checked_text import check_text
from kinode.model.system import System
from kinode.studio.live_pages.message import describe_error
from kinode.studio.panes.derivation_tasks import TASKS, Order
from kinode.studio.studies_pane.study_tasks import STUDY_TASKS

KNOWN = {**TASKS, **STUDY_TASKS}
POLITE = 5  # by how much others come first


def main() -> None:
    """Do tasks until the input ends."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print goes nowhere
    with suppress(AttributeError, OSError):
        os.nice(POLITE)
    warnings.simplefilter("ignore")
    for module in sys.argv[1:]:
        with suppress(ImportError):
            importlib.import_module(module)
    for line in sys.stdin.buffer:
        order = json.loads(line)
        try:
            answer: Any = {"answer": do_task(order, output)}
        except Exception as error:
            answer = {"error": describe_error(error)}
        _write(output, answer)


def do_task(order: dict[str, Any], output: BinaryIO) -> dict[str, Any]:
    """What one task answers."""

    def tell(share: float, words: str = "") -> None:
        _write(output, {"share": share, "words": words})

    def give(part: dict[str, Any]) -> None:
        _write(output, {"part": part})

    if order["task"] not in KNOWN:
        raise Error(f"there is no task {order['task']!r:.40}")
    system = read_system(order["text"], order["place"], order["trust"])
    return KNOWN[order["task"]](Order(system, order["text"], order["fields"], tell, give))


@lru_cache(maxsize=1)
def read_system(text: str, place: str, trust: bool) -> System:
    """The system of a text that is whole; that of the last text is kept."""
    checked = check_text(text, Path(place), trust)
    if not checked.complete:
        problem = checked.problems[0]
        raise ModelError(problem.message, component=problem.component or None, field=problem.field or None)
    return checked.system


def _write(output: BinaryIO, told: dict[str, Any]) -> None:
    output.write(json.dumps(told).encode() + b"\n")
    output.flush()


if __name__ == "__main__":
    main()
