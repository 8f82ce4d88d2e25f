"""Constraints beyond joints: one file for each kind."""
