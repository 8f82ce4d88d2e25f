"""FMUs for tests: small C sources of our own (tests/support/fmus), compiled once a session, with their descriptions."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from shutil import which

from fmpy import platform, platform_tuple, sharedLibraryExtension

SOURCES = Path(__file__).parent / "fmus"
KEPT = tempfile.TemporaryDirectory(prefix="kinode-test-fmus-")
FOLDERS = {2: platform, 3: platform_tuple}

# name, value reference, type, causality, variability, start, derivative of (its index from 1, or its reference)
LAG = (
    ("x", 0, "Real", "local", "continuous", None, None),
    ("der(x)", 1, "Real", "local", "continuous", None, "x"),
    ("u", 2, "Real", "input", "continuous", "0", None),
    ("y", 3, "Real", "output", "continuous", None, None),
    ("tau", 4, "Real", "parameter", "fixed", "0.5", None),
    ("lag.gain", 5, "Real", "parameter", "tunable", "1", None),
    ("count", 6, "Integer", "output", "discrete", None, None),
    ("turned", 7, "Boolean", "input", "discrete", "false", None),
)
BALL = (
    ("h", 0, "Real", "output", "continuous", None, None),
    ("der(h)", 1, "Real", "local", "continuous", None, "h"),
    ("v", 2, "Real", "output", "continuous", None, None),
    ("der(v)", 3, "Real", "local", "continuous", None, "v"),
    ("g", 4, "Real", "parameter", "fixed", "-9.81", None),
    ("e", 5, "Real", "parameter", "tunable", "0.7", None),
    ("push", 6, "Real", "parameter", "tunable", "0", None),
)
MOODY = (
    ("x", 0, "Real", "local", "continuous", None, None),
    ("der(x)", 1, "Real", "local", "continuous", None, "x"),
    ("u", 2, "Real", "input", "continuous", "0", None),
    ("y", 3, "Real", "output", "continuous", None, None),
    *(
        (name, 4 + k, "Real", "parameter", "fixed", start, None)
        for k, (name, start) in enumerate((("asks", "1e9"), ("ends", "1e9"), ("fails", "1e9"), ("event", "-1")))
    ),
)
THERMOSTAT = (
    ("x", 0, "Real", "local", "continuous", None, None),
    ("der(x)", 1, "Real", "local", "continuous", None, "x"),
    ("u", 2, "Real", "input", "continuous", "2", None),
    ("heats", 3, "Boolean", "output", "discrete", None, None),
    ("switches", 4, "Integer", "output", "discrete", None, None),
    *(
        (name, 5 + k, "Real", "parameter", "fixed", start, None)
        for k, (name, start) in enumerate((("high", "1"), ("low", "0.5"), ("asks", "1e9"), ("keeps", "0")))
    ),
)
MODELS = {
    "thermostat": (THERMOSTAT, False, 1),
    "lag": (LAG, True, 0),
    "ball": (BALL, False, 1),
    "moody": (MOODY, False, 0),
}
TELLS_STEPS = {"moody", "thermostat"}  # models that want to be told of completed steps
TYPES_3 = {"Real": "Float64", "Integer": "Int32", "Boolean": "Boolean"}


def _initial(causality, start):
    return ' initial="exact"' if start is not None and causality == "parameter" else ""


def describe_2(name):
    variables, steps, indicators = MODELS[name]
    places = {v[0]: k + 1 for k, v in enumerate(variables)}
    lines = []
    for variable, reference, kind, causality, variability, start, state in variables:
        head = f'name="{variable}" valueReference="{reference}" causality="{causality}" variability="{variability}"'
        value = "" if start is None else f' start="{start}"'
        value += "" if state is None else f' derivative="{places[state]}"'
        lines.append(f"<ScalarVariable {head}{_initial(causality, start)}><{kind}{value}/></ScalarVariable>")
    outputs = "".join(f'<Unknown index="{places[v[0]]}"/>' for v in variables if v[3] == "output")
    rates = "".join(f'<Unknown index="{places[v[0]]}"/>' for v in variables if v[6])
    flags = 'canGetAndSetFMUstate="true"'
    untold = "false" if name in TELLS_STEPS else "true"
    kinds = f'<ModelExchange modelIdentifier="{name}" completedIntegratorStepNotNeeded="{untold}" {flags}/>'
    kinds += f'<CoSimulation modelIdentifier="{name}" {flags}/>' if steps else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="2.0" modelName="{name}" '
        f'guid="{{kinode-test}}" numberOfEventIndicators="{indicators}">{kinds}'
        f"<ModelVariables>{''.join(lines)}</ModelVariables><ModelStructure><Outputs>{outputs}</Outputs>"
        f"<Derivatives>{rates}</Derivatives></ModelStructure></fmiModelDescription>\n"
    )


def describe_3(name):
    variables, steps, indicators = MODELS[name]
    places = {v[0]: v[1] for v in variables}
    lines = ['<Float64 name="time" valueReference="99" causality="independent" variability="continuous"/>']
    for variable, reference, kind, causality, variability, start, state in variables:
        head = f'name="{variable}" valueReference="{reference}" causality="{causality}" variability="{variability}"'
        value = "" if start is None else f' start="{start}"'
        value += "" if state is None else f' derivative="{places[state]}"'
        lines.append(f"<{TYPES_3[kind]} {head}{_initial(causality, start)}{value}/>")
    if indicators:
        lines.append('<Float64 name="z" valueReference="98" causality="local" variability="continuous"/>')
    outputs = "".join(f'<Output valueReference="{v[1]}"/>' for v in variables if v[3] == "output")
    rates = "".join(f'<ContinuousStateDerivative valueReference="{v[1]}"/>' for v in variables if v[6])
    roots = '<EventIndicator valueReference="98"/>' * indicators
    told = "true" if name in TELLS_STEPS else "false"
    kinds = f'<ModelExchange modelIdentifier="{name}" needsCompletedIntegratorStep="{told}"/>'
    kinds += f'<CoSimulation modelIdentifier="{name}" canGetAndSetFMUState="true"/>' if steps else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="3.0" modelName="{name}" '
        f'instantiationToken="{{kinode-test}}">{kinds}<ModelVariables>{"".join(lines)}</ModelVariables>'
        f"<ModelStructure>{outputs}{rates}{roots}</ModelStructure></fmiModelDescription>\n"
    )


@cache
def build_library(name, version):
    """The library of a model."""
    compiler = [which("cc")] if which("cc") else [sys.executable, "-m", "ziglang", "cc"]
    target = Path(KEPT.name, f"{name}{version}{sharedLibraryExtension}")
    flags = ["-shared", "-fPIC", "-O1", "-w", "-fvisibility=hidden", f"-DFMI={version}", f"-I{SOURCES}"]
    subprocess.run([*compiler, *flags, str(SOURCES / f"{name}.c"), "-o", str(target)], check=True)
    return target.read_bytes()


@cache
def make_fmu(name, version):
    """The path of an FMU for this system."""
    path = Path(KEPT.name, f"{name}_{version}.fmu")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", describe_2(name) if version == 2 else describe_3(name))
        archive.writestr(f"binaries/{FOLDERS[version]}/{name}{sharedLibraryExtension}", build_library(name, version))
    return str(path)
