"""The studio: a model that is drawn on a page, its text, its checks and its runs."""
