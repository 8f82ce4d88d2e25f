"""Studies: designs of many runs, where they are made, what is kept of them."""
