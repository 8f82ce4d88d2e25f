"""What gestures do, one file for each sort."""
