"""Regular expressions that are compiled when they are first used: many of kinode's are not, in most runs."""

from __future__ import annotations

import re
from functools import cached_property


class LatePattern:
    """A regular expression; ``whole`` is the compiled one, and the methods are its methods."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern, self.flags)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """A match at the start."""
        return self.whole.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of all of a text."""
        return self.whole.fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match within a text."""
        return self.whole.search(text)

    def sub(self, new: str, text: str) -> str:
        """The text with each match replaced."""
        return self.whole.sub(new, text)
