"""Results of a run: trajectories, joint loads and their breakdown, the energy audit."""
