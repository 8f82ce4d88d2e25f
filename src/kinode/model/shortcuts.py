"""The shortcut methods of System, one for each registered kind that declares one.

Type checkers and editors read ``shortcuts.pyi`` instead of this file, where every method has its arguments.
``tools/write_stubs.py`` writes it, and a test compares.
"""

from __future__ import annotations

from kinode.model.base.kinds import ShortcutMethods


class Shortcuts(ShortcutMethods):
    """What System offers beside ``joint``, ``constraint`` and ``element``: a method for each kind."""
