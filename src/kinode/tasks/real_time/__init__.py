"""A system that is advanced by the caller's clock."""
