"""Subsystems in the studio: boxes that are opened and closed, and the library that they come from."""
