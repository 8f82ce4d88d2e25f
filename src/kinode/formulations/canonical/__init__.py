"""Hamilton's canonical equations."""
