"""From LLVM text to machine code in this process.

Code is generated for the CPU of this host, without optimizer passes: on straight-line code they cost
time and bring nothing.  ``build`` asks the cache on disk before it asks for the program, so a warm start
traces nothing.  llvmlite is imported when the first kernel is wanted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache as remember
from functools import cached_property
from typing import Any, NamedTuple

from kinode.jit import code_cache, program_ir, shared_routines
from kinode.jit.program import ARGUMENTS, Program, find_entries

LONG = 1_500  # lines above which the code generator works less hard: the same speed for less time
HUGE = 40_000  # lines above which it hardly works at all: a tenth of the time, for code that takes half as long again


@dataclass(frozen=True)
class Machine:
    """A kernel in memory: where it and its batch driver start, and what they want.

    ``work_size`` and ``batch_work_size`` count the doubles of scratch for one call of either.
    """

    name: str
    address: int
    batch_address: int
    lanes: int
    sizes: Mapping[str, int]
    engine: Any = field(repr=False, compare=False)
    reads_z: Sequence[int] | None = None
    """The entries of z that it reads; None where that was not asked."""

    @property
    def work_size(self) -> int:
        """Doubles that the kernel wants in ``work``."""
        return self.sizes["work"] * self.lanes

    @cached_property
    def batch_work_size(self) -> int:
        """Doubles that the batch driver wants in ``work``."""
        return program_ir.batch_work(self.sizes, self.lanes)


class Host(NamedTuple):
    """What the code generator knows of this computer."""

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
        """Whether it is one of the other large family of processors, whose every member has such units."""
        return self.triple.startswith(("arm64", "aarch64"))


@remember
def host() -> Host:
    """This computer, asked once."""
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
    """Lanes that pay on this host: four where vectors hold four numbers, or two with enough registers."""
    wide = host().has("avx2") or host().arm
    return 4 if wide and host().fma else 1


def _target(level: int) -> Any:
    import llvmlite.binding as binding

    here = host()
    target = binding.Target.from_triple(here.triple)
    return target.create_target_machine(cpu=here.cpu, features=here.features, opt=level, jit=True)


def _tidy(module: Any, target: Any) -> None:
    """The passes that pay for loops: short functions in place, variables in registers, what is then superfluous.

    LLVM's usual pipeline takes three times as long for code of the same speed, since what it would turn into vectors
    is written so (vectorizer.py).
    """
    import llvmlite.binding as binding

    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, binding.create_pass_builder(target, binding.create_pipeline_tuning_options()))


def choose_level(text: str, rare: bool = False) -> int:
    """How hard the code generator is to work on straight-line code, 0 to 2."""
    lines = text.count("\n")
    return 0 if rare or lines > HUGE else 1 if lines > LONG else 2


def compile_text(text: str, level: int | None = None, optimize: bool = False) -> bytes:
    """Object code of LLVM text for this host; what has loops and calls within gains by being optimized first."""
    import llvmlite.binding as binding

    host()
    if level is None:
        level = 2 if optimize else choose_level(text)
    module = binding.parse_assembly(text)
    target = _target(level)
    if optimize:
        _tidy(module, target)
    return bytes(target.emit_object(module))


@remember
def _provide_library() -> None:
    """Make sure that the functions of the C library can be found by name."""
    import ctypes

    import llvmlite.binding as binding

    names = [*program_ir.LIBRARY, "floor", "fma"]
    missing = [name for name in names if not binding.address_of_symbol(name)]
    if not missing:
        return
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)  # whatever runs Python has them, mostly
    if not all(hasattr(library, name) for name in missing):
        import ctypes.util

        library = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in missing:
        function = getattr(library, name, None)
        if function is not None:
            binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


@remember
def _provide_shared(lanes: int) -> Any:
    """Make the functions that all kernels of so many lanes share known by name; their engine."""
    import llvmlite.binding as binding

    packed = lanes > 1 and lanes == choose_lanes()
    engine = load_object(
        keep(f"shared {lanes}", lambda: compile_text(shared_routines.shared(lanes, host().fma, packed)))
    )
    for name in (*shared_routines.names(lanes), *(shared_routines.names(2 * lanes)[:2] if packed else ())):
        binding.add_symbol(name, engine.get_function_address(name))
    return engine


def load_object(code: bytes) -> Any:
    """Object code made ready to run; the engine that it lives in."""
    import llvmlite.binding as binding

    host()
    _provide_library()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target(1))
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def keep(key: str | None, make: Callable[[], bytes]) -> bytes:
    """Bytes that depend on the key, this package's source, the host and LLVM: from the cache, or made now."""
    if key is None:
        return make()
    here = host()
    name = code_cache.digest(key, here.version, here.triple, here.cpu, here.features)
    found = None if name is None else code_cache.load(name)
    if found is None:
        found = make()
        if name is not None:
            code_cache.save(name, found)
    return found


def build(key: str | None, lanes: int, make_program: Callable[[], Program]) -> Machine:
    """The kernel that ``key`` describes, from the cache or compiled from the program that is made now.

    The key is all that the program depends on, save this package's own source, the host and LLVM, which
    are added here.  Without a key nothing is cached.
    """

    def make() -> bytes:
        program = make_program()
        sizes = {name: int(program.sizes.get(name, 0)) for name in ARGUMENTS}
        head = json.dumps({"name": program.name, "sizes": sizes, "reads_z": find_entries(program, "z")}).encode()
        text = program_ir.write(replace(program, sizes=sizes), lanes, choose_lanes())
        return head + b"\n" + compile_text(text, choose_level(text, program.rare))

    head, _, code = keep(None if key is None else f"kernel {lanes} {key}", make).partition(b"\n")
    about = json.loads(head)
    name = about["name"]
    shared = [_provide_shared(count) for count in {lanes, choose_lanes()}]
    engine = load_object(code)
    address, batch_address = engine.get_function_address(name), engine.get_function_address(f"{name}_batch")
    return Machine(name, address, batch_address, lanes, about["sizes"], (engine, shared), about["reads_z"])


def compile_program(program: Program, lanes: int) -> Machine:
    """Compile a program now, without looking at the cache."""
    return build(None, lanes, lambda: program)
