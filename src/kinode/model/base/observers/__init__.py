"""Frames to look from, which are no part of a body; one class is one kind."""
