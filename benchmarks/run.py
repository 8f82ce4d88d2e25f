"""``make bench``: run every row, print one table, and put it into the documentation.

    python benchmarks/run.py                  all rows; writes docs/reference/benchmarks.md and README.md
    python benchmarks/run.py --only "UR5.*RK4"  the rows whose text matches; writes nothing
    python benchmarks/run.py --peers          the peers' figures alone; needs no kinode

The exit code is 1 when a row misses what was asked for, or could not be run.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

import calls
import derivatives
import dynamics
import equations
import generated
import measure
import repeated_calls
import simulation
import startup
import stepper

ROOT = Path(__file__).resolve().parent.parent
PAGES = {ROOT / "docs" / "reference" / "benchmarks.md": measure.markdown, ROOT / "README.md": measure.highlights}


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description="kinode side by side with its peers, as ratios.")
    parser.add_argument("--only", default="", help="a regular expression: run the rows it is found in")
    parser.add_argument("--peers", action="store_true", help="time the peers alone")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    files = (dynamics, generated, derivatives, calls, simulation, startup, repeated_calls, stepper, equations)
    rows = [row for file in files for row in file.rows()]
    chosen = [row for row in rows if re.search(options.only, row.work)]
    results = []
    for row in chosen:
        with console.status(row.work):
            results.append(measure.run(row, options.peers))
    console.print(table(results))
    for result in results:
        if result.trouble:
            console.print(f"{result.row.work}: {result.trouble}", style="red", markup=False)
    if chosen == rows and not options.peers:
        for page, write in PAGES.items():
            measure.write_between_markers(page, write(results))
        console.print(f"Written to {' and '.join(str(page.relative_to(ROOT)) for page in PAGES)}.")
    return 1 if any(result.passed is False for result in results) else 0


def table(results: list[measure.Result]) -> Table:
    """The results for the terminal."""
    shown = Table(*measure.HEADINGS, title=measure.machine())
    for result in results:
        style = {True: "green", False: "red", None: ""}[result.passed]
        shown.add_row(*measure.cells(result), style=style)
    return shown


if __name__ == "__main__":
    raise SystemExit(main())
