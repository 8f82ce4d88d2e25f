"""Reactions of compiled systems: in joints and constraints, shared where equilibrium does not determine them."""
