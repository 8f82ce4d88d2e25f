"""Compiles LLVM text to machine code in this process.

Code is generated for the CPU of this host.  Straight-line code is not optimized first: the passes take time and gain
nothing.  ``build`` looks into the cache on disk before it makes the program, so nothing is traced if the code is there.
llvmlite is imported when the first kernel is compiled or loaded.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache as remember
from functools import cached_property
from typing import Any, NamedTuple

from kinode.jit import code_cache, program_ir, shared_routines
from kinode.jit.kernel_text.case_writer import LIBRARY
from kinode.jit.program import ARGUMENTS, Program, find_entries, find_named, global_name, routine_symbol
from kinode.jit.tiers import better_code
from kinode.jit.tiers.pending_code import PendingCode, once
from kinode.jit.tiers.waiting_words import waiting_words
from kinode.paused_collection import paused_collection
from kinode.records import dataclass

LEVEL_1_LINES = 1_500  # of LLVM text: from here on level 1 of the code generator; same speed, less time to compile
LEVEL_0_LINES = 50_000  # from here on level 0: a tenth of the time to compile, and code that runs 1.5 times as long
TWO_TIER_LINES = 3_000  # from here on level 0 at once, and a higher one in the background
MOST_LINES = 250_000  # for which the higher level is tried


@dataclass(frozen=True)
class Machine:
    """A kernel in memory: its address, that of its batch driver, and the sizes of its arguments in doubles.

    ``engine`` owns the code, which lives as long as the engine does.
    """

    name: str
    address: int
    batch_address: int
    lanes: int
    sizes: Mapping[str, int]
    engine: Any = field(repr=False, compare=False)
    reads_z: Sequence[int] | None = None
    """The entries of z that it reads; None for loop code, where they are not determined."""

    @property
    def work_size(self) -> int:
        """Doubles of ``work`` that a call of the kernel needs."""
        return self.sizes["work"] * self.lanes

    @cached_property
    def batch_work_size(self) -> int:
        """Doubles of ``work`` that a call of the batch driver needs."""
        return shared_routines.batch_work(self.sizes, self.lanes)


class Host(NamedTuple):
    """The computer, as LLVM describes it."""

    triple: str
    cpu: str
    features: str
    version: str

    def has(self, feature: str) -> bool:
        """Whether the CPU has a feature, by LLVM's name."""
        return f"+{feature}" in self.features.split(",")

    @property
    def fma(self) -> bool:
        """Whether products and sums are fused in hardware."""
        return self.has("fma") or self.arm

    @property
    def arm(self) -> bool:
        """Whether it is a 64-bit ARM processor; all of these have fused multiply-add."""
        return self.triple.startswith(("arm64", "aarch64"))


@remember
def host() -> Host:
    """The description of this computer, made once."""
    import llvmlite
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # a host that LLVM cannot describe gets generic code
        features = ""
    version = f"llvmlite {llvmlite.__version__} LLVM {binding.llvm_version_info}"
    return Host(binding.get_default_triple(), binding.get_host_cpu_name(), features, version)


@remember
def choose_lanes() -> int:
    """The number of lanes that is fastest on this host: four with AVX2 and on ARM (two vectors of two), else one."""
    wide = host().has("avx2") or host().arm
    return 4 if wide and host().fma else 1


def _target(level: int) -> Any:
    import llvmlite.binding as binding

    here = host()
    target = binding.Target.from_triple(here.triple)
    return target.create_target_machine(cpu=here.cpu, features=here.features, opt=level, jit=True)


def _optimize(module: Any, target: Any) -> None:
    """Run the passes that speed up loop code: inlining, variables into registers, simplification.

    LLVM's standard pipeline takes three times as long and gives code of the same speed, because ``vectorizer.py`` has
    already written the vector operations.
    """
    import llvmlite.binding as binding

    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, binding.create_pass_builder(target, binding.create_pipeline_tuning_options()))


def choose_level(text: str, rare: bool = False) -> int:
    """The optimization level of the code generator for straight-line code, 0 to 2."""
    lines = text.count("\n")
    return 0 if rare or lines > LEVEL_0_LINES else 1 if lines > LEVEL_1_LINES else 2


def compile_text(text: str, level: int | None = None, optimize: bool = False) -> bytes:
    """Object code of LLVM text for this host; ``optimize`` is for code with loops and calls."""
    import llvmlite.binding as binding

    host()
    if level is None:
        level = 2 if optimize else choose_level(text)
    module = binding.parse_assembly(text)
    target = _target(level)
    if optimize:
        _optimize(module, target)
    return bytes(target.emit_object(module))


@once
def _provide_library() -> None:
    """Register the functions of the C library that LLVM does not know by name."""
    import ctypes

    import llvmlite.binding as binding

    names = [*LIBRARY, "floor", "fma"]
    missing = [name for name in names if not binding.address_of_symbol(name)]
    if not missing:
        return
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)  # None: Python's own process
    if not all(hasattr(library, name) for name in missing):
        import ctypes.util

        library = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in missing:
        function = getattr(library, name, None)
        if function is not None:
            binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


@once
def _provide_shared(routine: str, lanes: int) -> Any:
    """Register a shared routine for a number of lanes by name, and return the engine that owns it."""
    import llvmlite.binding as binding

    name = getattr(shared_routines.names(lanes), routine)
    engine = load_object(keep(name, lambda: compile_text(shared_routines.shared(routine, lanes, host().fma))))
    binding.add_symbol(name, engine.get_function_address(name))
    return engine


@once
def _provide_routine(name: str) -> Any:
    """Register a function of the loop language, given by module and name, and return the engine that owns it."""
    from importlib import import_module

    import llvmlite.binding as binding

    module, _, function = name.partition(":")
    symbol = routine_symbol(name)

    def make() -> bytes:
        from kinode.jit.translator import translate

        return compile_text(translate(getattr(import_module(module), function), symbol), optimize=True)

    engine = load_object(keep(f"routine {name}", make))
    binding.add_symbol(symbol, engine.get_function_address(symbol))
    return engine


def load_object(code: bytes) -> Any:
    """Load object code into memory; returns the engine that owns it."""
    import llvmlite.binding as binding

    host()
    _provide_library()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target(1))
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def find_entry(key: str | None) -> str | None:
    """The entry of the cache for a key, this package's source, the host and LLVM; None if nothing is cached."""
    here = host()
    return None if key is None else code_cache.digest(key, here.version, here.triple, here.cpu, here.features)


def keep(key: str | None, make: Callable[[], bytes], words: str = "") -> bytes:
    """The bytes that are cached for a key, this package's source, the host and LLVM; else those of ``make()``.

    Without a key nothing is cached.  ``words`` say what is made, for a person who waits.
    """
    entry = find_entry(key)
    code = None if entry is None else code_cache.load(entry)
    if code is None:
        with waiting_words(words):
            code = make()
        if entry is not None:
            code_cache.save(entry, code)
    return code


def _fill_in(engine: Any, data: Mapping[str, Sequence[float]]) -> None:
    """Write the numbers of exchangeable tables into the memory of an engine."""
    import ctypes

    for name, numbers in data.items():
        array = (ctypes.c_double * len(numbers))(*numbers)
        ctypes.memmove(engine.get_global_value_address(global_name(name)), array, ctypes.sizeof(array))


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
        return find_entry(None if self.key is None else f"kernel {self.lanes} {self.key}")


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
        PendingCode(lambda: _provide_shared("batch", requests[0].lanes), at_once=False)
    with paused_collection():
        for k, (request, found) in enumerate(zip(requests, known, strict=True)):
            with waiting_words("" if found is not None else request.words):
                drafts.append(None if found is not None else _draft(request, at_once=k + 1 == len(requests)))
    machines = []
    for request, entry, found, draft in zip(requests, entries, known, drafts, strict=True):
        if draft is None:
            assert found is not None
            head, _, code = found.partition(b"\n")
            machines.append(_load(json.loads(head), code, request.lanes, request.data))
        else:
            machines.append(_finish(request, entry, draft))
    return machines


def _draft(request: BuildRequest, at_once: bool) -> _Draft:
    """The text of a kernel; its code is made at once, or while the caller goes on."""
    program = request.make_program()
    sizes = {name: int(program.sizes.get(name, 0)) for name in ARGUMENTS}
    routine = None if program.finish is None else program.finish.name
    text = program_ir.write(replace(program, sizes=sizes), request.lanes, choose_lanes(), host().fma)
    shared = shared_routines.find_used(text, {request.lanes, choose_lanes(), 2 * choose_lanes()})
    about = {
        "name": program.name, "sizes": sizes, "reads_z": find_entries(program, "z"),
        "data": find_named(program) if request.data else [], "routine": routine, "shared": shared,
    }  # fmt: skip
    tiered = not program.rare and TWO_TIER_LINES < text.count("\n") < MOST_LINES and better_code.is_wanted()
    level = 0 if tiered else choose_level(text, program.rare)
    return _Draft(about, text, tiered, PendingCode(lambda: compile_text(text, level), at_once))


def _finish(request: BuildRequest, entry: str | None, draft: _Draft) -> Machine:
    """The kernel of a draft, in memory and in the cache."""
    with waiting_words(request.words):
        code = draft.code.wait()
    machine = _load(draft.about, code, request.lanes, request.data)
    head = json.dumps(draft.about)
    if draft.tiered:
        return _improve(machine, draft.text, entry, head, request.data)
    if entry is not None:
        code_cache.save(entry, head.encode() + b"\n" + code)
    return machine


def _load(about: Mapping[str, Any], code: bytes, lanes: int, data: Mapping[str, Sequence[float]] | None) -> Machine:
    """The kernel that a text describes, in memory."""
    name = about["name"]
    shared = [_provide_shared(routine, count) for routine, count in about["shared"]]
    if about["routine"] is not None:
        shared.append(_provide_routine(about["routine"]))
    engine = load_object(code)
    if data is not None and about["data"]:
        _fill_in(engine, {entry: data[entry] for entry in about["data"]})
    address, batch_address = engine.get_function_address(name), engine.get_function_address(f"{name}_batch")
    return Machine(name, address, batch_address, lanes, about["sizes"], (engine, shared), about["reads_z"])


def _improve(
    first: Machine, text: str, entry: str | None, head: str, data: Mapping[str, Sequence[float]] | None
) -> Machine:
    """The kernel with code that is exchanged for better one when that is there."""
    from kinode.jit.tiers.exchanged_code import Addresses, ExchangedCode  # needs this module

    exchanged = ExchangedCode(Addresses(first.address, first.batch_address), first.engine)

    def use(code: bytes) -> None:
        if not code:
            return
        better = _load(json.loads(head), code, first.lanes, data)
        exchanged.exchange(Addresses(better.address, better.batch_address), better.engine)

    better_code.improve(better_code.Request(text, 1, entry, head, use))
    kernel, batch = exchanged.addresses
    return replace(first, address=kernel, batch_address=batch, engine=exchanged)


def compile_program(program: Program, lanes: int) -> Machine:
    """Compile a program without the cache."""
    return build(None, lanes, lambda: program)
