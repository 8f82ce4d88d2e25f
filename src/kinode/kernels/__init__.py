"""Which programs there are, how they are traced, and what they take and give."""
