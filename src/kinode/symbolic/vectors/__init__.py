"""Reactions in vectors: the formulas of quasi-base vectors and of rotators, for any tree."""
