"""Laws as text: expressions, equations, units, lookup tables, waveforms."""
