"""FMUs of others: unpacked, described and called through FMPy; no mechanics."""
