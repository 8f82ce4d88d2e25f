"""Straight-line programs as lists of operations that an interpreter in machine code runs: no compiler is waited for."""
