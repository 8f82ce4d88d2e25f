"""The text of straight-line code: scalar operations, and vectors of several scalars."""
