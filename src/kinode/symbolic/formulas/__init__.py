"""Formulas in vectors and matrices, with indices and sums: written once, then printed in three ways and evaluated."""
