"""Analyses of many states at once, in compiled loops: internal stresses, trial steps."""
