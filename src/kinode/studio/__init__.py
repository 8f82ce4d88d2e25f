"""Studio: runs in a browser.  The data of the player, and the server behind live pages with its gate."""
