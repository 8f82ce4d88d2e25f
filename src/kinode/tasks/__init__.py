"""What one asks of one model: runs, equilibria, modes, inverse motion, verification; a file for each question."""
