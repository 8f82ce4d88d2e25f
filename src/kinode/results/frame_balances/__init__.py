"""Balances of force and moment about the origin of a frame, over a run."""
