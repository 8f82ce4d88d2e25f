"""The description of a mechanism: the System here, the families of its components in the folders."""
