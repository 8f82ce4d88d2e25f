"""What tests of events ask of runs."""

import numpy as np


def began(run, component, *words):
    """When a component began to do something."""
    return np.array([e.time for e in run.events if component in e.components and e.becomes in words])
