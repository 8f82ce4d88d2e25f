"""Code of low effort at once, and of high effort when it is there."""
