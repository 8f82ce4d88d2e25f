"""Layer 3: one file for each way of deriving the equations."""
