"""FMUs that others make: PythonFMU (2.0) and PythonFMU3 (3.0) write them, with an interpreter inside; kinode runs them.

The folder of the FMU has a space and a letter beyond ASCII in its name.
"""

import math
import subprocess
import sys

import numpy as np
import pytest

import kinode as kn

LAG = """\
import math

from {package} import {prefix}Causality, {prefix}Slave, {prefix}Variability, {kinds}


class {name}(Slave):
    def __init__(self, **given):
        super().__init__(**given)
        self.u, self.y, self.tau, self.count, self.on, self.warm, self.label = 0.0, 0.5, 0.2, 0, True, False, "none"
        for variable in (Real("u", causality=Causality.input), Real("y", causality=Causality.output),
                         Whole("count", causality=Causality.output), Boolean("on", causality=Causality.input),
                         Boolean("warm", causality=Causality.output),
                         Real("tau", causality=Causality.parameter, variability=Variability.tunable),
                         String("label", causality=Causality.parameter, variability=Variability.tunable)):
            self.register_variable(variable)

    def do_step(self, t, h):
        if self.label != "gr\\u00fcn":
            raise ValueError("the label is not what it was set to")
        if self.on:
            self.y = self.u + (self.y - self.u) * math.exp(-h / self.tau)
        self.count, self.warm = self.count + 1, self.y > 0.6
        return True
"""
WRITERS = {"2.0": ("pythonfmu", "Fmi2", ("Real", "Integer")), "3.0": ("pythonfmu3", "Fmi3", ("Float64", "Int32"))}


@pytest.fixture(params=WRITERS)
def lag(request, tmp_path):
    package, prefix, (real, whole) = WRITERS[request.param]
    name = f"Lag{request.param[0]}"  # one for all would be one module of this process
    text = LAG.format(package=package, prefix=prefix, kinds=f"{real}, {whole}, Boolean, String", name=name)
    for word in ("Causality", "Variability"):
        text = text.replace(f"={word}.", f"={prefix}{word}.")
    text = text.replace("(Slave)", f"({prefix}Slave)").replace("Real(", f"{real}(").replace("Whole(", f"{whole}(")
    folder = tmp_path / "größe 1"
    folder.mkdir()
    (tmp_path / f"{name.lower()}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", package, "build", "-f", f"{name.lower()}.py", "-d", str(folder)]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=60)
    return folder / f"{name}.fmu"


def test_it_does_what_it_does_by_hand(lag):
    system = kn.System("s")
    inputs, parameters = {"u": "sin(3*t)", "on": "t < 0.505"}, {"tau": 0.1, "label": "grün"}
    system.fmu("lag", lag, inputs=inputs, parameters=parameters, period="10 ms")
    assert system["lag"].output_channels == ("y", "count", "warm")
    run = kn.simulate(system, 0.985, every=0.01)
    y, exact = 0.5, []
    for k in range(len(run.t)):
        exact.append(y)
        y += (1 - math.exp(-0.1)) * (math.sin(0.03 * k) - y) if k <= 50 else 0.0
    np.testing.assert_allclose(run["lag.y"], exact, atol=1e-14)
    np.testing.assert_array_equal(run["lag.count"], np.arange(len(run.t)))
    np.testing.assert_array_equal(run["lag.warm"][1:], np.array(exact)[1:] > 0.6)
    assert np.array_equal(kn.simulate(system, 0.985, every=0.01)["lag.y"], run["lag.y"])


def test_it_needs_a_period(lag):
    with pytest.raises(kn.ModelError, match=r"lag\.period: is needed: the FMU is for Co-Simulation"):
        kn.System("s").fmu("lag", lag)


def test_what_goes_wrong_inside_names_the_part(lag):
    system = kn.System("s")
    system.fmu("lag", lag, period="10 ms")
    with pytest.raises(kn.Error, match=r"lag: the FMU Lag\d\.fmu cannot take its step of 0.01 s at t = 0 s"):
        kn.simulate(system, 0.1)
