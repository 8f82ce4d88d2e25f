"""Machine code as built-in functions of Python."""
