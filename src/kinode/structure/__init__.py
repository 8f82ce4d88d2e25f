"""The structure of a system before any number: spanning tree and loops, layout of the state, networks."""
