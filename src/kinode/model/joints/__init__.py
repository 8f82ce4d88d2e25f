"""Joints: one file for each kind."""
