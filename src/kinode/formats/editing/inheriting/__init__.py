"""Models that extend others: the text of the base taken over."""
