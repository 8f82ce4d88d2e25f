"""Signals: filters, controllers, samplers."""
