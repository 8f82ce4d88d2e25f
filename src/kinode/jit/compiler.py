"""Kernels from the cache on disk, or compiled.

``build`` looks into the cache before it makes the program, so nothing is traced if the code is there, and what writes
and compiles text is not imported.
"""

from __future__ import annotations

import os
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.jit import code_cache
from kinode.jit.loading.kernel_symbols import ARGUMENTS
from kinode.jit.loading.loaded_kernel import Machine, load_kernel, provide_shared
from kinode.jit.loading.object_code import find_entry
from kinode.jit.tiers.pending_code import PendingCode
from kinode.jit.tiers.waiting_words import waiting_words
from kinode.paused_collection import paused_collection

if TYPE_CHECKING:
    from kinode.jit.program import Program

TWO_TIER_LINES = 1_000  # lines of LLVM text: from here on level 0 at once, and a higher one in the background
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


class _Draft(NamedTuple):
    """LLVM text of a kernel, what is known about it, and its object code as soon as that is there."""

    about: dict[str, Any]
    text: str
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
        for k, (request, found) in enumerate(zip(requests, known, strict=True)):
            with waiting_words("" if found is not None else request.words):
                drafts.append(None if found is not None else _draft(request, at_once=k + 1 == len(requests)))
    machines = []
    for request, entry, found, draft in zip(requests, entries, known, drafts, strict=True):
        if draft is None:
            assert found is not None
            head, _, code = found.partition(b"\n")
            machines.append(load_kernel(literal_eval(head.decode()), code, request.lanes, request.data))
        else:
            machines.append(_finish(request, entry, draft))
    return machines


def _provide_usual(lanes: int) -> None:
    """Compile or load what most kernels call."""
    from kinode.jit.llvm_code import choose_lanes

    provide_shared("batch", lanes)
    if lanes == 1 and choose_lanes() > 1:
        provide_shared("sincos", 2 * choose_lanes())


def _draft(request: BuildRequest, at_once: bool) -> _Draft:
    """The text of a kernel; its code is made at once, or while the caller goes on."""
    from kinode.jit import program_ir
    from kinode.jit.llvm_code import choose_lanes, choose_level, compile_text, host
    from kinode.jit.program import find_entries, find_named
    from kinode.jit.shared_routines import find_used

    program = request.make_program()
    sizes = {name: int(program.sizes.get(name, 0)) for name in ARGUMENTS}
    routine = None if program.finish is None else program.finish.name
    text = program_ir.write(replace(program, sizes=sizes), request.lanes, choose_lanes(), host().fma)
    shared = find_used(text, {request.lanes, choose_lanes(), 2 * choose_lanes()})
    about = {
        "name": program.name, "sizes": sizes, "reads_z": find_entries(program, "z"),
        "data": find_named(program) if request.data else [], "routine": routine, "shared": shared,
    }  # fmt: skip
    long = TWO_TIER_LINES < text.count("\n") < MOST_LINES
    tiered = long and not program.rare and _is_improved()
    level = 0 if tiered or (long and is_first_tier_alone()) else choose_level(text, program.rare)
    return _Draft(about, text, tiered, PendingCode(lambda: compile_text(text, level), at_once))


def is_first_tier_alone() -> bool:
    """Whether long code stays as it is compiled first: KINODE_TIERS=first, for processes that end soon."""
    return os.environ.get("KINODE_TIERS") == "first"


def _is_improved() -> bool:
    """Whether another process makes better code of long text."""
    from kinode.jit.tiers import better_code

    return better_code.is_wanted()


def _finish(request: BuildRequest, entry: str | None, draft: _Draft) -> Machine:
    """The kernel of a draft, in memory and in the cache."""
    with waiting_words(request.words):
        code = draft.code.wait()
    machine = load_kernel(draft.about, code, request.lanes, request.data)
    head = repr(draft.about)
    if draft.tiered:
        return _improve(machine, draft.text, entry, head, request.data)
    if entry is not None:
        code_cache.save(entry, head.encode() + b"\n" + code)
    return machine


def _improve(
    first: Machine, text: str, entry: str | None, head: str, data: Mapping[str, Sequence[float]] | None
) -> Machine:
    """The kernel with code that is exchanged for better one when that is there."""
    from kinode.jit.tiers import better_code
    from kinode.jit.tiers.exchanged_code import Addresses, ExchangedCode

    exchanged = ExchangedCode(Addresses(first.address, first.batch_address), first.engine)

    def use(code: bytes) -> None:
        if not code:
            return
        better = load_kernel(literal_eval(head), code, first.lanes, data)
        exchanged.exchange(Addresses(better.address, better.batch_address), better.engine)

    better_code.improve(better_code.Request(text, 1, entry, head, use))
    kernel, batch = exchanged.addresses
    return replace(first, address=kernel, batch_address=batch, engine=exchanged)


def compile_program(program: Program, lanes: int) -> Machine:
    """Compile a program without the cache."""
    return build(None, lanes, lambda: program)
