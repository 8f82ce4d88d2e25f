"""LLVM text to object code for this host.

Code is generated for the CPU of this host.  Straight-line code is not optimized first: the passes take time and gain
nothing.  LLVM is loaded when the first text is compiled.
"""

from __future__ import annotations

from functools import cache as remember
from typing import TYPE_CHECKING

from kinode.jit.tiers.pending_code import once
from kinode.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kinode.jit.llvm_doors.binding_door import BindingDoor
    from kinode.jit.llvm_doors.library_door import LibraryDoor

LEVEL_1_LINES = 1_500  # of LLVM text: from here on level 1 of the code generator; same speed, less time to compile
LEVEL_0_LINES = 50_000  # from here on level 0: a tenth of the time to compile, and code that runs 1.5 times as long


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
def llvm() -> LibraryDoor | BindingDoor:
    """LLVM, loaded when it is first asked for."""
    from kinode.jit.llvm_doors.binding_door import BindingDoor
    from kinode.jit.llvm_doors.library_door import open_door

    return open_door() or BindingDoor()


@once
def host() -> Host:
    """The description of this computer, made once."""
    triple, cpu, features = llvm().describe()
    return Host(find_triple(triple), cpu, features, llvm().version)


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
    because ``vectorizer.py`` has already written the vector operations.
    """
    if level is None:
        level = 2 if optimize else choose_level(text)
    return llvm().compile(text, level, optimize, host()[:3])
