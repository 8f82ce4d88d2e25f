"""Columns of numbers from files: text, Excel, MAT, Parquet."""
