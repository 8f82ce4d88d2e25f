"""The document of the studio: the text of a model with its undo, its files, and the journal of what is not saved."""
