"""What restrains the motion: loop constraints and their forces, locked joints, friction, static support."""
