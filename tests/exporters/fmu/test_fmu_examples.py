"""FMUs of all examples in FMPy beside ``kn.simulate``: both versions, both kinds, event times.

The versions share all but the face: in every run most examples have one of them, by turns, at night each has both.
"""

import numpy as np
import pytest
from compiled_examples import compiled_example
from example_counts import is_fixed
from fmu_pairs import NEAR, compare_around, example_pair, make_pair

import kinode as kn
from kinode.simulation.time_events import find_law_times
from support import fmu_runs

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.usefixtures("compiler")

NAMES = sorted(path.stem for path in fmu_runs.EXAMPLES.glob("*.yaml"))
LIMITS = {"ModelExchange": 1e-6, "CoSimulation": 1e-7}
"""Largest difference from ``kn.simulate``, as a share of the range of an output."""
EVENTFUL = {"backlash_axis": 40, "brake_arm": 3, "ur5": 5}
"""Examples in which modes change during the span, and the least number of instants at which they do."""
VERSIONS = ("2.0", "3.0")
IN_BOTH = {*EVENTFUL, "motor_axis", "stewart_platform"}
"""Examples that have both versions in every run: events, a network, loops."""
AROUND = 1e-5
"""Largest difference of a state a microsecond from an event, as a share of its size: an acceleration may be large."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fmus")


def time_events(dynamics, span):
    """The ticks of clocks and the breaks of laws of time."""
    events, own = dynamics.topology.events, dynamics.arguments
    times = [*find_law_times(dynamics, own.parameters, own.inputs, 0.0, span).breaks]
    for entry in () if events is None else events.samplers:
        period, phase = float(entry.sampler.period), float(entry.sampler.phase)
        times += [phase + k * period for k in range(int((span - phase) / period) + 1)]
    return np.array(times)


def distance(times, others):
    """The largest distance of some times from the nearest of others."""
    if not len(times):
        return 0.0
    return float(np.abs(np.asarray(times)[:, None] - np.asarray(others)[None, :]).min(axis=1, initial=np.inf).max())


def versions_of(name):
    """The versions of FMI that an example is tried in by this run."""
    return VERSIONS if name in IN_BOTH or not is_fixed() else (VERSIONS[NAMES.index(name) // 2 % 2],)


@pytest.mark.parametrize(
    "name", [x if x in IN_BOTH or k % 2 else pytest.param(x, marks=pytest.mark.nightly) for k, x in enumerate(NAMES)]
)
def test_example_agrees_with_simulate(name, folder):
    dynamics, pair = compiled_example(name), example_pair(name, folder, versions_of(name))
    assert tuple(pair) == versions_of(name)
    span = fmu_runs.find_span(name, dynamics.system)
    _, description = next(iter(pair.values()))
    expected = fmu_runs.reference(dynamics, span, list(fmu_runs.output_names(description)))
    known = np.concatenate([expected.event_times, time_events(dynamics, span)])
    assert len(expected.event_times) >= EVENTFUL.get(name, 0)
    for version, made in pair.items():
        for kind, limit in LIMITS.items():
            compared = fmu_runs.compare_kind(*made, kind, span, expected)
            assert compared.error <= limit, (version, kind, compared)
            if kind == "ModelExchange":
                assert distance(expected.event_times, compared.event_times) <= NEAR, (version, kind)
                if not dynamics.topology.constrained:  # a loop that drifts asks for events of its own
                    assert distance(compared.event_times, known) <= NEAR, (version, kind)


@pytest.mark.parametrize("name", sorted(EVENTFUL))
def test_events_of_co_simulation_are_where_they_are(name, folder):
    dynamics, pair = compiled_example(name), example_pair(name, folder, VERSIONS)
    span = fmu_runs.find_span(name, dynamics.system)
    instants = fmu_runs.reference(dynamics, span, []).event_times
    for made in pair.values():
        error, count = compare_around(dynamics, made, instants, span)
        assert error <= AROUND and count >= EVENTFUL[name]


def test_impacts_are_where_they_are(tmp_path):
    """Speeds jump, and no mode tells of it."""
    system = kn.System("hammer")
    body = system.body("b", mass=2, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("j", system.world, body, axis="y", q="10 deg", stop={"upper": "30 deg", "restitution": 0.5})
    dynamics, span = kn.compile(system), 0.55  # before its impacts follow each other without end
    expected = fmu_runs.reference(dynamics, span, [])
    assert len(expected.event_times) == 4
    for made in make_pair(dynamics, tmp_path).values():
        error, count = compare_around(dynamics, made, expected.event_times, span)
        assert error <= AROUND and count == 8
        result = fmu_runs.simulate(*made, "ModelExchange", span, ["j.u"], record_events=True)
        handled = fmu_runs.find_events(result)
        assert distance(handled, expected.event_times) <= NEAR and distance(expected.event_times, handled) <= NEAR
