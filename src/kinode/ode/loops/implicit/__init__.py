"""Steps of implicit methods: Jacobian, linear equations, Newton iteration, error estimate."""
