"""Pictures of a mechanism, and its vector scheme."""
