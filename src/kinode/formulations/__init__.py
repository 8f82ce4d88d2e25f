"""Independent derivations of the equations of motion, one file for each, and the table of all of them."""
