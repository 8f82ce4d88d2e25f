"""Many runs of one compiled system in the background, and what is read from them."""
