"""Loop code for large systems: programs that loop over tables of links, and of links and constraint rows."""
