"""The component circuit in its own form: topology, equations as they stand, solution vector."""
