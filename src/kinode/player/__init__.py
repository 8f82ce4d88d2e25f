"""The player: a run as data for a page, and that page as a file, in a report, a notebook or a film."""
