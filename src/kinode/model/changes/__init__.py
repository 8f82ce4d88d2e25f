"""Changes of a whole system: another name for a component, and what goes with one that is removed."""
