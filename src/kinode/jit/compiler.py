"""Kernels from the cache on disk, or compiled.

``build`` looks into the cache before it makes the program, so nothing is traced if the code is there, and what writes
and compiles text is not imported.  Long code is compiled with low effort at once, and with higher effort by another
process (``tiers``).
"""

from __future__ import annotations

import os
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.jit import code_cache
from kinode.jit.machine_code import ARGUMENTS, Machine, find_entry, load_kernel, provide_shared
from kinode.jit.tiers.pending_code import PendingCode
from kinode.jit.tiers.waiting_words import waiting_words
from kinode.paused_collection import paused_collection

if TYPE_CHECKING:
    from kinode.jit.program import Program
    from kinode.jit.tiers.better_code import Wanted

TWO_TIER_LINES = 500  # lines of LLVM text: from here on level 0 at once, and a higher one in the background
MOST_LINES = 250_000  # for which the higher level is tried


class BuildRequest(NamedTuple):
    """A kernel that is wanted.

    The key contains everything that the program depends on, except this package's source, the host and LLVM, which are
    added here.  Without a key nothing is cached.  ``data`` are the numbers of exchangeable tables, which are filled in;
    ``words`` say what it is, for a message.
    """

    key: str | None
    lanes: int
    make_program: Callable[[], Program]
    data: Mapping[str, Sequence[float]] | None = None
    words: str = ""

    @property
    def entry(self) -> str | None:
        """The entry of the cache."""
        first = "first tier of " if is_first_tier_alone() else ""
        return find_entry(None if self.key is None else f"{first}kernel {self.lanes} {self.key}")


class KernelText(NamedTuple):
    """LLVM text of a kernel, and what is known about it."""

    about: dict[str, Any]
    text: str

    @property
    def lines(self) -> int:
        """The length of the text."""
        return self.text.count("\n")

    def entry_of(self, code: bytes) -> bytes:
        """What the cache keeps of its object code."""
        return repr(self.about).encode() + b"\n" + code


class _Draft(NamedTuple):
    """A kernel as text, and its object code as soon as that is there."""

    written: KernelText
    tiered: bool
    code: PendingCode[bytes]


def build(
    key: str | None, lanes: int, make_program: Callable[[], Program],
    data: Mapping[str, Sequence[float]] | None = None, words: str = "",
) -> Machine:  # fmt: skip
    """The kernel that ``key`` identifies: from the cache, or compiled from ``make_program()``."""
    return build_several([BuildRequest(key, lanes, make_program, data, words)])[0]


def build_several(requests: Sequence[BuildRequest]) -> list[Machine]:
    """Kernels from the cache, or compiled: while LLVM compiles one, the program of the next is made.

    Long code comes in two tiers (``tiers``): of low effort at once, of high effort when it is there.
    """
    entries = [request.entry for request in requests]
    known = [None if entry is None else code_cache.load(entry) for entry in entries]
    drafts: list[_Draft | None] = []
    if any(found is None for found in known):  # LLVM begins with what every kernel needs, beside the first program
        PendingCode(lambda: _provide_usual(requests[0].lanes), at_once=False)
    with paused_collection():
        for k, (request, entry, found) in enumerate(zip(requests, entries, known, strict=True)):
            with waiting_words("" if found is not None else request.words):
                drafts.append(None if found is not None else _draft(request, entry, at_once=k + 1 == len(requests)))
    machines = []
    for request, entry, found, draft in zip(requests, entries, known, drafts, strict=True):
        if draft is None:
            assert found is not None
            machines.append(_load(found, request))
        else:
            machines.append(_finish(request, entry, draft))
    return machines


def _load(kept: bytes, request: BuildRequest) -> Machine:
    """The kernel of an entry of the cache."""
    head, _, code = kept.partition(b"\n")
    return load_kernel(literal_eval(head.decode()), code, request.lanes, request.data)


def _provide_usual(lanes: int) -> None:
    """Compile or load what most kernels call."""
    from kinode.jit.llvm_code import choose_lanes
    from kinode.jit.tiers.better_code import is_wanted

    provide_shared("batch", lanes)
    if lanes == 1 and choose_lanes() > 1:
        provide_shared("sincos", 2 * choose_lanes())
    if lanes == 1 and is_wanted(find_entry("")):
        from kinode.jit.tiers.exchanged_code import find_jumps

        find_jumps()


def _draft(request: BuildRequest, entry: str | None, at_once: bool) -> _Draft:
    """A kernel as text; its code is made at once, or while the caller goes on."""
    from kinode.jit.llvm_code import choose_level, compile_text
    from kinode.jit.tiers.better_code import is_wanted

    program = request.make_program()
    written = write_kernel(program, request.lanes, bool(request.data))
    text, long = written.text, TWO_TIER_LINES < written.lines < MOST_LINES
    tiered = long and not program.rare and is_wanted(entry)
    level = 0 if tiered or (long and is_first_tier_alone()) else choose_level(text, program.rare)
    return _Draft(written, tiered, PendingCode(lambda: compile_text(text, level), at_once))


def write_kernel(program: Program, lanes: int, has_data: bool = False) -> KernelText:
    """The text of a program; ``has_data``: whether numbers of tables are filled in."""
    from kinode.jit import llvm_program
    from kinode.jit.llvm_code import choose_lanes, host
    from kinode.jit.program import find_entries, find_named
    from kinode.jit.shared_routines import find_used

    sizes = {name: int(program.sizes.get(name, 0)) for name in ARGUMENTS}
    text = llvm_program.write(replace(program, sizes=sizes), lanes, choose_lanes(), host().fma)
    about = {
        "name": program.name, "sizes": sizes,
        "reads_z": find_entries(program, "z"), "reads_p": find_entries(program, "p"),
        "data": find_named(program) if has_data else [],
        "routine": None if program.finish is None else program.finish.name,
        "shared": find_used(text, {lanes, choose_lanes(), 2 * choose_lanes()}),
    }  # fmt: skip
    return KernelText(about, text)


def is_first_tier_alone() -> bool:
    """Whether long code stays as it is compiled first: KINODE_TIERS=first, for processes that end soon."""
    return os.environ.get("KINODE_TIERS") == "first"


def _finish(request: BuildRequest, entry: str | None, draft: _Draft) -> Machine:
    """The kernel of a text, in memory and in the cache."""
    from kinode.jit.tiers.better_code import Wanted

    with waiting_words(request.words):
        code = draft.code.wait()
    written = draft.written
    machine = load_kernel(written.about, code, request.lanes, request.data)
    if entry is not None and draft.tiered:
        return _improve(machine, request, Wanted(entry, written.entry_of(b""), written.text, 1))
    if entry is not None:
        code_cache.save(entry, written.entry_of(code))
    return machine


def _improve(first: Machine, request: BuildRequest, wanted: Wanted) -> Machine:
    """The kernel with code that is exchanged for better one when that is there."""
    from kinode.jit.tiers.better_code import improve
    from kinode.jit.tiers.exchanged_code import Addresses, ExchangedCode

    exchanged = ExchangedCode(Addresses(first.address, first.batch_address), first.engine)

    def use(kept: bytes) -> None:
        better = _load(kept, request)
        exchanged.exchange(Addresses(better.address, better.batch_address), better.engine)

    improve(wanted, use)
    kernel, batch = exchanged.addresses
    return replace(first, address=kernel, batch_address=batch, engine=exchanged)


def compile_program(program: Program, lanes: int) -> Machine:
    """Compile a program without the cache."""
    return build(None, lanes, lambda: program)
