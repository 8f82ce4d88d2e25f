"""Integrators of y' = f(t, y) with events, on machine code.  Knows no mechanics."""
