"""Sensitivities of runs: what they are by, and the compiled functions that integrate them with the state."""
