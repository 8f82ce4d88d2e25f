"""Domains of networks as data, and the ports that parts get by them."""
