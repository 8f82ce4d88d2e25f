"""Cut joints in loop code: those of a kind share their steps."""
