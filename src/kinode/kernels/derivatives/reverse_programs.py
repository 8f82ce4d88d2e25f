"""The derivatives of one number by many, as a program: loop code run backward.

After the program itself its blocks run from the last to the first, and their iterations from last to first.  In each,
the case is swept backward (``tape_sweeps.py``): the sensitivities of what it stored give those of what it loaded.  All
sensitivities are entries of ``work``, one for each entry of the program's arrays that depends on the arguments
(``program_rates.py``).  Operations are computed again from what was loaded; what has been overwritten since is kept in
a log.  So the time is a few times that of the program, whatever the number of columns, and code has the size of a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Tape, Traced, needed, replay
from kinode.jit.program import Block, Program, Store
from kinode.kernels.derivatives.program_rates import MovingEntries, ProgramCase, roll_stores
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_backward

Column = Sequence[tuple[str, int, Scalar]]
"""A direction: rates of arguments by name and position."""
Site = tuple[str, int]
"""A position of a view of a block."""
Views = dict[str, tuple[str, np.ndarray | None]]
LOG = "log"  # the view of what a block has loaded and other code overwrites
RUN = 8  # entries that one iteration clears


def reverse_program(program: Program, columns: Sequence[Column], n_x: int) -> Program:
    """The program whose results are the derivatives of a weighted sum by each of some directions.

    Parameters
    ----------
    program : Program
        It does not read its results, and has no ``finish`` and no vectors.
    columns : sequence
        The directions.
    n_x : int
        Where the weights begin in ``x``; the program itself reads what comes before.
    """
    return Reversal(program, columns, n_x).program()


class Reversal:
    """One program and where its sensitivities are.

    In ``work`` the program itself comes first, then sensitivities of its ``work``, of arguments, then the log.
    ``also`` are entries besides those of the directions on which results depend, by array and position.  ``kept`` are
    results whose values stand behind the derivatives.
    """

    def __init__(self, program: Program, columns: Sequence[Column], n_x: int, also: Sequence[Site] = ()) -> None:
        assert program.finish is None, "the function behind the blocks has no derivative"
        self.source, self.columns, self.n_x = program, columns, n_x
        self.n_results, self.kept = program.sizes["out"], range(0)
        arguments = dict.fromkeys((name, position) for column in columns for name, position, _ in column)
        self.moving = MovingEntries(program, [*arguments, *also])
        n = program.sizes.get("work", 0)
        self.starts, self.size = {"work": n}, 2 * n
        for name in dict.fromkeys(name for name, _ in arguments):
            self.starts[name], self.size = self.size, self.size + program.sizes[name]
        self.cleared = range(n, self.size)
        self.last_write, self.writes = self._find_writes(n)

    def _find_writes(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """When each entry of ``work`` is written for the last time, in iterations of all blocks, and how often."""
        last, count, start = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64), 0
        results = np.zeros(self.source.sizes["out"], dtype=np.int64)
        for block, cases in zip(self.source.blocks, self.moving.cases, strict=True):
            for case in cases:
                times = _times(case, start)
                for view, position, _ in case.stores:
                    array, entries = case.entries(view, position)
                    if array == "work":
                        np.maximum.at(last, entries, times)
                    np.add.at(count if array == "work" else results, entries, 1)
            start += block.count
        assert results.max(initial=0) <= 1, "a result is stored twice"
        return last, count

    def program(self) -> Program:
        """The whole program."""
        forward, backward = self.run_both_ways()
        return self.joined([*forward, *self.clear(), *reversed(backward), *self.results()], self.source.constants)

    def run_both_ways(self) -> tuple[list[Block], list[Block]]:
        """The blocks of the program, which fill the log, and for each the block that runs it backward."""
        forward: list[Block] = []
        backward: list[Block] = []
        start = 0
        for block, cases in zip(self.source.blocks, self.moving.cases, strict=True):
            reverse = _ReverseBlock(self, block, start)
            backward.append(reverse.block(cases))
            logging = replace(block, views={**block.views, **reverse.log_views})
            forward.append(_with_kept(logging, reverse.logs, self.kept, len(self.columns)))
            start += block.count
        return forward, backward

    def joined(self, blocks: Sequence[Block], constants: Mapping[str, np.ndarray]) -> Program:
        """The program of some blocks."""
        kept = [block for block in blocks if any(block.cases)]
        sizes = {**self.source.sizes, "x": self.n_x + self.n_results, "work": self.size}
        sizes["out"] = len(self.columns) + len(self.kept)
        return Program(self.source.name, sizes, constants, kept, self.source.rare)

    def seed(self, position: int) -> Site:
        """The array of the sensitivity of a result, and how far behind the result's position it stands there."""
        return "x", self.n_x

    def clear(self) -> Iterator[Block]:
        """All sensitivities become zero."""
        whole, rest = divmod(len(self.cleared), RUN)
        for start, count, step in ((self.cleared.start, whole, RUN), (self.cleared.stop - rest, rest, 1)):
            if count:
                offsets = start + step * np.arange(count, dtype=np.int64)
                yield Block(count, {"a": ("work", offsets)}, [[("a", k, 0.0) for k in range(step)]])

    def results(self) -> Iterator[Block]:
        """The products of directions and sensitivities."""
        stores: list[Store] = []
        for k, column in enumerate(self.columns):
            total: Scalar = 0.0
            for name, position, rate in column:
                tape = rate.tape if type(rate) is Traced else Tape()
                total = total + rate * tape.input("work", self.starts[name] + position)
            stores.append(("out", k, total))
        return roll_stores(stores)

    def allocate(self, count: int) -> int:
        """The index of the first of new entries of ``work``."""
        start, self.size = self.size, self.size + count
        return start


class _ReverseBlock:
    """The block that runs another one backward; ``logs`` are the stores that each case of that one has to add."""

    def __init__(self, whole: Reversal, block: Block, start: int) -> None:
        self.whole, self.source, self.start = whole, block, start
        self.views: Views = {}
        self.log_views: Views = {}
        self.logs: list[list[Store]] = []

    def block(self, cases: Sequence[ProgramCase]) -> Block:
        """The block; a case becomes several if the entries of its iterations coincide in different ways."""
        count = self.source.count
        case_of, stores = np.zeros(count, dtype=np.int64), list[list[Store]]()
        for case in cases:
            self.logs.append([])
            iterations = np.arange(count) if case.iterations is None else case.iterations
            for members, same in self._patterns(case, len(iterations)):
                case_of[iterations[members]] = len(stores)
                stores.append(self._stores(case, same))
        self._allocate_log()
        views = {
            name: self._reversed(view) for name, view in {**self.source.views, **self.views, **self.log_views}.items()
        }
        return Block(count, views, stores or [[]], case_of[::-1].copy() if len(stores) > 1 else None)

    @staticmethod
    def _reversed(view: tuple[str, np.ndarray | None]) -> tuple[str, np.ndarray | None]:
        array, offsets = view
        return array, None if offsets is None else offsets[::-1].copy()

    def _sites(self, case: ProgramCase) -> list[Site]:
        """Where a case loads or stores numbers that have sensitivities in ``work``."""
        sites = [node.args for node in case.loads] + [(view, position) for view, position, _ in case.stores]
        return [
            site for site in dict.fromkeys(sites)
            if self.source.view(site[0])[0] != "out" and self.whole.moving.is_marked(case.entries(*site))
        ]  # fmt: skip

    def _patterns(self, case: ProgramCase, count: int) -> Iterator[tuple[np.ndarray, dict[Site, Site]]]:
        """Iterations with, for each site, the first one that is the same entry in these iterations."""
        sites = self._sites(case)
        if not sites:
            yield np.arange(count), {}
            return
        places = np.empty((count, len(sites)), dtype=np.int64)
        for k, site in enumerate(sites):
            array, entries = case.entries(*site)
            places[:, k] = self.whole.starts[array] + entries
        order = np.argsort(places, axis=1, kind="stable")
        ordered = np.take_along_axis(places, order, axis=1)
        heads = np.where(np.diff(ordered, axis=1, prepend=-1) != 0, np.arange(len(sites)), 0)
        heads = np.take_along_axis(order, np.maximum.accumulate(heads, axis=1), axis=1)
        first = np.empty_like(heads)
        np.put_along_axis(first, order, heads, axis=1)
        patterns, number = np.unique(first, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            members = np.flatnonzero(number.ravel() == k)
            yield members, {site: sites[j] for site, j in zip(sites, pattern.tolist(), strict=True)}

    def _stores(self, case: ProgramCase, same: dict[Site, Site]) -> list[Store]:
        """The stores of sensitivities; ``same`` has one site for each entry."""
        tape = Tape()
        values = self._recomputed(case, tape)
        written: dict[Site, Scalar] = {}  # what is stored last in an entry
        results: dict[Site, Scalar] = {}
        for (view, position, _), value in zip(case.stores, values, strict=True):
            if self.source.view(view)[0] == "out":
                results[view, position] = value
            elif (view, position) in same:
                written[same[view, position]] = value
        seeds: dict[int, Scalar] = {}
        for site, value in [*results.items(), *written.items()]:
            if type(value) is Traced:
                seeds[value.index] = seeds.get(value.index, 0.0) + tape.input(*self._sensitivity(*site))
        found = sweep_backward(needed([*results.values(), *written.values()]), seeds, NO_VALUES)
        totals: dict[Site, Scalar] = {site: 0.0 for site in written if self._is_written_again(case, site)}
        for node in case.loads:
            if node.args in same:
                site, own = same[node.args], found.get(tape.input(*self._seen[node.args]).index, 0.0)
                before = totals.get(site, 0.0 if site in written else tape.input(*self._sensitivity(*site)))
                totals[site] = before + own
        self._keep_logs(case, totals.values())
        return [(*self._sensitivity(*site), total) for site, total in totals.items()]

    def _is_written_again(self, case: ProgramCase, site: Site) -> bool:
        """Whether an entry has other values before, whose sensitivities are not those of this one."""
        array, entries = case.entries(*site)
        return array == "work" and bool((self.whole.writes[entries] > 1).any())

    def _sensitivity(self, view: str, position: int) -> Site:
        """The site of the sensitivity of an entry."""
        array, offsets = self.source.view(view)
        if array == "out":
            at, start = self.whole.seed(position + (0 if offsets is None else int(offsets[0])))
        else:
            at, start = "work", self.whole.starts[array]
        if offsets is None:
            return at, start + position
        name = f"{view} back"
        self.views.setdefault(name, (at, offsets + start))
        return name, position

    # -- what was loaded ---------------------------------------------------------------------------
    def _recomputed(self, case: ProgramCase, tape: Tape) -> list[Scalar]:
        """The values of all stores on another tape, from the log where what was loaded is overwritten later."""
        self._seen: dict[Site, Site] = {}
        times, n_logged = _times(case, self.start), 0
        for node in case.loads:
            array, entries = case.entries(*node.args)
            if array == "work" and bool((self.whole.last_write[entries] >= times).any()):
                self._seen[node.args] = LOG, n_logged
                n_logged += 1
            else:
                self._seen[node.args] = node.args
        inputs: dict[Site, Scalar] = {site: tape.input(*seen) for site, seen in self._seen.items()}
        return replay([value for _, _, value in case.stores], inputs)

    def _keep_logs(self, case: ProgramCase, values: Iterable[Scalar]) -> None:
        """Add the stores that fill the log as far as the values read it."""
        used = {node.args for node in needed(values) if node.op == "input"}
        for node in case.loads:
            seen = self._seen[node.args]
            if seen[0] == LOG and seen in used and (*seen, node) not in self.logs[-1]:
                self.logs[-1].append((*seen, node))

    def _allocate_log(self) -> None:
        """Allocate the log: a row for each iteration."""
        width = max((slot + 1 for stores in self.logs for _, slot, _ in stores), default=0)
        rows = self.whole.allocate(width * self.source.count) + width * np.arange(self.source.count, dtype=np.int64)
        self.log_views = {LOG: ("work", rows)} if width else {}


def _times(case: ProgramCase, start: int) -> np.ndarray:
    """The iterations of a case, counted over all blocks; those of this one begin at ``start``."""
    return start + (np.arange(case.block.count) if case.iterations is None else case.iterations)


def _with_kept(block: Block, logs: Sequence[Sequence[Store]], kept: range, start: int) -> Block:
    """A block that stores what the log keeps and, of the results, those that are ``kept``, from ``start`` on."""
    views, cases = dict(block.views), list[list[Store]]()
    for stores, own in zip(block.cases, logs, strict=True):
        cases.append([])
        for view, position, value in stores:
            array, offsets = block.view(view)
            if array != "out":
                cases[-1].append((view, position, value))
            elif position + (0 if offsets is None else int(offsets[0])) in kept:
                moved = "out" if offsets is None else f"{view} kept"
                if offsets is not None:
                    views[moved] = "out", offsets + start - kept.start
                cases[-1].append((moved, position + (start - kept.start if offsets is None else 0), value))
        cases[-1] += own
    return replace(block, views=views, cases=cases)
