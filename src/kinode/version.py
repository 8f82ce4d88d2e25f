"""The version of kinode, for all who ask; pyproject.toml reads it here."""

__version__ = "0.1.0"
