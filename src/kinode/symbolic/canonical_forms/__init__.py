"""Standard forms of the equations of motion: the matrices of A u_dot + D + G = Q, and Hamilton's canonical form."""
