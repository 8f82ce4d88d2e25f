"""FMUs of large trees, whose code is loops: directional derivatives are those of kinode, and of differences."""

import numpy as np
import pytest
from fmu_pairs import start_instance

import kinode as kn
from support import fmu_runs

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.usefixtures("compiler")

LINKS = 80
OUTPUTS = ["tip.position", "pin0.reaction.moment"]


def rope():
    """A rope of links with an input at its first pin."""
    system = kn.System("rope", gravity=(0, 0, -9.81))
    torque = system.input("torque", "1 N*m")
    body = system.world
    for i in range(LINKS):
        name = "tip" if i == LINKS - 1 else f"link{i}"
        link = system.body(name, mass=0.1 + 0.01 * (i % 5), com=(0.05, 0, 0), inertia=(1e-5, 1e-4, 1e-4))
        place, effort = (body.at(0.1, 0, 0), None) if i else (body, torque)
        system.revolute(f"pin{i}", place, link, axis="yz"[i % 2], damping=1e-3, q=0.02 * (-1) ** i, effort=effort)
        body = link
    return system


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_directional_derivatives_of_a_large_tree(tmp_path, version):
    system = rope()
    options = {"platforms": "host", "optimization": "-O0", "outputs": OUTPUTS}
    file = kn.export(system, "fmu", tmp_path / "rope.fmu", version=version, **options)
    unpacked = tmp_path / "unpacked"
    description = fmu_runs.unpack(file, unpacked)
    assert description.modelExchange.providesDirectionalDerivative or version == "3.0"
    fmu = start_instance((unpacked, description), "ModelExchange")
    at = {x.name: x.valueReference for x in description.modelVariables}
    states = [f"pin{i}.{role}" for role in ("q", "u") for i in range(LINKS)]
    known = [at[name] for name in (*states, "torque")]
    results = [x.name for x in description.modelVariables if x.name.startswith(tuple(OUTPUTS))]
    assert len(results) == 6
    unknown = [at[name] for name in (*(f"der({name})" for name in states), *results)]
    seed = np.random.default_rng(4).normal(size=len(known))
    found = np.array(fmu.getDirectionalDerivative(unknown, known, seed.tolist()))

    dynamics = kn.compile(system)
    start = dynamics.initial
    matrix = dynamics.derivatives(
        0.0, start.q, start.u, of=("rate", *OUTPUTS), by=("coordinates", "u", "torque")
    ).matrix
    expected = matrix @ seed
    # two writers of one program: rounding, times the condition of a long chain
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * abs(expected).max())

    step, values = 1e-6, np.array([*start.q, *start.u, 1.0])

    def evaluate(x):
        q, u, inputs = x[:LINKS], x[LINKS:-1], x[-1:]
        rest = dynamics.evaluate(OUTPUTS, 0.0, q, u, inputs=inputs).values()
        return np.concatenate([u, dynamics.acceleration(0.0, q, u, inputs=inputs), *map(np.ravel, rest)])

    differences = (evaluate(values + step * seed) - evaluate(values - step * seed)) / (2 * step)
    assert found == pytest.approx(differences, rel=1e-5, abs=1e-6 * abs(expected).max())  # error of differences
