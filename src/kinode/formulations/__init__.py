"""Other ways to the same equations, one file for each, and the table of them all."""
