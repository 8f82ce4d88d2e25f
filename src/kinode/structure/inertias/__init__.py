"""Mass: freedoms without any, and the entries of the mass matrix."""
