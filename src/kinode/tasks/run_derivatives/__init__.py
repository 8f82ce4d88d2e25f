"""Derivatives of runs: how the start depends on parameters and initial values."""
