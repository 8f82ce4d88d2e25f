"""Models in other forms: scripts, pictures, files of other programs."""
