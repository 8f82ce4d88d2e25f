"""Efforts as linear functions of inertial numbers and friction: regressor, base parameters, fits, exciting motions."""
