"""What prints as text: equations, matrices, sheets of formulas."""

from __future__ import annotations


class PrintedText:
    """What prints as text, within a width; ``_write_text`` writes it."""

    def text(self, width: int = 80) -> str:
        """All of it as text.

        Parameters
        ----------
        width : int
            Characters of a line; default 80.

        Returns
        -------
        str
        """
        return self._write_text(width)

    def __str__(self) -> str:
        return self.text()

    def _write_text(self, width: int) -> str:
        raise NotImplementedError
