"""Hamilton's canonical equations as formulas."""
