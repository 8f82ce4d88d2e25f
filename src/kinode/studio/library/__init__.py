"""The library of the studio: model files beside a document that are parts of its palette."""
