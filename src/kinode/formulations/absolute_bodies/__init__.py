"""Constraint forces eliminated from the equations of all bodies, in absolute coordinates (T-10.9)."""
