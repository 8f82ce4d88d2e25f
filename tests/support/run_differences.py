"""Derivatives of runs by differences of tight runs, to compare those that are integrated with."""

from __future__ import annotations

import numpy as np

import kinode as kn

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}
SHARE = 1e-4  # step of a difference, as a share of the value; differences of order four


def read(text):
    """A model from its text."""
    return kn.loads("kinode: 1\n" + text)


def find_errors(model, until, names, samples=31, share=SHARE, **options):
    """For each name the largest error of all states over the run, as a share of the largest derivative.

    The states of the run must be kept at times at which nothing jumps.
    """
    dynamics = kn.compile(model) if isinstance(model, kn.System) else model
    options = {"samples": samples, **TIGHT, **options}
    run = kn.simulate(dynamics, until, sensitivity=names, **options)
    assert run.columns.lost_time is None
    errors = {}
    for k, name in enumerate(names):
        expected = differences(dynamics, until, name, run, share, options)
        size = abs(expected).max()
        errors[name] = abs(run.columns.values[:, k] - expected).max() / size if size > 1e-7 else abs(expected).max()
    return errors


def differences(dynamics, until, name, run, share, options):
    """The derivatives of the states by differences of order four."""
    names = [c.name for c in dynamics.coordinates]
    by_start = name in names
    value = run.y[0, names.index(name)] if by_start else {**run.input_values, **run.parameters, **run.live}[name]
    step = share * (max(1.0, abs(value)) if by_start else abs(value) or 1.0)

    def states(x):
        if by_start:
            return kn.simulate(dynamics, until, start={**options.get("start", {}), name: x}, **without(options)).y
        field = "inputs" if name in run.input_values else "parameters"
        return kn.simulate(dynamics, until, **{field: {name: x}}, **options).y

    low, less, more, high = (states(value + i * step) for i in (-2, -1, 1, 2))
    return (low - 8 * less + 8 * more - high) / (12 * step)


def without(options):
    """The options but the start."""
    return {name: value for name, value in options.items() if name != "start"}


def last(run, of, by):
    """The derivative at the end of a run."""
    return np.asarray(run.sensitivity(of, by))[-1]
