"""Reading an unfinished model: as much of the system as can be built, and all of its problems.

A component that cannot be built is left out and named.  What then is missing elsewhere is said once, not again for
everything that depends on it.  Where the text is no YAML at all, there is one problem, with its line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kinode.errors import LawError, ModelError
from kinode.formats.editing.box_places import Box, box_prefix, find_box, split_box
from kinode.formats.editing.cures import Cure, find_cures
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.formats.editing.spans.chunked_spans import reread_spans
from kinode.formats.editing.trusted_places import is_trusted
from kinode.formats.model_loader import DEEPEST_FILES, SECTIONS, ModelLoader
from kinode.formats.span_nodes import SpanNode
from kinode.formats.yaml_text import Map, plain_value
from kinode.model.base.fields import unknown
from kinode.model.network.part import Part
from kinode.model.system import System
from kinode.model.system_checks import find_errors

WORD = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
QUOTED = re.compile(r"'([^']+)'")
TWICE = re.compile(r"'([^']+)' is given twice")
SIDES = {"a": "1", "b": "2"}
ERROR, FOLLOWS = "error", "follows"


class Problem(NamedTuple):
    """Something wrong in a text.

    Attributes
    ----------
    message : str
        What is wrong, and what to do.
    severity : str
        ``error``, or ``follows`` where only another error is the cause.
    component, field, port : str
        Where in the model; empty if that is not known.
    line : int, optional
        The line, from 1.
    span : tuple of int, optional
        The characters of the text, from start to end.
    cures : tuple of Cure
        Changes that may mend it.
    box : tuple of str
        The subsystems in whose text it stands; the name of ``component`` begins with them.
    """

    message: str
    severity: str = ERROR
    component: str = ""
    field: str = ""
    port: str = ""
    line: int | None = None
    span: tuple[int, int] | None = None
    cures: tuple[Cure, ...] = ()
    box: Box = ()


class CheckedText(NamedTuple):
    """What a text means so far.

    Attributes
    ----------
    system : System
        As much as could be built; not to be changed, since it may be given to several.
    problems : tuple of Problem
        All that is wrong.
    complete : bool
        Whether nothing is.
    broken : dict
        The components of the text that could not be built, by name, with the reason.
    readable : bool
        Whether it is YAML or JSON at all.
    """

    system: System
    problems: tuple[Problem, ...]
    complete: bool
    broken: dict[str, str]
    readable: bool = True


def check_text(
    text: str, file: str | os.PathLike[str] | None = None, trust: bool = False, box: Box = ()
) -> CheckedText:  # fmt: skip
    """Read a model as far as that is possible, with all its problems.

    Parameters
    ----------
    text : str
        The model as YAML or JSON.
    file : str or path, optional
        The file that it is from: for the files that it names.
    trust : bool, default False
        Whether it may name files outside the folder of ``file``, and FMUs; see also ``trusted_places``.
    box : tuple of str
        The subsystem whose inside is read by itself: its nodes may be open, and names are those in it.

    Returns
    -------
    CheckedText

    Examples
    --------
    >>> from kinode.formats.editing.checked_text import check_text
    >>> checked = check_text("kinode: 1\\nbodies: {a: {mass: 1 m}, b: {mass: 1}}")
    >>> [(problem.component, problem.field) for problem in checked.problems]
    [('a', 'mass'), ('b', '')]
    >>> list(checked.system.bodies)
    ['b']
    """
    where = None if file is None else Path(file)
    trusted = trust or is_trusted(where)
    loader = TolerantLoader(where, None if where is None else where.parent, trusted, (), whole=not box)
    try:
        root = reread_spans(text)
    except ModelError as error:
        system = System("system" if where is None else where.stem or "system")
        return CheckedText(system, (_unreadable(text, error),), False, {}, readable=False)
    inside = find_box(root, box)
    system = loader.build_tree(inside, box[-1] if box else "")
    problems = tuple(_problems(loader, text, inside, system, ()))
    broken = {name: error.message for name, error in loader.failed.items()}
    return CheckedText(system, problems, not problems, broken)


def _problems(loader: TolerantLoader, text: str, root: SpanNode, system: System, box: Box) -> Iterator[Problem]:
    """The problems of a model, and those of its subsystems that are written out, each where it stands."""
    for name, (inner, built) in loader.inner.items():
        yield from _problems(inner, text, find_box(root, (name,)), built, (*box, name))
    for error, follows in loader.errors:
        deeper, name = split_box(root, error.component or "")
        places = EntryPlaces(text, find_box(root, deeper))
        problem = _problem(error, places, system, name, follows)
        whole = (*box, *deeper)
        if whole:
            cures = () if deeper else tuple(cure.inside(whole) for cure in problem.cures)
            named = f"{box_prefix(whole)}{name}" if name else ".".join(whole)
            problem = problem._replace(component=named, box=whole, cures=cures)
        yield problem


class TolerantLoader(ModelLoader):
    """Builds what can be built, and collects the errors."""

    def __init__(
        self, file: Path | None, root: Path | None, trust: bool, outer: tuple[Path, ...], whole: bool = True
    ) -> None:
        super().__init__(file, root, trust, outer, whole)
        self.errors: list[tuple[ModelError, bool]] = []  # whether it only follows from another
        self.failed: dict[str, ModelError] = {}
        self.mentioned: set[str] = set()  # names in entries that failed
        self.inner: dict[str, tuple[TolerantLoader, System]] = {}  # subsystems that are written out

    def build_tree(self, root: SpanNode, box: str = "") -> System:
        """The system of a text that was read, or of a box of that name in it."""
        data = plain_value(root)
        if not isinstance(data, Map):
            self.refuse(ModelError("a model is a mapping that starts with 'kinode: 1'", line=1))
            return System("system")
        if box:
            return self.build(data, box)
        self.check_version(data)
        return self.build(data, self.file.stem if self.file is not None else "system")

    def build_inner(self, data: Any, name: str) -> System:
        """A subsystem that is written out, as far as it can be built."""
        here = Path(f"{self.file_name}#{name}")
        if not isinstance(data, Map) or len(self.outer) > DEEPEST_FILES:
            return super().build_inner(data, name)
        inner = TolerantLoader(self.file, self.root, self.trust, (*self.outer, here), whole=False)
        system = inner.build(data, name)
        self.inner[name] = (inner, system)
        return system

    def has_wrong_inside(self, name: str) -> bool:
        """Whether a name is, or belongs to, a subsystem with errors of its own."""
        inner = self.inner.get(name.partition(".")[0])
        return inner is not None and bool(inner[0].errors)

    def refuse(self, error: ModelError) -> None:
        """Keep an error, and the name of the entry that is left out."""
        section, name = self.find_section(error.component)
        entries = self.data.get(section) if section in SECTIONS else None
        if name is not None and isinstance(entries, Map):
            self.failed.setdefault(name, error)
            self.mentioned.update(_words_in(entries.get(name)))
        elif section == "circuit":
            drawn = self.data["circuit"]
            self.mentioned.update(_words_in(drawn))
        self.errors.append((error, self.follows(error)))

    def follows(self, error: ModelError) -> bool:
        """Whether an error is only about something that has an error of its own."""
        if self.has_wrong_inside(error.component or ""):
            return True
        named = [word for quoted in QUOTED.findall(error.message) for word in (quoted, quoted.partition(".")[0])]
        return any(word in self.failed and word != error.component for word in named)

    def check(self, system: System) -> None:
        """Collect what a look at the whole shows, less what comes from entries that were left out."""
        self.leave_out_unconnected(system)
        nodes = {name for name, node in system.nodes.items() if not node.reference}
        known = {*nodes, *system.bodies, *self.failed}
        missing, failed = self.mentioned & known, dict(self.failed)
        for error in find_errors(system, self.whole):
            names = _names_in(error, system)
            if any(map(self.has_wrong_inside, names)):
                continue
            if missing & names or any(name.partition(".")[0] in failed for name in names):
                continue
            self.fault(error)
        self.failed = failed  # what the checks refuse is in the system

    def leave_out_unconnected(self, system: System) -> None:
        """Take out parts whose ports fit no node, and what acts in joints that are not there."""
        while True:
            try:
                _ = system.nodes
                break
            except ModelError as error:
                self.fault(error)
                if error.component not in system.declared:
                    break
                system.discard(error.component)
        for component in [*system.constraints.values(), *system.elements.values()]:
            for field, spec in component.specs().values():
                joint = getattr(component, field.name) if spec.shape == "joint" else None
                if joint is not None and joint not in system.joints and component.name in system.declared:
                    message = unknown("no joint is called", joint, system.joints)
                    system.discard(component.name)
                    self.fault(ModelError(message, component=component.name, field=field.name))


def _names_in(error: ModelError, system: System) -> set[str]:
    """The components and nodes that an error is about: quoted, listed before its colon, or those that it is at."""
    quoted = QUOTED.findall(error.message)
    head, colon, _ = error.message.partition(": ")
    listed = [name for name in head.split(", ") if name in system.declared] if colon else []
    law = (error.text or "") if isinstance(error, LawError) else ""
    names = {error.component or "", *quoted, *listed, *WORD.findall(law)}
    at = [] if quoted else [error.component or "", *listed]
    for part in map(system.declared.get, at):
        if isinstance(part, Part):
            names.update(getattr(part, port) for port in part.ports())
    return names


def _words_in(value: object) -> Iterator[str]:
    """The names in a value, however nested."""
    if isinstance(value, str):
        for word in WORD.findall(value):
            yield word
            yield word.partition(".")[0]
    inner: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from _words_in(item)


def _problem(
    error: ModelError, places: EntryPlaces, system: System, component: str, follows: bool
) -> Problem:  # fmt: skip
    field = error.field or ""
    span, line = places.find(component, field)
    line = error.line if error.line is not None else line
    own = system.declared.get(component)
    kind_ports = own.ports() if isinstance(own, Part) else places.ports_of(component, system)
    port = field if field in kind_ports else ""
    if places.section_of(component) == "joints":
        port = SIDES.get(field, "")
    message = error.message
    if isinstance(error, LawError) and error.text is not None and error.text not in message:
        message = f"{message}: {error.text}" if len(error.text) < 80 else message
    cures = () if follows else find_cures(error, places, system, span)
    return Problem(message, FOLLOWS if follows else ERROR, component, field, port, line, span, cures)


def _unreadable(text: str, error: ModelError) -> Problem:
    """The one problem of a text that is no YAML."""
    line = error.line
    span = None
    if line is not None:
        lines = text.splitlines(keepends=True)
        start = sum(len(x) for x in lines[: line - 1])
        span = (start, start + len(lines[line - 1].rstrip()) if line <= len(lines) else start)
    cures: tuple[Cure, ...] = ()
    twice = TWICE.match(error.message)
    if twice is not None and span is not None:
        found = re.compile(rf"(?<![\w.]){re.escape(twice[1])}(?=[\"']?[ \t]*:)").search(text, *span)
        if found is not None:
            span = found.span()
            new = free_key(twice[1], text)
            cures = (Cure(f"call the second one {new}", {"do": "text", "edits": [[*span, new]]}),)
    return Problem(error.message, component="", field=error.field or "", line=line, span=span, cures=cures)


def free_key(name: str, text: str) -> str:
    """A name with a number that stands nowhere in a text."""
    return next(new for k in range(2, 10_000) if (new := f"{name}_{k}") not in text)
