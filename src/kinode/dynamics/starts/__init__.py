"""Consistent initial states: loops closed, following states and networks at the values that the rest demands."""
