"""Films of runs, made by a Chromium without a window."""
