"""Bounds of laws along a run: which laws have them, and their search over many steps."""
