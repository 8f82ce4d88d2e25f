"""What runs of one compiled system share: its compiled functions, events and the memory of its runs."""
