"""Many runs of one task with little Python for each: their starts as matrices, their results by compiled loops."""
