"""Laws as text: parser, syntax tree, equations, units, lookup tables, waveforms."""
