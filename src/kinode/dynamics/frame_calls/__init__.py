"""Calls about frames of bodies: where they are and how they move, and those that are not defined."""
