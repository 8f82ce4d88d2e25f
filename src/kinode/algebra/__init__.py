"""Scalar types, vectors and poses, small linear systems."""
