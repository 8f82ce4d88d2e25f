"""Calls of derivatives: what is asked for, the prepared function, the blocks of its result."""
