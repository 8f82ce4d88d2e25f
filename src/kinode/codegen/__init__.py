"""Layer 4: from formulations to machine code that the host runs, kept on disk between sessions."""
