"""FMUs: a system as a program that other simulators run (Functional Mock-up Interface 2.0 and 3.0)."""
