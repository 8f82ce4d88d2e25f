"""Fits of a model to measurements: records, residuals, least squares, what the data do not show."""
