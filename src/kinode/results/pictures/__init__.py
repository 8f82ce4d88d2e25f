"""Pictures of a run for views that move: poses, loads and quantities at even times."""
