"""Layer 0: numbers of every kind, rotations and poses, laws, units, tables."""
