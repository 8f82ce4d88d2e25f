"""FMUs of both versions of a model from one compilation of its C; event times of co-simulation."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from compiled_examples import compiled_example

import kinode as kn
from kinode.exporters.fmu.fmu_export import make_model, make_parts, pack_parts
from kinode.exporters.fmu.model_description import FACES
from kinode.exporters.fmu.shared_libraries import OPTIONS, find_host, find_host_compiler
from support import fmu_runs

NEAR = 1e-6
"""Accuracy of event times in s."""
MadeFmu = tuple[Path, Any]
"""The folder of an unpacked FMU, and its description."""


def make_pair(
    dynamics: Any, folder: Path, options: dict[str, Any] | None = None, versions: Collection[str] = tuple(FACES)
) -> dict[str, MadeFmu]:
    """The FMUs of a system by version, of both unless some are named, unpacked; FMPy validates their descriptions.

    The model is compiled once, without optimization.  In an FMU as it is exported the face includes the model's
    source; here it includes the header.
    """
    model = make_model(dynamics, options or {})
    platform, compiler = find_host(), find_host_compiler()
    assert platform is not None and compiler is not None
    flags = [*compiler, *(x for x in OPTIONS if x != "-O2"), "-O0", "-fPIC", "-I", "."]
    made = {}
    for version, face in FACES.items():
        if version not in versions:
            continue
        sources, descriptions, _ = make_parts(model, version)
        name = model.model.name
        place = folder / version
        place.mkdir(parents=True)
        for file, text in sources.items():
            (place / file).write_text(text.replace(f'#include "{name}.c"', f'#include "{name}.h"'), encoding="utf-8")
        if not made:
            subprocess.run([*flags, "-c", f"{name}.c", "-o", str(folder / "model.o")], cwd=place, check=True)
        library = place / f"library{platform.suffix}"
        command = [*flags, "-shared", face, str(folder / "model.o"), "-lm", "-o", str(library)]
        subprocess.run(command, cwd=place, check=True)
        inside = f"binaries/{platform.folders[version != '2.0']}/{name}{platform.suffix}"
        file = folder / f"{name}_{version[0]}.fmu"
        file.write_bytes(pack_parts(sources, descriptions, {inside: library.read_bytes()}))
        made[version] = (place / "unpacked", fmu_runs.unpack(file, place / "unpacked"))
    return made


@cache
def example_pair(name: str, folder: Path, versions: tuple[str, ...] = tuple(FACES)) -> dict[str, MadeFmu]:
    """The FMUs of an example, made once in a process."""
    return make_pair(compiled_example(name), folder / name, versions=versions)


def start_instance(made_fmu: MadeFmu, kind: str, tolerance: float | None = None) -> Any:
    """An instance that is initialized."""
    import fmpy

    folder, description = made_fmu
    fmu = fmpy.instantiate_fmu(str(folder), description, kind)
    if description.fmiVersion == "2.0":
        fmu.setupExperiment(startTime=0.0, tolerance=tolerance)
        fmu.enterInitializationMode()
    else:
        fmu.enterInitializationMode(startTime=0.0, tolerance=tolerance)
    fmu.exitInitializationMode()
    return fmu


def step_through(made_fmu: MadeFmu, times: np.ndarray, names: list[str], tolerance: float) -> np.ndarray:
    """Variables at communication points; a row for each."""
    references = {x.name: x.valueReference for x in made_fmu[1].modelVariables}
    wanted, is_two = [references[name] for name in names], made_fmu[1].fmiVersion == "2.0"
    fmu, now, rows = start_instance(made_fmu, "CoSimulation", tolerance), 0.0, []
    for t in times.tolist():
        fmu.doStep(now, t - now)
        now = now + (t - now)
        rows.append(fmu.getReal(wanted) if is_two else fmu.getFloat64(wanted))
    fmu.terminate()
    fmu.freeInstance()
    return np.array(rows)


def points_around(instants: np.ndarray, span: float) -> np.ndarray:
    """Times just before and just after each instant; those that lie near another instant are left out."""
    points = np.concatenate([instants - NEAR, instants + NEAR])
    points = np.unique(points[(points > 0.0) & (points < span)])
    distances = np.sort(np.abs(points[:, None] - instants[None, :]), axis=1)
    alone = distances[:, 1] > 1.5 * NEAR if len(instants) > 1 else np.full(len(points), True)
    return points[alone]


def compare_around(dynamics: Any, made_fmu: MadeFmu, instants: np.ndarray, span: float) -> tuple[float, int]:
    """Co-simulation beside ``kn.simulate`` just before and after each instant.

    The largest difference of a state as a share of its range, and the number of points.  An event that is off by more
    than ``NEAR`` has the wrong modes at one of its points, or the speed of the other side of an impact.
    """
    points = points_around(instants, span)
    run = kn.simulate(dynamics, span, times=[0.0, *points], rtol=1e-10, atol=1e-12)
    names = [c.name for c in dynamics.coordinates]
    values = np.stack([run[name][1:] for name in names], axis=1)
    rows = step_through(made_fmu, points, names, 1e-10)
    sizes = np.maximum(np.abs(values).max(axis=0), 1e-6)
    return float((np.abs(rows - values) / sizes).max()), len(points)
