"""Runs in absolute coordinates: the equations of all bodies with the constraint forces eliminated."""
