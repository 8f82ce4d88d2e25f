"""The circuit diagram of a system, as SVG."""
