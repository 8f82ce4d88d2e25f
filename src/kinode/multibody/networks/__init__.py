"""Networks at one instant: condensed to what they do to joints, and at the accelerations of a motion."""
