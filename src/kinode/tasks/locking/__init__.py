"""Loops that cannot move: which joints they lock, and what would free them."""
