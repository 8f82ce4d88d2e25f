"""What the studio shows beside drawing and run: derivations compared, equations, explanations, reports, other forms."""
