"""LLVM, by llvmlite's Python: text to object code for this host.

Code is generated for the CPU of this host.  Straight-line code is not optimized first: the passes take time and gain
nothing.  llvmlite is imported when it is first asked for; it lets in one thread at a time, so a thread that loads code
waits while another compiles.
"""

from __future__ import annotations

import os
import threading
from functools import cache as remember
from typing import Any, NamedTuple

from kinode.jit.tiers.pending_code import once

LEVEL_1_LINES = 1_500  # of LLVM text: from here on level 1 of the code generator; same speed, less time to compile
LEVEL_0_LINES = 50_000  # from here on level 0: a tenth of the time to compile, and code that runs 1.5 times as long

# Held by the thread that compiles or loads; who forks waits for it, or the child would find llvmlite locked for good.
LLVM_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LLVM_LOCK.acquire, after_in_parent=LLVM_LOCK.release, after_in_child=LLVM_LOCK.release)


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


@once
def llvm() -> Any:
    """llvmlite's module, ready to make code for this processor."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@once
def host() -> Host:
    """The description of this computer, made once; no features where LLVM cannot tell them."""
    from llvmlite import __version__

    binding = llvm()
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # a host that LLVM cannot describe gets generic code
        features = ""
    version = f"llvmlite {__version__} LLVM {binding.llvm_version_info}"
    return Host(find_triple(binding.get_default_triple()), binding.get_host_cpu_name(), features, version)


def find_triple(default: str) -> str:
    """LLVM's name for a kind of computer, as code is made for it.

    On Windows that is code in the form of ELF files, with the calls of Windows: what loads code into memory knows that
    form best, and it needs no marker that floating point is used, as Windows' own form does.
    """
    return f"{default}-elf" if "-windows-" in default and not default.endswith("-elf") else default


@remember
def choose_lanes() -> int:
    """The number of lanes that is fastest on this host: four with AVX2 and on ARM (two vectors of two), else one."""
    wide = host().has("avx2") or host().arm
    return 4 if wide and host().fma else 1


def choose_level(text: str, rare: bool = False) -> int:
    """The optimization level of the code generator for straight-line code, 0 to 2."""
    lines = text.count("\n")
    return 0 if rare or lines > LEVEL_0_LINES else 1 if lines > LEVEL_1_LINES else 2


def compile_text(text: str, level: int | None = None, optimize: bool = False) -> bytes:
    """Object code of LLVM text for this host.

    ``optimize`` is for code with loops and calls, and runs the passes that speed it up: inlining, variables into
    registers, simplification.  LLVM's standard pipeline takes three times as long and gives code of the same speed,
    because ``jit/loop/vectorizer.py`` has already written the vector operations.
    """
    if level is None:
        level = 2 if optimize else choose_level(text)
    binding = llvm()
    with (
        LLVM_LOCK, binding.create_context() as context, binding.parse_assembly(text, context) as module,
        make_target(level) as target,
    ):  # fmt: skip
        if optimize:
            _optimize(module, target)
        return bytes(target.emit_object(module))


def make_target(level: int) -> Any:
    """What LLVM needs to know to make code of a level for this host."""
    triple, cpu, features = host()[:3]
    return llvm().Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=level, jit=True)


def _optimize(module: Any, target: Any) -> None:
    """Run the passes for code with loops and calls."""
    binding = llvm()
    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, binding.create_pass_builder(target, binding.create_pipeline_tuning_options()))
