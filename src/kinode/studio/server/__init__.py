"""The web server behind live pages and the studio: who may speak to it, what it serves, requests and answers."""
