"""Starts of other parameters, from the model's own closed position by compiled Newton steps."""
