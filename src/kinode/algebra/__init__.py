"""Numbers of every kind, vectors and poses, small linear systems."""
