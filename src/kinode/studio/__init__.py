"""The studio: the server of live pages, the documents under change, and the editor of circuits."""
