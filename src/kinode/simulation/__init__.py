"""One run: method, events of time, stop conditions, failures and their causes."""
