"""What surrounds a mechanism: earth, air, sea."""
