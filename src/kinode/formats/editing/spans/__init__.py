"""Spans of a YAML text: reading them again, changing them, and values as they are written."""
