"""What follows from the sensitivities of a run: derivatives of quantities by name, and tolerances."""
