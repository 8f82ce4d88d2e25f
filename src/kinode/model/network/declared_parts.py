"""Kinds of parts that are declared as data: ports, parameters, unknowns and equations in text.

    coil:
      base: two_pole
      parameters: {inductance: H, resistance: {unit: Ohm, default: 0}}
      unknowns: {current: {unit: A, start: initial_current}}
      equations: {induction: voltage = resistance*current + inductance*der(current)}

A declaration becomes a class as a user would have written it in Python, without any code from the file: equations go
through the parser of laws.  A system keeps its kinds for itself; equal declarations are one class, so that parts of
two systems can be compared.
"""

from __future__ import annotations

import dataclasses
import json
import keyword
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from kinode.errors import ModelError, UnitError
from kinode.expressions.units import DIMENSIONS, find_unit_name
from kinode.model.base.element import ELEMENTS
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import frame, law, number, record, short, unknown
from kinode.model.base.frames import NAME, Frame
from kinode.model.network.domain import AXES, DOMAINS, MECHANICAL, Domain, is_word
from kinode.model.network.part import Formula, Part, Row, Unknown, port, read_node
from kinode.model.network.two_port import TwoPole, TwoShaft, TwoSlide

BASES: dict[str, type[Part]] = {"two_pole": TwoPole, "two_shaft": TwoShaft, "two_slide": TwoSlide}
MOST_ENTRIES = 200  # entries of each section of a declaration
LONGEST_TEXT = 10_000  # characters of a text in a declaration
PRIORITIES = range(-100, 101)
FIELDS = (
    "doc", "base", "ports", "parameters", "laws", "unknowns", "names", "starts", "equations", "stored", "stores",
    "lost", "supplied", "positive", "unsigned", "structural",
)  # fmt: skip
_MADE: WeakValueDictionary[str, type[Part]] = WeakValueDictionary()


@record
class DeclaredPart(Part):
    """A part of a kind that was declared as data."""

    declaration: ClassVar[Mapping[str, Any]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field, _ in self.specs().values()}
        return _remake, (self.kind, dict(self.declaration), self.name, values)


def declare_kind(reader: Reader, kind: str, given: Any, domains: Mapping[str, Domain]) -> type[Part]:
    """The class of a declared kind; ``reader`` knows how numbers are read, its ports are of these ``domains``."""
    if not isinstance(kind, str) or not NAME.match(kind):
        raise reader.fail(None, f"{kind!r} cannot name a kind: use letters, digits and _, starting with a letter")
    if kind in ELEMENTS:
        raise reader.fail(None, f"the kind {kind!r} is there already; choose another name")
    return make_kind(kind, _Normal(reader, domains).declaration(given))


def make_kind(kind: str, declaration: Mapping[str, Any]) -> type[Part]:
    """The class of a kind from a declaration in its normal form."""
    key = json.dumps([kind, declaration], sort_keys=False)
    cls = _MADE.get(key)
    if cls is None:
        cls = _MADE[key] = _make(kind, declaration)
    return cls


def _remake(kind: str, declaration: Mapping[str, Any], name: str, values: Mapping[str, Any]) -> Part:
    return make_kind(kind, declaration)(name, **values)


def _make(kind: str, declaration: Mapping[str, Any]) -> type[Part]:
    base = BASES.get(declaration.get("base", ""), Part)
    body: dict[str, Any] = {"kind": kind, "__module__": __name__, "__doc__": declaration.get("doc") or f"A {kind}."}
    body["declaration"] = declaration
    body["domains"] = domains = {
        **DOMAINS,
        **{name: Domain(**one) for name, one in declaration.get("domains", {}).items()},
    }
    types: dict[str, Any] = {}
    ports = declaration.get("ports", {})
    body["vector_ports"] = {name: one["axes"] for name, one in ports.items() if one["kind"] == MECHANICAL}
    for name in body["vector_ports"]:
        body[name], types[name] = frame(ports[name].get("doc", "")), Frame
    for name, one in ((name, one) for name, one in ports.items() if name not in body["vector_ports"]):
        body[name], types[name] = port(one["kind"], one.get("doc", ""), one.get("default", ...), domains=domains), str
    for name, one in declaration.get("parameters", {}).items():
        default = one.get("default", ...)
        body[name] = number(one["unit"], one.get("doc", ""), default, aside=False)
        types[name] = Any
    for name, one in declaration.get("laws", {}).items():
        body[name], types[name] = law(one["unit"], one.get("doc", ""), one.get("default", ...)), Any
    unknowns = declaration.get("unknowns", {})
    for name, one in unknowns.items():
        start = one.get("start")
        if start is not None and start not in body:
            body[start] = number(one["unit"], f"{name} at the start", None, aside=True)
            types[start] = Any
    body["unknowns"] = {
        name: Unknown(one["unit"], one.get("start"), one.get("priority", 0), one.get("doc", ""))
        for name, one in unknowns.items()
    }
    body["names"] = {name: Formula(one["law"], one.get("unit")) for name, one in declaration.get("names", {}).items()}
    body["rows"] = tuple(
        Row(name, one["law"], one.get("solves")) for name, one in declaration.get("equations", {}).items()
    )
    for word in ("stored", "stores", "lost", "supplied", "starts", "positive", "unsigned", "structural"):
        if word in declaration:
            value = declaration[word]
            body[word] = tuple(value) if isinstance(value, list) else value
    body["__annotations__"] = types
    cls: type[Part] = record(type(kind, (DeclaredPart, base) if base is not Part else (DeclaredPart,), body))
    cls.check_kind()
    return cls


class _Normal:
    """Brings a declaration into its normal form, every short form written out, all of it plain data."""

    def __init__(self, reader: Reader, domains: Mapping[str, Domain]) -> None:
        self.reader, self.domains = reader, domains

    def fail(self, message: str, *path: str) -> ModelError:
        return self.reader.fail(".".join(path) or None, message)

    def declaration(self, given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise self.fail(f"a component is a mapping with ports and equations, not {short(given)}")
        self._only(given, FIELDS)
        normal: dict[str, Any] = {}
        for word in ("doc", "stored", "lost", "supplied"):
            if given.get(word) is not None:
                normal[word] = self._text(given[word], word)
        if given.get("base") is not None:
            normal["base"] = self._choice(given["base"], BASES, "base")
        sections: dict[str, Callable[[Any, str, str], Any]] = {
            "ports": self._port,
            "parameters": self._number,
            "laws": self._number,
            "unknowns": self._unknown,
            "names": self._formula,
            "equations": self._equation,
            "starts": lambda raw, section, name: self._text(raw, section, name),
        }
        for section, read in sections.items():
            entries = self._entries(given, section)
            if entries:
                normal[section] = {name: read(raw, section, name) for name, raw in entries.items()}
        self._check_fields(normal)
        if given.get("stores") is not None:
            normal["stores"] = self._stores(given["stores"])
        for word in ("positive", "unsigned", "structural"):
            if given.get(word) is not None:
                normal[word] = self._words(given[word], word, normal)
        own = dict.fromkeys(
            one["kind"] for one in normal.get("ports", {}).values() if one["kind"] not in (*DOMAINS, MECHANICAL)
        )
        if own:  # so that the declaration says all of it
            normal["domains"] = {kind: dataclasses.asdict(self.domains[kind]) for kind in own}
        return {word: normal[word] for word in (*FIELDS, "domains") if word in normal}

    # -- pieces --------------------------------------------------------------------------------------
    def _only(self, given: Mapping[Any, Any], allowed: tuple[str, ...], *path: str) -> None:
        for key in given:
            if key not in allowed:
                what = f"{path[-1]} has no field" if path else "a component has no field"
                raise self.fail(unknown(what, key, allowed), *path, str(key))

    def _text(self, raw: Any, *path: str) -> str:
        if isinstance(raw, (int, float)) and not isinstance(raw, bool) and path[-1] in ("stored", "lost", "supplied"):
            raw = f"{float(raw):g}"
        if not isinstance(raw, str):
            raise self.fail(f"text is expected, not {short(raw)}", *path)
        if len(raw) > LONGEST_TEXT:
            raise self.fail(f"is longer than {LONGEST_TEXT} characters", *path)
        return raw

    def _choice(self, raw: Any, choices: Mapping[str, Any], *path: str) -> str:
        if not isinstance(raw, str) or raw not in choices:
            raise self.fail(f"{short(raw)} is not one of {', '.join(choices)}", *path)
        return raw

    def _entries(self, given: Mapping[str, Any], section: str) -> Mapping[str, Any]:
        entries = given.get(section)
        if entries is None:
            return {}
        if not isinstance(entries, Mapping):
            raise self.fail(f"{section} are a mapping of names, not {short(entries)}", section)
        if len(entries) > MOST_ENTRIES:
            raise self.fail(f"there are {len(entries)}; a component has at most {MOST_ENTRIES}", section)
        for name in entries:
            word = isinstance(name, str) if section in ("equations", "starts") else is_word(name)
            if not word or len(name) > 100:
                raise self.fail(f"{short(name)} cannot be a name here", section)
        return entries

    def _mapping(self, raw: Any, single: str, allowed: tuple[str, ...], *path: str) -> Mapping[str, Any]:
        """An entry that may be written as its one value alone."""
        if not isinstance(raw, Mapping):
            return {single: raw}
        self._only(raw, allowed, *path)
        if raw.get(single) is None:
            raise self.fail("is needed and was not given", *path, single)
        return raw

    def _check_fields(self, normal: Mapping[str, Any]) -> None:
        """Fields have names of their own; a start is a parameter, which need not be declared."""
        sections: dict[str, str] = {}
        for section, what in (("ports", "port"), ("parameters", "parameter"), ("laws", "law")):
            for name in normal.get(section, {}):
                self._check_field(name, section)
                if name in sections:
                    raise self.fail(f"{name!r} is a {sections[name]} already", section, name)
                sections[name] = what
        for name, one in normal.get("unknowns", {}).items():
            start = one.get("start")
            if start in normal.get("unknowns", {}) or sections.get(start, "parameter") != "parameter":
                what = f"a {sections[start]}" if start in sections else "an unknown"
                raise self.fail(f"{start!r} is {what}; a parameter is expected", "unknowns", name, "start")

    def _check_field(self, name: str, section: str) -> None:
        if keyword.iskeyword(name) or (hasattr(Part, name) and name != "symbol"):  # see symbol_of
            raise self.fail(f"{name!r} has a meaning for every part already; choose another name", section, name)

    def _port(self, raw: Any, section: str, name: str) -> dict[str, Any]:
        given = self._mapping(raw, "kind", ("kind", "doc", "default", "axes"), section, name)
        port = {"kind": self._choice(given["kind"], {**self.domains, MECHANICAL: None}, section, name)}
        if port["kind"] == MECHANICAL:
            if given.get("default") is not None:
                raise self.fail("a vector port is given by each component", section, name, "default")
            port["axes"] = self._choice(given.get("axes") or AXES[0], dict.fromkeys(AXES), section, name, "axes")
            return {**port, **self._texts(given, ("doc",), section, name)}
        if given.get("axes") is not None:
            raise self.fail("belongs to mechanical ports, which are vectors", section, name, "axes")
        if given.get("default") is not None:
            field, kind = f"{section}.{name}.default", self.domains[port["kind"]]
            port["default"] = read_node(self.reader, given["default"], field, kind, self.domains)
        return {**port, **self._texts(given, ("doc",), section, name)}

    def _texts(self, given: Mapping[str, Any], words: tuple[str, ...], *path: str) -> dict[str, str]:
        return {word: self._text(given[word], *path, word) for word in words if given.get(word) is not None}

    def _unit(self, raw: Any, *path: str) -> str:
        if isinstance(raw, int) and raw == 1 and not isinstance(raw, bool):
            raw = "1"
        text = self._text(raw, *path)
        try:
            return find_unit_name(text)
        except UnitError as error:
            raise self.fail(error.message, *path) from None

    def _number(self, raw: Any, section: str, name: str) -> dict[str, Any]:
        given = self._mapping(raw, "unit", ("unit", "default", "doc"), section, name)
        number: dict[str, Any] = {"unit": self._unit(given["unit"], section, name, "unit")}
        if given.get("default") is not None:
            value = self.reader.number(given["default"], number["unit"], f"{section}.{name}.default")
            if not isinstance(value, float):
                raise self.fail("a plain number is expected", section, name, "default")
            number["default"] = value
        return {**number, **self._texts(given, ("doc",), section, name)}

    def _unknown(self, raw: Any, section: str, name: str) -> dict[str, Any]:
        given = self._mapping(raw, "unit", ("unit", "start", "priority", "doc"), section, name)
        unknown_entry: dict[str, Any] = {"unit": self._unit(given["unit"], section, name, "unit")}
        if given.get("start") is not None:
            start = given["start"]
            if not is_word(start):
                message = f"the name of a parameter for the initial value is expected, not {short(start)}"
                raise self.fail(message, section, name, "start")
            self._check_field(start, section)
            unknown_entry["start"] = start
        priority = given.get("priority")
        if priority is not None:
            if isinstance(priority, bool) or priority not in PRIORITIES:
                message = f"a whole number from {PRIORITIES[0]} to {PRIORITIES[-1]} is expected, not {short(priority)}"
                raise self.fail(message, section, name, "priority")
            unknown_entry["priority"] = int(priority)
        return {**unknown_entry, **self._texts(given, ("doc",), section, name)}

    def _formula(self, raw: Any, section: str, name: str) -> dict[str, Any]:
        given = self._mapping(raw, "law", ("law", "unit"), section, name)
        formula = {"law": self._text(given["law"], section, name)}
        if given.get("unit") is not None:
            formula["unit"] = self._unit(given["unit"], section, name, "unit")
        return formula

    def _equation(self, raw: Any, section: str, name: str) -> dict[str, Any]:
        given = self._mapping(raw, "law", ("law", "solves"), section, name)
        equation = {"law": self._text(given["law"], section, name)}
        return {**equation, **self._texts(given, ("solves",), section, name)}

    def _stores(self, raw: Any) -> str | dict[str, str]:
        if not isinstance(raw, Mapping):
            return self._text(raw, "stores")
        return {self._text(kind, "stores"): self._text(text, "stores", str(kind)) for kind, text in raw.items()}

    def _words(self, raw: Any, word: str, normal: Mapping[str, Any]) -> list[str]:
        known = list(normal.get("parameters", {}))
        if not isinstance(raw, (list, tuple)) or not all(isinstance(item, str) for item in raw):
            raise self.fail(f"a list of parameters is expected, not {short(raw)}", word)
        for item in raw:
            if item not in known:
                raise self.fail(unknown("no parameter is called", item, known), word)
        return list(raw)


def write_declaration(declaration: Mapping[str, Any]) -> dict[str, Any]:
    """A declaration as a file has it: short forms where there is nothing more to say."""
    singles = {"ports": "kind", "parameters": "unit", "laws": "unit", "unknowns": "unit", "names": "law"}
    singles["equations"] = "law"
    written: dict[str, Any] = {}
    for word, value in declaration.items():
        if word == "domains":  # which are declared beside it
            continue
        if word in singles:
            entries = {name: _with_unit(one) for name, one in value.items()}
            single = singles[word]
            written[word] = {name: one[single] if list(one) == [single] else one for name, one in entries.items()}
        else:
            written[word] = value
    return written


def _with_unit(one: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in one.items() if (key, value) != ("axes", AXES[0])}
    return {key: DIMENSIONS[value].unit if key == "unit" else value for key, value in plain.items()}
