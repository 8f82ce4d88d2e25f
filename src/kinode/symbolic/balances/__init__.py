"""Balances of force and moment about the origin of any frame, in its axes: as vectors, and in scalar components."""
