"""A system as functions of machine code: ``kn.compile``; its modes and joint reactions."""
