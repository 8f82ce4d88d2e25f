"""The integrators' loops, in the Python that ``jit/translator.py`` takes; all files here count as source."""
