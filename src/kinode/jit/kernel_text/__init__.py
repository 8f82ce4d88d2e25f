"""Programs made lean, and their text: scalar operations, and vectors of several scalars."""
