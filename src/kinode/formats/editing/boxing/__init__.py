"""Subsystems under change: gestures inside them, boxes made of a selection, and boxes that are dissolved."""
