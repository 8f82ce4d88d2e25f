"""Loop code of systems with constraints that is run backward: equations, their solver, shared loads."""
