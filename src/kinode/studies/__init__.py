"""Many runs: studies over what varies, batches in the background, fits to measurements."""
