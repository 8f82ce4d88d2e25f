"""The elimination of constraint forces in matrices: symbols, and values at a state."""
