"""Shared libraries of an FMU for several platforms, from one machine.

``ziglang`` (a C compiler from PyPI, the extra ``fmu``) compiles for all of them; else the C compiler of this machine
compiles for this machine; else there are none, and the FMU holds sources alone.  Nothing is left on the disk but zig's
own cache.

Windows: the runtime is linked by names alone.  A definition file of ucrtbase.dll, which every Windows since 2015 has,
becomes an import library; the entry point of the library is ours.  zig would otherwise build a C runtime for minutes.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kinode.atomic_files import write_bytes, write_text
from kinode.errors import ArgumentError, Error
from kinode.model.base.fields import unknown


@dataclass(frozen=True)
class FmuPlatform:
    """A platform: its name for users, its folders in FMUs, how its compiler is called."""

    name: str
    folders: tuple[str, str]
    """In FMI 2.0 and 3.0."""
    target: str
    suffix: str


PLATFORMS = {
    each.name: each
    for each in (
        FmuPlatform("linux", ("linux64", "x86_64-linux"), "x86_64-linux-gnu.2.17", ".so"),
        FmuPlatform("linux-arm", ("aarch64-linux", "aarch64-linux"), "aarch64-linux-gnu.2.17", ".so"),
        FmuPlatform("windows", ("win64", "x86_64-windows"), "x86_64-windows-gnu", ".dll"),
        FmuPlatform("mac", ("darwin64", "x86_64-darwin"), "x86_64-macos.11.0", ".dylib"),
        FmuPlatform("mac-arm", ("darwin64", "aarch64-darwin"), "aarch64-macos.11.0", ".dylib"),
    )
}
DEFAULT_PLATFORMS = ("linux", "windows", "mac", "mac-arm")
OPTIONS = ("-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-g0", "-w")
MOST_SECONDS = 900
"""Time in s after which a compiler is given up."""
WINDOWS_FUNCTIONS = (
    "calloc free memcpy memset memmove memcmp strlen strcmp sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh"
    " atanh exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt hypot floor ceil fabs fmod round trunc rint nearbyint"
    " copysign remainder erf erfc ldexp frexp modf fmin fmax fma scalbn scalbln ilogb logb nextafter lround llround"
)
"""What the libraries for Windows take from ucrtbase.dll."""
WINDOWS_ENTRY = """\
int DllMainCRTStartup(void *library, unsigned why, void *more) { return 1; }
int _fltused = 0;
double sin(double x);
double cos(double x);
void sincos(double x, double *sine, double *cosine) { *sine = sin(x); *cosine = cos(x); }
"""
"""The entry point, and a function into which the compiler joins two others."""


def has_zig() -> bool:
    """Whether the compiler for all platforms is installed."""
    return importlib.util.find_spec("ziglang") is not None


def find_host() -> FmuPlatform | None:
    """The platform of this machine, if FMUs have a folder for it."""
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "mac"}.get(platform.system())
    machine = platform.machine().lower()
    arm = machine in ("arm64", "aarch64")
    if system is None or not (arm or machine in ("x86_64", "amd64")):
        return None
    return PLATFORMS.get(f"{system}-arm" if arm else system)


def find_host_compiler() -> list[str] | None:
    """The command of the C compiler of this machine; that of the environment variable CC first."""
    if platform.system() == "Windows":
        return None
    for command in (os.environ.get("CC"), "cc", "gcc", "clang", sysconfig.get_config_var("CC")):
        words = str(command).split() if command else []
        if words and shutil.which(words[0]):
            return words
    return None


def read_platforms(given: Sequence[str] | str | None) -> list[FmuPlatform]:
    """The platforms to compile for; without a choice all that can be, with zig or on this machine."""
    host = find_host()
    if given is None:
        if has_zig():
            return [PLATFORMS[name] for name in DEFAULT_PLATFORMS]
        return [host] if host is not None and find_host_compiler() else []
    names = [given] if isinstance(given, str) else list(given)
    if names == ["host"]:
        if host is None or not (find_host_compiler() or has_zig()):
            raise ArgumentError("platforms: this machine has no C compiler; pip install 'kinode[fmu]' brings one")
        return [host]
    for name in names:
        if name not in PLATFORMS:
            raise ArgumentError(unknown("platforms: there is no platform", name, [*PLATFORMS, "host"]))
        if not has_zig() and (host is None or name != host.name or not find_host_compiler()):
            raise ArgumentError(f"platforms: {name} needs another compiler: pip install 'kinode[fmu]'")
    return [PLATFORMS[name] for name in dict.fromkeys(names)]


def compile_libraries(
    sources: Mapping[str, str], main: str, identifier: str, platforms: Sequence[FmuPlatform], version: str,
    optimization: str = "-O2", host_compiler: bool = False,
) -> dict[str, bytes]:  # fmt: skip
    """The libraries by their path in the archive; two of one path (for a Mac) become one universal library.

    ``host_compiler`` prefers the C compiler of this machine to zig.
    """
    made: dict[str, list[tuple[FmuPlatform, bytes]]] = {}
    with tempfile.TemporaryDirectory(prefix="kinode-fmu-") as name:
        folder = Path(name)
        for path, text in sources.items():
            write_text(folder / path, text)
        for each in platforms:
            data = _compile(folder, main, identifier, each, optimization, host_compiler)
            where = each.folders[version != "2.0"]
            made.setdefault(f"binaries/{where}/{identifier}{each.suffix}", []).append((each, data))
    return {path: libraries[0][1] if len(libraries) == 1 else _join(libraries) for path, libraries in made.items()}


def _compile(folder: Path, main: str, identifier: str, target: FmuPlatform, level: str, by_host: bool) -> bytes:
    library = folder / f"{target.name}-{identifier}{target.suffix}"
    options = [level if option == "-O2" else option for option in OPTIONS]
    compiler, own = find_host_compiler(), find_host()
    if compiler and target is own and (by_host or not has_zig()):
        name = ["-Wl,-install_name,@rpath/" + identifier + target.suffix] if target.suffix == ".dylib" else ["-s"]
        _run([*compiler, *options, "-fPIC", "-shared", *name, main, "-lm", "-o", library.name], folder)
    elif target.suffix == ".dll":
        _compile_for_windows(folder, main, target, options, library)
    else:
        more = ["-s", "-lm"] if target.suffix == ".so" else [f"-Wl,-install_name,@rpath/{identifier}.dylib", "-s"]
        _zig(
            [
                "cc",
                "-target",
                target.target,
                *options,
                "-fno-sanitize=all",
                "-fPIC",
                "-shared",
                main,
                *more,
                "-o",
                library.name,
            ],
            folder,
        )
    return library.read_bytes()


def _compile_for_windows(
    folder: Path, main: str, target: FmuPlatform, options: Sequence[str], library: Path
) -> None:  # fmt: skip
    """A library that takes the C runtime from ucrtbase.dll by name."""
    write_text(folder / "windows_entry.c", WINDOWS_ENTRY)
    names = "\n".join(f"    {name}" for name in WINDOWS_FUNCTIONS.split())
    write_text(folder / "ucrtbase.def", f"LIBRARY ucrtbase.dll\nEXPORTS\n{names}\n")
    for source in (main, "windows_entry.c"):
        plain = ["-fno-sanitize=all", "-mno-stack-arg-probe", *(["-fno-builtin"] if source != main else [])]
        _zig(["cc", "-target", target.target, *options, *plain, "-c", source, "-o", f"{source}.obj"], folder)
    _zig(["dlltool", "-m", "i386:x86-64", "-d", "ucrtbase.def", "-l", "libruntime.a"], folder)
    _zig(["cc", "-target", target.target, "-nostdlib", "-shared", "-s", f"{main}.obj",
          "windows_entry.c.obj", "libruntime.a", "-o", library.name], folder)  # fmt: skip
    data = bytearray(library.read_bytes())
    header = int.from_bytes(data[0x3C:0x40], "little")
    data[header + 8 : header + 12] = bytes(4)  # the time at which it was linked
    write_bytes(library, bytes(data))


def _zig(arguments: Sequence[str], folder: Path) -> None:
    _run([sys.executable, "-m", "ziglang", *arguments], folder)


def _run(command: Sequence[str], folder: Path) -> None:
    """Run a compiler in a folder; a failure is an ``Error`` with the first lines that it wrote."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=MOST_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Error(f"export: the C compiler did not run: {error}") from None
    if done.returncode:
        words = "\n".join((done.stderr or done.stdout).strip().splitlines()[:12])
        raise Error(f"export: the C compiler failed ({' '.join(map(str, command[:6]))} ...):\n{words}")


# -- universal libraries -----------------------------------------------------------------------------------------------
PROCESSORS = {"mac": (0x01000007, 3), "mac-arm": (0x0100000C, 0)}
"""Processor and subtype in the header of a universal library (mach-o/fat.h)."""
PAGE_BITS = 14
"""Libraries begin at multiples of 2^14 bytes, the pages of Apple's processors."""


def _join(libraries: Sequence[tuple[FmuPlatform, bytes]]) -> bytes:
    """One universal library for several processors of a Mac: a table, then each library."""
    table, body = struct.pack(">II", 0xCAFEBABE, len(libraries)), b""
    at = 1 << PAGE_BITS
    for each, data in libraries:
        table += struct.pack(">IIIII", *PROCESSORS[each.name], at, len(data), PAGE_BITS)
        padded = -(-len(data) >> PAGE_BITS) << PAGE_BITS
        body += data + bytes(padded - len(data))
        at += padded
    return table + bytes((1 << PAGE_BITS) - len(table)) + body
