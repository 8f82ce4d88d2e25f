"""Programs and loops to machine code, kept on disk between sessions.  Knows no mechanics."""
