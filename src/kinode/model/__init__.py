"""The description of a mechanism: System and the records that it holds."""
