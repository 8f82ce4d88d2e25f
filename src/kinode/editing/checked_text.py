"""Checking of an unfinished model: as much of the system as can be built, all of its problems, and what may cure them.

A component that cannot be built is left out and named.  What then is missing elsewhere is said once, not again for
everything that depends on it.  Where the text is no YAML at all, there is one problem, with its line.  A cure is a
change that may mend an error: the nearest name in the place of a wrong one, a reference, a joint to the world.

A text under change is read again and again, by many who know no more than its place.  What is trusted is one file, as
long as the studio that was started with it is open; a model cannot say it of itself.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kinode.editing.chunked_spans import reread_spans
from kinode.editing.places import Box, EntryPlaces, box_prefix, find_box, split_box
from kinode.errors import LawError, ModelError
from kinode.formats.yaml_files import DEEPEST_FILES, SECTIONS, ModelLoader
from kinode.formats.yaml_text import Map, SpanNode, plain_value
from kinode.model.base.field_reader import JOINT
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
        Whether it may name files outside the folder of ``file``, and FMUs; `places.py` says which.
    box : tuple of str
        The subsystem whose inside is read by itself: its nodes may be open, and names are those in it.

    Returns
    -------
    CheckedText

    Examples
    --------
    >>> from kinode.editing.checked_text import check_text
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
            for field, joint in component.values_of(JOINT).items():
                if joint not in system.joints and component.name in system.declared:
                    message = unknown("no joint is called", joint, system.joints)
                    system.discard(component.name)
                    self.fault(ModelError(message, component=component.name, field=field))


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


class Cure(NamedTuple):
    """A change that may mend a problem: what it does in words, and the gesture that does it."""

    words: str
    gesture: dict[str, Any]

    def inside(self, box: Box) -> Cure:
        """The same in a subsystem; edits of a text are those of the whole anyway."""
        if self.gesture["do"] == "text":
            return self
        return Cure(self.words, {"do": "in", "box": list(box), "gesture": self.gesture})


def find_cures(
    error: ModelError, places: EntryPlaces, system: System, span: tuple[int, int] | None
) -> tuple[Cure, ...]:  # fmt: skip
    """The cures that are known for an error."""
    cures = _nearest_names(error, places, span)
    component, field = error.component or "", error.field or ""
    part = system.declared.get(component)
    domain = part.ports().get(field) if isinstance(part, Part) else None
    if domain is not None and not any(domain.reference in cure.words.split() for cure in cures):
        gesture = {
            "do": "connect", "from": {"component": component, "port": field}, "to": {"reference": domain.reference},
        }  # fmt: skip
        cures.append(Cure(f"connect {component}.{field} to {domain.reference}", gesture))
    if component in system.bodies and not field:
        for kind, words in (("free", f"let {component} move freely"), ("fixed", f"fix {component} to the world")):
            fields = {"between": f"[world, {component}]"}
            cures.append(Cure(words, {"do": "add", "kind": kind, "fields": fields}))
    if places.section_of(component) == "joints" and component not in system.joints and not field:
        first = places.root.find(*places.field_path(component, ("a",)))
        if first is not None and first.value != "world":
            to: dict[str, Any] = {"reference": "world"}
            gesture = {"do": "connect", "from": {"component": component, "port": "1"}, "to": to}
            cures.append(Cure(f"join {component} to the world on its first side", gesture))
    if "kinode: 1" in error.message and not places.root.find("kinode") and not component:
        cures.append(Cure("write kinode: 1 at the top", {"do": "text", "edits": [[0, 0, "kinode: 1\n"]]}))
    return tuple(cures)


def _nearest_names(error: ModelError, places: EntryPlaces, span: tuple[int, int] | None) -> list[Cure]:
    """The wrong word replaced by each that may have been meant."""
    if error.suggestion is None or span is None:
        return []
    wrong, near = error.suggestion
    start, end = span
    whole = re.compile(rf"(?<![\w.]){re.escape(wrong)}(?!\w)").search(places.text, start, end)
    part = re.compile(rf"(?<=\.){re.escape(wrong)}(?!\w)").search(places.text, start, end)  # elbow.torque
    found = whole or part
    if found is None:
        entry = places.entry(places.field_path(error.component or "", (wrong,)))
        if entry is None:
            return []
        start, end = entry.start, entry.end
    else:
        start, end = found.span()
    return [Cure(f"write {word} instead of {wrong}", {"do": "text", "edits": [[start, end, word]]}) for word in near]


_TRUSTED: Counter[Path] = Counter()


@contextmanager
def trusting(file: str | os.PathLike[str]) -> Iterator[None]:
    """Trust the model of a file for a while."""
    place = Path(file).resolve()
    _TRUSTED[place] += 1
    try:
        yield
    finally:
        _TRUSTED[place] -= 1


def is_trusted(file: str | os.PathLike[str] | None) -> bool:
    """Whether a studio was started with this file and trust."""
    return file is not None and bool(+_TRUSTED) and _TRUSTED[Path(file).resolve()] > 0
