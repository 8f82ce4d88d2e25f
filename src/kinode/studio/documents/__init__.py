"""The document of the studio: the text of a model with its versions, its file, its journal and its view."""
