"""The shortcut methods of System, as the kinds that are registered declare them.

Type checkers and editors read ``shortcuts.pyi`` in the place of this file: there every method has its arguments.
``python -m kinode.model.stub_writer`` writes it, and a test compares.
"""

from __future__ import annotations

from kinode.model.base.shortcut_methods import ShortcutMethods


class Shortcuts(ShortcutMethods):
    """What System offers beside ``joint``, ``constraint`` and ``element``: a method for each kind."""
