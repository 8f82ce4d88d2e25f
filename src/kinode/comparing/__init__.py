"""Two models compared by what they mean."""
