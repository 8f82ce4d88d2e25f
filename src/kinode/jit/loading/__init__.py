"""From bytes to machine code in memory: object files, the symbols that they need, the host that they are for."""
