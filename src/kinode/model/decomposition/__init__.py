"""Joints with several freedoms taken apart into hinges and slides: ``System.decomposed``."""
