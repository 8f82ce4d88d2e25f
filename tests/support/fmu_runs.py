"""FMUs of examples in FMPy, beside the same run of ``kn.simulate``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SPANS = {
    "gyroscope": 0.1,
    "motor_axis": 0.2,
    "rotor": 0.5,
    "ship_gimbal": 0.5,
    "spinning_shell": 0.03,
    "warm_motor": 0.2,
}
"""Seconds that are compared; others ``SPAN``, or what the model's own run takes."""
SPAN = 1.0
TOLERANCES = {"ModelExchange": 1e-11, "CoSimulation": 1e-10}
ZERO_LOAD = 2e-8
"""A load below this share of the largest one of its joint counts as zero: ten roundings of that one are 1e-7 of it."""
POINTS = 97.3
"""Communication intervals in a span: no whole number, so that points and ticks of clocks do not coincide."""


@dataclass
class Compared:
    """How far an FMU is from ``kn.simulate``."""

    error: float
    """The largest difference of an output, as a share of its range."""
    worst: str
    seconds: float
    """Processor time of FMPy's run."""
    event_times: np.ndarray
    """Instants at which FMPy handled an event, in Model Exchange."""


@dataclass
class Reference:
    """A run of kinode at tight tolerances."""

    times: np.ndarray
    """Times between the ends."""
    values: dict[str, np.ndarray]
    """Outputs at these times, by the names of their scalars."""
    swing: float
    """The range of the kinetic energy: energy as a whole may be constant, and zero."""
    event_times: np.ndarray
    seconds: float
    """Processor time."""


def find_span(name: str, system: kn.System) -> float:
    """The time in s over which an example is compared."""
    return min(SPANS.get(name, SPAN), float(system.run_defaults.get("until", SPAN)))


def reference(dynamics: Any, span: float, names: list[str], **options: Any) -> Reference:
    """A run at tight tolerances, and its outputs, which are compiled as one function."""
    began = time.process_time()
    times = span / POINTS * np.arange(1, int(POINTS) + 1)
    method = dynamics.system.run_defaults.get("method")
    tight = {"rtol": 1e-10, "atol": 1e-12} | options
    run = kn.simulate(dynamics, span, times=[0.0, *times], method=method, **tight)
    values = {name: array[1:] for name, array in run.evaluate([*names, "system.kinetic_energy"]).items()}
    swing = float(np.ptp(values.pop("system.kinetic_energy")))
    events = np.array(sorted({event.time for event in run.events}))
    return Reference(times, values, swing, events, time.process_time() - began)


def simulate(folder: Path, description: Any, kind: str, span: float, names: list[str], **more: Any) -> Any:
    """The FMU of an unpacked folder in FMPy."""
    import fmpy

    return fmpy.simulate_fmu(
        str(folder), model_description=description, fmi_type=kind, stop_time=span, output_interval=span / POINTS,
        output=names, validate=False, **{"relative_tolerance": TOLERANCES[kind], "record_events": False} | more,
    )  # fmt: skip


def unpack(file: Path, folder: Path) -> Any:
    """Unpack an FMU and read its description, which FMPy validates."""
    import fmpy
    import lark

    fmpy.extract(str(file), unzipdir=str(folder))
    with mock.patch.object(lark, "Lark", partial(_make_parser, lark.Lark)):
        return fmpy.read_model_description(
            str(folder), validate=True, validate_variable_names=True, validate_model_structure=True
        )


@cache
def _make_parser(sort: type, grammar: str, **options: Any) -> Any:
    """FMPy's parser of the names of variables, made once; a name that it could read it does not read again."""
    parser = sort(grammar, **options)
    parser.parse = cache(parser.parse)
    return parser


def compare(result: Any, expected: Reference, shown: dict[str, str]) -> tuple[float, str]:
    """The largest difference as a share of the range of an output, and whose it is."""
    worst, owner, values = 0.0, "", expected.values
    at = np.searchsorted(result["time"], expected.times - 1e-9)
    for name, course in values.items():
        swing = expected.swing if name == "system.energy" else 0.0
        size = max(float(np.ptp(course)), _size(name, values), swing, _floor(name, values))
        difference = result[shown[name]][at] - course
        if name.endswith(".q"):  # the angle of a joint that closes a loop is that of a pose, between -pi and pi
            difference -= 2.0 * np.pi * np.rint(difference / (2.0 * np.pi))
        error = float(np.abs(difference).max()) / size
        if not error <= worst:
            worst, owner = error, name
    return worst, owner


def _is_load(name: str) -> bool:
    return ".reaction." in name or ".effort" in name


def _floor(name: str, values: dict[str, np.ndarray]) -> float:
    """What counts as zero.

    A load is a difference of others, with their rounding: where it vanishes, nothing else is left of it.  ``ZERO_LOAD``
    is a share of the largest load of its joint.
    """
    if not _is_load(name):
        return 1e-9
    joint = name.partition(".reaction.")[0].partition(".effort")[0]
    loads = [x for other, x in values.items() if other.startswith(f"{joint}.") and _is_load(other)]
    return max(1e-6, ZERO_LOAD * max(float(np.abs(x).max()) for x in loads))


def _size(name: str, values: dict[str, np.ndarray]) -> float:
    """The size of a quantity, all parts of a vector together: a part that is zero has rounding alone."""
    head, _, part = name.rpartition(".")
    head = head if len(part) <= 2 and part not in ("q", "u") else name
    return max(float(np.abs(x).max()) for other, x in values.items() if other == name or other.startswith(head + "."))


def output_names(description: Any) -> dict[str, str]:
    """The names of continuous outputs in kinode, with those in the FMU."""
    from kinode.exporters.fmu.model_description import structured

    shown = [x.name for x in description.modelVariables if x.causality == "output" and x.variability != "discrete"]
    own = {_plain(name): name for name in shown}
    assert all((structured(name) or name) == text for name, text in own.items())
    return own


def compare_kind(folder: Path, description: Any, kind: str, span: float, expected: Reference) -> Compared:
    """Model Exchange or Co-Simulation of an unpacked FMU beside ``kn.simulate``."""
    own = output_names(description)
    began = time.process_time()
    result = simulate(folder, description, kind, span, list(own.values()), record_events=kind == "ModelExchange")
    seconds = time.process_time() - began
    return Compared(*compare(result, expected, own), seconds, find_events(result))


def find_events(result: Any) -> np.ndarray:
    """The times that FMPy recorded twice: before an event, and after it."""
    return np.unique(np.asarray(result["time"][1:])[np.diff(result["time"]) == 0.0])


def _plain(name: str) -> str:
    """The name of a quantity from its structured name in an FMU."""
    return name.replace("'", "")


def run_under_wine(system: kn.System, folder: Path, steps: int, length: float) -> np.ndarray:
    """The states after each step of the Windows library of a system, by co-simulation in wine."""
    file = kn.export(system, "fmu", folder / "windows.fmu", platforms=["windows"])
    with zipfile.ZipFile(file) as archive:
        library = next(name for name in archive.namelist() if name.endswith(".dll"))
        (folder / "model.dll").write_bytes(archive.read(library))
        text = archive.read("modelDescription.xml").decode()
    guid, n = text.partition('guid="')[2].partition('"')[0], text.count('derivative="')
    names = "LoadLibraryA GetProcAddress CreateFileA WriteFile CloseHandle ExitProcess"
    (folder / "kernel.def").write_text("LIBRARY kernel32.dll\nEXPORTS\n" + names.replace(" ", "\n") + "\n")
    given = [f'-DGUID="{guid}"', f"-DN_STATES={n}", f"-DSTEPS={steps}", f"-DSTEP_LENGTH={length!r}"]
    zig, target = [sys.executable, "-m", "ziglang"], ["-target", "x86_64-windows-gnu"]
    host = Path(__file__).resolve().parents[1] / "exporters" / "fmu" / "windows_host.c"
    for command in (
        ["dlltool", "-m", "i386:x86-64", "-d", "kernel.def", "-l", "libkernel.a"],
        ["cc", *target, "-O1", "-fno-sanitize=all", "-mno-stack-arg-probe", *given, "-c", str(host), "-o", "host.obj"],
        [
            "cc",
            *target,
            "-nostdlib",
            "-Wl,-e,start",
            "-Wl,--subsystem,console",
            "host.obj",
            "libkernel.a",
            "-o",
            "host.exe",
        ],
    ):
        subprocess.run([*zig, *command], cwd=folder, check=True, capture_output=True)
    settings = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(folder / "prefix")}
    subprocess.run(["wine", "host.exe"], cwd=folder, env=settings, check=True, capture_output=True, timeout=500)
    return np.fromfile(folder / "states.bin").reshape(steps, n)
