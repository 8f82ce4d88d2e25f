"""Calls of derivatives: what is asked for, functions for inner loops, second derivatives, shared reactions."""
