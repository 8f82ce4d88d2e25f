"""The structure of a system, without numbers: spanning tree and loops, layout of the state, networks."""
