"""kinode's own files (YAML, JSON) and their schema; ``kn.load`` for these and for the importers."""
