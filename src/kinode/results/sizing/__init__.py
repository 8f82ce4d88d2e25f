"""Loads as those need them who choose motors and gears."""
