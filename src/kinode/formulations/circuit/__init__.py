"""The component circuit: equations from components and nodal laws alone."""
