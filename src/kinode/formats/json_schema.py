"""The JSON schema of kinode's files (draft 2020-12), made from the same declarations that read them.

Editors use it to complete and check models.  It does not check dimensions, references to components, or whether an
inertia is physically possible; the loader does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from kinode.expressions.lookup_tables import METHODS, MOST_AXES, OUTSIDE
from kinode.formats.declaration_schema import declaration_schema, domain_schema
from kinode.formats.yaml_files import FIELDS, VERSION
from kinode.model.base.bodies import ROLES, SIZES, Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.field_reader import Schema, array_of, object_of, ref
from kinode.model.base.fields import Component
from kinode.model.base.frames import PATTERN, ROTATIONS, named
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.base.parameters import RunDefaults
from kinode.model.base.shapes import AXES, SHAPE_SIZES
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.drive_unit import ACTS, DRIVE_FIELDS
from kinode.model.joints.joint import JOINTS


def schema() -> Schema:
    """The JSON schema of kinode's files (draft 2020-12), for editors and checkers.

    Returns
    -------
    dict
        The schema as plain values, ready for ``json.dumps``.  Registered plug-ins are part of it.

    Examples
    --------
    >>> "joints" in kn.schema()["properties"]
    True
    """
    import kinode.model.system  # noqa: F401  (fills the registries of joints, elements and constraints)

    properties = _sections()
    inner = {key: value for key, value in properties.items() if key != "kinode"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kinode model",
        "description": "Description of a mechanism: bodies, joints, elements, parameters and laws.",
        "type": "object",
        "properties": properties,
        "required": ["kinode"],
        "additionalProperties": False,
        "$defs": {
            **_values(),
            "system": {"type": "object", "properties": inner, "additionalProperties": False},
            "body": _component(Body),
            "joint": _kinds(JOINTS),
            "element": _elements(),
            "domain": domain_schema(),
            "component": declaration_schema(),
            "constraint": _kinds(CONSTRAINTS),
            "observer": _kinds(FRAMES),
            "drive": _drive(),
        },
    }


def _sections() -> Schema:
    """The sections of a file."""
    return {
        "kinode": {"const": VERSION, "description": "version of the format"},
        "name": {"type": "string", "description": "name of the system"},
        "gravity": ref("vector", "acceleration of free fall in the world's axes, m/s^2; default [0, 0, -9.81]"),
        "extends": {
            "description": "file of the system that this one starts from: YAML, URDF or MJCF",
            "oneOf": [
                {"type": "string"},
                object_of(FIELDS["extends"], {"base": {"enum": ["fixed", "free"]}}, ["file"]),
            ],
        },
        "domains": named(ref("domain"), "kinds of links by their words and units, for ports of components"),
        "components": named(ref("component"), "kinds of parts by their equations, for elements to use"),
        "parameters": named(ref("parameter"), "numbers with names, arguments of the compiled code"),
        "inputs": named(ref("input"), "numbers that come from outside"),
        "tables": named(ref("table"), "tables that laws call"),
        "bodies": named({"oneOf": [ref("body"), {"type": "null"}]}, "rigid bodies"),
        "frames": named(
            {"if": {"type": "object", "required": ["kind"]}, "then": ref("observer"), "else": ref("placed")},
            "named frames on the world or on bodies; with a kind, frames to look from",
        ),
        "circuit": object_of(
            FIELDS["circuit"],
            {
                "components": {"type": "object", "additionalProperties": {"type": "object", "required": ["kind"]}},
                "connections": {"type": ["array", "string"], "items": {"type": "string"}},
            },
        ),
        "joints": named(ref("joint"), "what connects bodies"),
        "constraints": named(ref("constraint"), "what ties coordinates together beyond joints"),
        "signals": named({"oneOf": [ref("law"), object_of(("law",), {"law": ref("law")}, ["law"])]}, "laws with names"),
        "elements": named(ref("element"), "what pushes and pulls"),
        "systems": named(ref("subsystem"), "subsystems, copied in with their names behind a prefix"),
        "drives": named(ref("drive"), "motors geared to joints: a rotor, its shaft and the gear"),
        "changes": named({"type": ["object", "number", "string"]}, "component: fields to replace, after extends"),
        "run": _component(RunDefaults),
        "notes": {"type": "array", "items": {"type": "string"}, "description": "remarks that are kept"},
    }


def _values() -> Schema:
    """The definitions of the values that fields take."""
    number, law, text, outside = ref("number"), ref("law"), {"type": "string"}, {"enum": list(OUTSIDE)}
    axis = {"oneOf": [{"enum": [f"{sign}{axis}" for sign in ("", "-", "+") for axis in AXES]}, ref("vector")]}
    rotation: Schema = {
        "rpy": {**ref("vector"), "description": "turns about the fixed axes x, y, z"},
        "quaternion": {**array_of(number, 4, 4), "description": "w, x, y, z"},
        "matrix": {**array_of(array_of(number, 3, 3), 3, 3), "description": "rows of the rotation matrix"},
        "turns": {
            **array_of({"type": "array", "minItems": 2, "maxItems": 2}, 1),
            "description": "[axis, angle] in turn",
        },
    }
    pose: Schema = {"at": ref("vector"), **rotation, "on": {"description": "the place that it starts from"}}
    either = {"oneOf": [ref("vector"), {"type": "object", "properties": pose, "additionalProperties": False}]}
    placed: Schema = {"type": "object", "properties": {"body": text, **pose}, "additionalProperties": False}
    values: Schema = {"oneOf": [array_of({"type": "number"}, 2), array_of({"type": "array"}, 2)]}
    return {
        "number": {"type": ["number", "string"], "description": "a number, '30 deg', or arithmetic with parameters"},
        "law": {"type": ["number", "string"], "description": "a number, or a law of t, state, inputs and signals"},
        "vector": array_of(number, 3, 3),
        "laws": array_of(law, 3, 3),
        "axis": axis,
        "place": either,
        "placed": {"oneOf": [ref("vector"), placed]},
        "frame": {
            "description": "a body, a named frame, or a place on a body",
            "oneOf": [text, {**placed, "anyOf": [{"required": ["body"]}, {"required": ["on"]}]}],
        },
        "parameter": {"oneOf": [number, object_of(FIELDS["parameters"], _PARAMETER, ["value"])]},
        "input": {"oneOf": [number, object_of(FIELDS["inputs"], {"value": number, "unit": _UNIT}, ["value"])]},
        "table": {
            **object_of(
                FIELDS["tables"],
                {"axes": values, "values": {"type": "array"}, "file": text, "column": {"type": ["string", "integer"]},
                 "sheet": {"type": ["string", "integer"]}, "over": text,
                 "method": {"enum": list(METHODS)}, "outside": {"oneOf": [outside, array_of(outside, 1, MOST_AXES)]}},
            ),
            "oneOf": [{"required": ["axes", "values"]}, {"required": ["file"]}],
        },
        "subsystem": {
            **object_of(
                FIELDS["systems"],
                {"file": text, "system": ref("system"), "on": ref("frame"), "bind": {"type": "object"},
                 "parameters": {"type": "object"},
                 "connect": {"type": "object", "additionalProperties": {"type": "string", "pattern": PATTERN}}},
            ),
            "oneOf": [{"required": ["file"]}, {"required": ["system"]}],
        },
        "shape": {"oneOf": [*(_shape(kind) for kind in SHAPE_SIZES), _mesh_shape()]},
        "look": _visual(),
    }  # fmt: skip


_UNIT: Schema = {"type": "string", "description": "SI unit of a value that does not tell it by itself"}
_PARAMETER: dict[str, Schema] = {
    "value": {"$ref": "#/$defs/number"},
    "bounds": {"type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 2, "maxItems": 2},
    "note": {"type": "string"},
    "unit": _UNIT,
}


def _shape(kind: str) -> Schema:
    sizes = SHAPE_SIZES[kind]
    fields: Schema = {name: ref("number") for name in (*sizes, "mass")}
    if kind != "rod":
        fields["density"] = ref("number")
    if kind in ("cylinder", "rod"):
        fields["axis"] = {"enum": list(AXES)}
    fields["at"] = ref("vector")
    return object_of((kind,), {kind: object_of(tuple(fields), fields, list(sizes))}, [kind])


def _mesh_shape() -> Schema:
    fields: Schema = {"file": {"type": "string"}} | {name: ref("number") for name in ("scale", "mass", "density")}
    fields |= {"up": {"enum": list(AXES)}, "at": ref("vector")}
    return object_of(("mesh",), {"mesh": object_of(tuple(fields), fields, ["file"])}, ["mesh"])


def _drive() -> Schema:
    """The fields of a drive: its own, and those of its shaft, which is a revolute joint."""
    shaft = _component(JOINTS["revolute"])["properties"]
    rotor = _component(Body)["properties"]
    pair: Schema = {"oneOf": [ref("number"), array_of(ref("number"), 2, 2)]}
    fields: Schema = {
        "joint": {"type": "string", "description": "the joint that it turns"},
        "ratio": {**ref("number"), "description": "angle of the rotor for a unit of the joint's coordinate"},
        "inertia": {**pair, "description": "of the rotor about its axis, or [axial, transverse]"},
        "on": ref("frame", "what carries the motor; the parent side of the joint if left out"),
        "axis": ref("axis", "of the shaft, in these axes; that of the joint if left out"),
        "offset": {**ref("number"), "description": "angle of the rotor where the joint's coordinate is 0"},
        **{name: rotor[name] for name in ("mass", "com", "meshes")},
        **{name: shaft[name] for name in ACTS},
    }
    return object_of(DRIVE_FIELDS, fields, ["joint", "ratio", "inertia"])


def _visual() -> Schema:
    numbers = {"type": "array", "items": {"type": ["number", "string"]}}
    fields: Schema = {"kind": {"enum": list(SIZES)}, "file": {"type": "string"}, "role": {"enum": list(ROLES)}}
    fields |= dict.fromkeys(("sizes", "at", "rpy", "quaternion"), numbers)
    return object_of(tuple(fields), fields)


def _kinds(registry: Mapping[str, type[Component]]) -> Schema:
    """Components of several types; ``kind`` selects the one whose fields are checked."""
    cases = [
        {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": _component(cls)}
        for kind, cls in registry.items()
    ]
    return {"type": "object", "properties": {"kind": {"enum": list(registry)}}, "required": ["kind"], "allOf": cases}


def _elements() -> Schema:
    """Elements of registered types, or of types that the file declares."""
    known = _kinds(ELEMENTS)
    return {**known, "properties": {"kind": {"anyOf": [{"enum": list(ELEMENTS)}, {"type": "string"}]}}}


def _component(cls: type[Component]) -> Schema:
    properties: Schema = {"kind": {"const": cls.kind}} if cls.kind else {}
    required = []
    specs = cls.specs()
    for name, (field, spec) in specs.items():
        if name == "rotation":
            properties |= {form: {"description": f"initial rotation, {spec.doc}"} for form in ROTATIONS}
            continue
        entry = spec.kind.schema(cls, spec)
        properties[name] = {**entry, "description": spec.doc} if spec.doc else entry
        if field.default is dataclasses.MISSING:
            required.append(name)
    result: Schema = {"type": "object", "description": _first_line(cls), "properties": properties}
    choices = _alternatives(cls, properties, required)
    if choices:
        result["allOf"] = choices
    if "a" in specs and "b" in specs:
        end = specs["a"][1].kind.schema(cls, specs["a"][1])
        properties["between"] = {**array_of(end, 2, 2), "description": "parent and child side, or both ends"}
        result["anyOf"] = [{"required": ["between"]}, {"required": [name for name in required if name in ("a", "b")]}]
        required = [name for name in required if name not in ("a", "b")]
    return {**result, "required": required, "additionalProperties": False}


def _alternatives(cls: type[Component], properties: Schema, required: list[str]) -> list[Schema]:
    """Add the alternative fields of a class to ``properties``, and take the fields that they replace from ``required``.

    Each entry of the result demands the replaced fields, or exactly one of their alternatives.
    """
    groups: dict[tuple[str, ...], list[str]] = {}  # the replaced fields and their alternatives
    for name, alternative in cls.alternative_fields.items():
        if name not in properties:
            properties[name] = {
                **alternative.spec.kind.schema(cls, alternative.spec),
                "description": alternative.spec.doc,
            }
            groups.setdefault(alternative.fields, []).append(name)
    choices = []
    for fields, names in groups.items():
        instead = [{"required": [name], "properties": dict.fromkeys(fields, False)} for name in names]
        choices.append({"oneOf": [{"required": list(fields), "properties": dict.fromkeys(names, False)}, *instead]})
        required[:] = [name for name in required if name not in fields]
    return choices


def _first_line(cls: type[Component]) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]
