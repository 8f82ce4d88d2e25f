"""The integrators' loops, in the Python that ``jit/loop/translator.py`` takes; all files here count as source."""
