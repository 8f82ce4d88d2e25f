"""The mechanics of one instant, in any kind of number: recursions, constraints, friction, reactions, power."""
