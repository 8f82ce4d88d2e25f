"""Entries of kinode's files: the fields that they take, expansion of their short forms, and the line of a field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ModelError
from kinode.formats.yaml_text import List, Map
from kinode.model.base.fields import short, unknown_fields
from kinode.model.network.declared_parts import FIELDS as DECLARATION
from kinode.model.network.domains.declared_domains import FIELDS as DOMAIN

FIELDS = {
    "parameters": ("value", "bounds", "note", "unit"),
    "inputs": ("value", "unit"),
    "signals": ("law",),
    "tables": ("axes", "values", "file", "column", "sheet", "over", "method", "outside"),
    "systems": ("file", "system", "on", "bind", "parameters", "connect"),
    "extends": ("file", "base"),
    "circuit": ("components", "connections"),
}


def find_key_line(node: Any, words: list[str]) -> int | None:
    """The line of a field given by its words: from the top of the entry, else nested in it."""
    line: int | None = None
    here = node
    for word in words:
        if isinstance(here, Map) and word in here:
            line, here = here.lines[word], here[word]
        else:
            break
    if line is not None:
        return line
    inner = node.values() if isinstance(node, Map) else node if isinstance(node, List) else ()
    for item in inner:
        inner_line = find_key_line(item, words[-1:])
        if inner_line is not None:
            return inner_line
    return None


def read_mapping(entry: Any, what: str) -> Map:
    """The entry, which must be a mapping."""
    if not isinstance(entry, Map):
        raise ModelError(f"{what} is a mapping of fields, not {short(entry)}")
    return entry


def read_word(raw: Any, field: str) -> str:
    """The raw value, which must be a name."""
    if not isinstance(raw, str):
        raise ModelError(f"a name is expected, not {short(raw)}", field=field)
    return raw


def check_fields(given: Mapping[str, Any], allowed: tuple[str, ...], what: str) -> None:
    """Raise an error for fields that the entry does not have."""
    wrong = [key for key in given if key not in allowed]
    if wrong:
        split = any(" " in key and given[key] is None for key in wrong)
        hint = "; text that holds a comma has to be quoted" if split else ""
        raise ModelError(unknown_fields(what, wrong, allowed) + hint, field=wrong[0])


def declare_fields(entry: Map) -> dict[str, Any]:
    """The fields of the declaration of a component type."""
    check_fields(entry, DECLARATION, "a component")
    return dict(entry)


def declare_domain(entry: Map) -> dict[str, Any]:
    """The fields of the declaration of a domain."""
    check_fields(entry, DOMAIN, "a domain")
    return dict(entry)


def circuit_fields(entry: Any) -> dict[str, Any]:
    """The components that are entered as drawn, and their connections."""
    fields = read_mapping(entry, "a circuit")
    check_fields(fields, FIELDS["circuit"], "a circuit")
    return {"connections": fields.get("connections") or (), "components": fields.get("components") or {}}


def read_fields(entry: Any, single: str, section: str, what: str) -> dict[str, Any]:
    """The fields of an entry; the short form is the value of its main field (``single``) alone."""
    if not isinstance(entry, Map):
        return {single: entry}
    check_fields(entry, FIELDS[section], what)
    if single not in entry:
        raise ModelError("is needed and was not given", field=single)
    return {key: value for key, value in entry.items() if value is not None or key == single}


def split_between(entry: Mapping[str, Any]) -> dict[str, Any]:
    """``between: [a, b]`` as the fields a and b."""
    fields = dict(entry)
    if "between" not in fields:
        return fields
    ends = fields.pop("between")
    if not isinstance(ends, list) or len(ends) != 2:
        raise ModelError(f"takes two bodies or frames, [a, b], not {short(ends)}", field="between")
    if "a" in fields or "b" in fields:
        raise ModelError("is given already by a and b", field="between")
    return {"a": ends[0], "b": ends[1], **fields}
