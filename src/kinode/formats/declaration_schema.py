"""The JSON schema of what a file declares as data: domains, and kinds of parts."""

from __future__ import annotations

from kinode.model.base.field_reader import Schema, object_of, ref
from kinode.model.base.frames import named
from kinode.model.network.declared_domains import FIELDS as DOMAIN
from kinode.model.network.declared_parts import BASES
from kinode.model.network.declared_parts import FIELDS as DECLARATION
from kinode.model.network.domain import AXES, ENERGIES, SYMBOLS


def domain_schema() -> Schema:
    """The declaration of a domain."""
    text = {"type": "string"}
    word: Schema = {"type": "object", "additionalProperties": text, "minProperties": 1, "maxProperties": 1}
    number = {"type": "object", "additionalProperties": ref("number"), "minProperties": 1, "maxProperties": 1}
    fields: Schema = {
        "doc": text,
        "potential": {**word, "description": "what all ports at a node share, with its SI unit"},
        "flow": {**word, "description": "what sums to zero at a node, with its SI unit"},
        "position": {**word, "description": "what the potential is the rate of"},
        "reference": {"oneOf": [text, number], "description": "the reference node, with its potential if not zero"},
        "power": {"enum": ["product", "flow"], "description": "whether potential times flow, or the flow, is a power"},
        "letters": {"type": "object", "additionalProperties": text},
        "symbol": {"enum": list(SYMBOLS), "description": "how the reference is drawn"},
        "between": text,
        "beside": text,
    }
    return object_of(DOMAIN, fields, ["potential", "flow", "reference"])


def declaration_schema() -> Schema:
    """The declaration of a component type; each entry may be the value of its main field alone."""
    text, number = {"type": "string"}, ref("number")
    unit = {"type": ["string", "integer"], "description": "in SI: V, A*s, rad/s"}

    def entries(short: Schema, single: str, **more: Schema) -> Schema:
        fields = {single: short, **more}
        return named({"oneOf": [short, object_of(tuple(fields), fields, [single])]}, "")

    word = {"type": "string"}
    equations = {"oneOf": [text, object_of(("law", "solves"), {"law": text, "solves": text}, ["law"])]}
    fields: Schema = {
        "doc": text,
        "base": {"enum": list(BASES), "description": "ports, derived names and the balance of flows of two ends"},
        "ports": entries(word, "kind", doc=text, default=word, axes={"enum": list(AXES)}),
        "parameters": entries(unit, "unit", default=number, doc=text),
        "laws": entries(unit, "unit", default=number, doc=text),
        "unknowns": entries(unit, "unit", start=word, priority={"type": "integer"}, doc=text),
        "names": entries(text, "law", unit=unit),
        "starts": {"type": "object", "additionalProperties": text},
        "equations": {"oneOf": [{"type": "object", "additionalProperties": equations}, {"type": "null"}]},
        "stored": {"type": ["string", "number"], "description": "energy"},
        "stores": {"oneOf": [{"enum": list(ENERGIES)}, {"type": "object", "additionalProperties": text}]},
        "lost": {"type": ["string", "number"], "description": "power that becomes heat"},
        "supplied": {"type": ["string", "number"], "description": "power from elsewhere than its ports"},
        **{word: {"type": "array", "items": text} for word in ("positive", "unsigned", "structural")},
    }
    return object_of(DECLARATION, fields)
