"""Many rows most of whose entries are zero: what belongs together, and factors."""
