"""Live pages: the server with its gate, the session, the model whose numbers are changed."""
