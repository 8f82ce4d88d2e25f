"""Building in 3D: the model at its start, whole or not, and what is placed, joined and pulled there."""
