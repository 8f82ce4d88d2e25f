"""Loops that advance a run by one interval at a time, for callers that have their own clock."""
