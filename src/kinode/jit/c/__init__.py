"""C text: programs and loops as C99, with the same numbers as machine code."""
