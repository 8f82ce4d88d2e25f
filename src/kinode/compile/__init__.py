"""Layer 4: from a traced program to machine code that the host runs, kept on disk between sessions."""
