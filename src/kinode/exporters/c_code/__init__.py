"""A system as a library in C."""
