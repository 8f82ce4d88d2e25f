"""Loads of shafts: bearings, polar diagrams, spectra."""
