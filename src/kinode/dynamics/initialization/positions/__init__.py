"""Positions on the way to a closed one: where to begin, and how the constraints curve."""
