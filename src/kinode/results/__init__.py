"""Layer 6: what is known of a run: trajectories, reactions, the energy audit, verify."""
