"""Equations to read, to print and to explain."""
