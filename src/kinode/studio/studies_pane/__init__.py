"""Studies in the studio: many runs of the model as it stands, over what varies."""
