"""Square roots in formulas: lengths that do not pass zero are written without."""
