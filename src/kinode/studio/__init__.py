"""The player in files, notebooks and the browser, and the live server."""
