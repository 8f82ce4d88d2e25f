"""What goes wrong, said well: every error names the component and says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

SHORTEST_ABBREVIATION = 3  # letters of a word that may stand for a longer one


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 joint", "2 joints", "0 bodies"; the plural is given where it is not an s more."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(names: Iterable[str], word: str = "and") -> str:
    """Names in a row: "a", "a and b", "a, b and c"; "nothing" where there are none."""
    *first, last = list(names) or ["nothing"]
    return f"{', '.join(first)} {word} {last}" if first else last


class Suggestion(NamedTuple):
    """A wrong word, and the words that may have been meant in its place, the likeliest first."""

    wrong: str
    near: tuple[str, ...]


class Advice(str):
    """The text of a message that makes a suggestion; what is joined to it by ``+`` makes it too."""

    suggestion: Suggestion

    def __new__(cls, text: str, suggestion: Suggestion) -> Advice:
        """The text with its suggestion."""
        advice = super().__new__(cls, text)
        advice.suggestion = suggestion
        return advice

    def __add__(self, after: str) -> Advice:
        return Advice(f"{self}{after}", self.suggestion)

    def __radd__(self, before: str) -> Advice:
        return Advice(f"{before}{self}", self.suggestion)

    def __getnewargs__(self) -> tuple[str, Suggestion]:  # type: ignore[override]
        return f"{self}", self.suggestion


class Error(Exception):
    """Base of everything that kinode raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints: the user's own lines and the message."""
        from kinode.notebook_traceback import render

        return render(self)


class ArgumentError(Error, ValueError):
    """A function was given an argument of the wrong shape, type or name."""


class SupportError(ArgumentError):
    """What ``hold=`` names cannot support the mechanism, or the support does not matter."""


class LongRunWarning(UserWarning):
    """A run takes so many steps that something in it may be faster than was meant."""


class SensitivityWarning(UserWarning):
    """A run has no derivative from some time on."""


class GuessWarning(UserWarning):
    """A start is far from a joint's guess."""


class RunWarning(UserWarning):
    """A run shows that its model may not be what was meant: nothing in it can move, or a wheel is pulled down."""


class ExportWarning(UserWarning):
    """An exported file lacks something that it could hold."""


class ModelError(Error):
    """The description of the system is wrong.

    ``component`` and ``field`` say where in the model, ``file`` and ``line`` where in a file; ``suggestion`` which word
    is wrong, and which may have been meant.
    """

    def __init__(
        self,
        message: str,
        *,
        component: str | None = None,
        field: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.component = component
        self.field = field
        self.file = file
        self.line = line

    def __str__(self) -> str:
        where = ".".join(part for part in (self.component, self.field) if part)
        place = f"{self.file}:{self.line}" if self.file and self.line else self.file or ""
        if not place and self.line:
            place = f"line {self.line}"
        return ": ".join(part for part in (place, where, self.message) if part)

    @property
    def suggestion(self) -> Suggestion | None:
        """The wrong word and those that may have been meant, where the message asks so."""
        return self.message.suggestion if isinstance(self.message, Advice) else None

    def located(self, **where: Any) -> ModelError:
        """This error with the places filled in that it did not know yet."""
        for name, value in where.items():
            if getattr(self, name) is None:
                setattr(self, name, value)
        return self


class DomainError(ModelError):
    """Ports of different domains meet; the message begins with its verb, the port being its subject."""


class UnitError(ModelError):
    """A quantity has an unknown unit or the wrong dimension."""


class NonSIUnitError(UnitError):
    """A unit is known, but an SI unit is expected."""


class LawError(ModelError):
    """A law cannot be read; ``text`` and ``position`` point at the character."""

    def __init__(self, message: str, *, text: str | None = None, position: int | None = None, **where: Any) -> None:
        super().__init__(message, **where)
        self.text = text
        self.position = position

    def __str__(self) -> str:
        said = super().__str__()
        if self.text is None or self.position is None:
            return said
        first = max(0, min(self.position - 60, len(self.text) - 120))  # of a long text what is near
        shown = self.text[first : first + 120].replace("\n", " ")
        return f"{said}\n  {shown}\n  {' ' * (self.position - first)}^"


class Gap(NamedTuple):
    """How far a joint or constraint is from holding: a length in m and an angle in rad."""

    length: float
    angle: float

    def __str__(self) -> str:
        parts = [f"{size:.3g} {unit}" for size, unit in zip(self, ("m", "rad"), strict=True) if size > 1e-9]
        return " and ".join(parts) or "nothing"


class AssemblyError(Error):
    """The initial values cannot all hold; ``residuals`` says by how much each joint or constraint is off."""

    def __init__(self, message: str, residuals: Mapping[str, Gap] | None = None) -> None:
        super().__init__(message)
        self.residuals = dict(residuals or {})


class OtherRowsError(AssemblyError):
    """The constraint equations that a system was compiled with do not serve; ``rows`` do."""

    def __init__(self, message: str, rows: tuple[int, ...]) -> None:
        super().__init__(message)
        self.rows = rows


class SimulationError(Error):
    """A simulation ended early; ``run`` is the trajectory up to there."""

    def __init__(self, message: str, run: Any = None) -> None:
        super().__init__(message)
        self.run = run


def find_close(name: str, known: Iterable[str], count: int = 1, likeness: float = 0.6) -> list[str]:
    """Known names that a wrong one may stand for, the likeliest first.

    The same letters in another case; the words of other programs; an owner without its quantity; an abbreviation; else
    the nearest by their letters.
    """
    from difflib import get_close_matches  # which right models do without

    from kinode.other_words import translate

    names = [x for x in known if x != name]
    near = [x for x in names if x.lower() == name.lower()] or translate(name, names)
    if not near and name:
        near = [x for x in names if x.startswith(f"{name}.")]
    if not near and len(name) >= SHORTEST_ABBREVIATION:
        near = [x for x in names if x.startswith(name)]
    return (near or get_close_matches(name, names, n=count, cutoff=likeness))[:count]


def suggest(message: str, wrong: object, near: Iterable[str], most: int = 3, otherwise: str = "") -> str:
    """A message about a wrong word that asks whether one of those near was meant; what it says otherwise.

    Examples
    --------
    >>> from kinode.errors import suggest
    >>> suggest("no body is called 'amr'", "amr", ["arm"])
    "no body is called 'amr'; did you mean arm?"
    """
    words = tuple(near)
    if not words:
        return message + otherwise
    asked = " or ".join(words[:most]) + " ..." * (len(words) > most)
    return Advice(f"{message}; did you mean {asked}?", Suggestion(str(wrong), words[:most]))


TRUST = "if you know where the model is from, allow it: trust=True in Python, --trust on the command line"


def unreadable(file: Path, error: Exception) -> ModelError:
    """The error for a file that cannot be opened."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ModelError(f"cannot be read: {reason}", file=str(file))


def caller_depth() -> int:
    """Number of frames up to the first outside kinode, for ``stacklevel`` of a warning at the user's line."""
    import inspect  # right models do without

    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("kinode."):
        frame, depth = frame.f_back, depth + 1
    return depth
