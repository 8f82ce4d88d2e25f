"""Columns of derivatives that are integrated with the state, and how they jump at events."""
