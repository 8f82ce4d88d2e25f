"""Runs as tables for other programs: CSV, Excel, MAT."""
