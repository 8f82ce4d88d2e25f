"""Inputs that change during a run, in the compiled loops."""
