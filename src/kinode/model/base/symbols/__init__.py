"""The symbols of components as data: what they are drawn with, and where the leads of their ports end.

A symbol is drawn about its own middle, in units of which its box has 40 by 40; x is to the right and y is down, as in
SVG.  It holds no drawing code, so that every view can draw it: the circuit diagram, a page in a browser (``to_dict``).
A class of components names its symbol in ``symbol``; subclasses inherit it.  The symbols that come with kinode are in
house_symbols.py, and are looked up by name with ``find_symbol``.
"""

from kinode.model.base.symbols.joint_glyphs import GlyphFill, JointGlyph, Support
from kinode.model.base.symbols.strokes import Disc, Lettering, Stroke, StrokeRole, parse_path
from kinode.model.base.symbols.symbol_record import Outline, Symbol, find_symbol, symbol_of

__all__ = [
    "Disc", "GlyphFill", "JointGlyph", "Lettering", "Outline", "Stroke", "StrokeRole", "Support", "Symbol",
    "find_symbol", "parse_path", "symbol_of",
]  # fmt: skip
