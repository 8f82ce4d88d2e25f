"""The studio compares its document with other models."""
