"""What is known of a run: trajectories, joint loads and their causes, the energy audit."""
