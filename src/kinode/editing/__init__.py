"""Editing model files as text: every change is a list of edits of spans, and all other characters stay."""
