"""Derivatives of traced results: forward and backward over a tape, through the equations of motion."""
