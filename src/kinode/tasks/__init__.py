"""What one asks of a model, one file for each public function."""
