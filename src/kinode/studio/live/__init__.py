"""Live pages: a run whose numbers are changed on the page, and computed anew."""
