"""Work on large networks grows with their size: counted in calls of Python functions and in operations, not in time."""

import cProfile

import pytest
from example_counts import by_day
from networks import circuit, pole

from kinode.algebra.trace import count_operations
from kinode.kernels import kernel_traces
from kinode.kernels.kernel_options import Kernel
from kinode.structure.network_analysis import find_network
from kinode.structure.topology import find_topology


def ladder(n):
    """Resistors and capacitors in turn: everything follows from states."""
    parts = {"v": pole("voltage_source", "n0", voltage="sin(t)")}
    for k in range(n):
        parts[f"r{k}"] = pole("resistor", f"n{k}", f"n{k + 1}", resistance=1.0 + 0.01 * k)
        parts[f"c{k}"] = pole("capacitor", f"n{k + 1}", capacitance=0.01)
    return circuit(parts)


def coils(n):
    """Inductors in series, of which one is a state: all is one block, differentiated once."""
    parts = {"v": pole("voltage_source", "n0", voltage="sin(t)"), "r": pole("resistor", f"n{2 * n}", resistance=1.0)}
    for k in range(2 * n):
        parts[f"l{k}"] = pole("inductor", f"n{k}", f"n{k + 1}", inductance=1.0 + 0.01 * k)
    return circuit(parts)


def dividers(n):
    """Resistors along and across: one algebraic block."""
    parts = {"v": pole("voltage_source", "n0", voltage="sin(t)"), "l": pole("inductor", f"n{n}", inductance=1.0)}
    for k in range(n):
        parts[f"r{k}"] = pole("resistor", f"n{k}", f"n{k + 1}", resistance=1.0 + 0.01 * k)
        parts[f"g{k}"] = pole("resistor", f"n{k + 1}", resistance=1.0 + 0.01 * k)
    return circuit(parts)


def shafts(n):
    """Inertias and springs in a row, geared in pairs."""
    parts = {"m": ("moment_source", {"a": "s0", "moment": "sin(t)"})}
    for k in range(n):
        parts[f"j{k}"] = ("shaft_inertia", {"shaft": f"s{k}", "inertia": 1.0 + 0.01 * k})
        if k % 2:
            parts[f"g{k}"] = ("gearbox", {"input": f"s{k - 1}", "output": f"s{k}", "ratio": 2.0})
        elif k:
            parts[f"k{k}"] = ("shaft_spring", {"a": f"s{k - 1}", "b": f"s{k}", "stiffness": 3.0})
    return circuit(parts)


def count_calls(function):
    """How many Python functions are called meanwhile."""
    profile = cProfile.Profile(builtins=False)
    profile.runcall(function)
    return sum(entry.callcount for entry in profile.getstats())


NETWORKS = [ladder, coils, dividers, shafts]


@pytest.mark.parametrize("make", by_day(NETWORKS, 2), ids=lambda f: f.__name__)
def test_analysis_grows_linearly_to_500_components(make):
    small, large = make(62), make(250)
    for system in (small, large):
        system.check()
    assert len(large.elements) >= 500
    find_network(make(5))  # whatever is done once
    calls = [count_calls(lambda system=system: find_network(system)) for system in (small, large)]
    growth = len(large.elements) / len(small.elements)
    assert calls[1] <= 1.15 * growth * calls[0]


@pytest.mark.parametrize("make", by_day(NETWORKS, 2), ids=lambda f: f.__name__)
def test_assembly_and_code_grow_linearly_to_500_components(make):
    sizes = (31, 125) if make in (coils, dividers) else (62, 250)  # one block of four rows a part takes its time
    topologies = [find_topology(make(n)) for n in sizes]
    outputs = []
    calls = [count_calls(lambda t=t: outputs.append(kernel_traces.trace(t, Kernel("rate")))) for t in topologies]
    growth = len(topologies[1].system.elements) / len(topologies[0].system.elements)
    operations = [sum(count_operations(out).values()) for out in outputs]
    assert calls[1] <= 1.15 * growth * calls[0]
    assert operations[1] <= 1.25 * growth * max(operations[0], 60)  # a few are saved at the ends
