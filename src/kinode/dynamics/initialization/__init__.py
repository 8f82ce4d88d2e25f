"""Consistent initial conditions: initial values, assembly of loops, states that follow others."""
