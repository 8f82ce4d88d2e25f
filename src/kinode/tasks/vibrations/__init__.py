"""Eigenvalues along a parameter, and mode shapes that a picture can swing."""
