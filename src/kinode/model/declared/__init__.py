"""What a system declares as data, beside its components."""
