"""Runs laid out in memory, and begun again there with other values."""
