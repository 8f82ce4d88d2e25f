"""kinode's own files: YAML and JSON, their schema; ``load`` for these and for what importers read."""
