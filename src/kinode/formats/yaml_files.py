"""kinode's own files: YAML 1.2 or JSON to a System, section by section, and back.

    kinode: 1
    name: pendulum
    bodies: {bob: {mass: 1, com: [0, 0, -1]}}
    joints: {pivot: {kind: revolute, between: [world, bob], axis: y}}

A file is data: nothing in it is executed.  It may name other files (``extends``, the ``file`` of a table or a
subsystem); their paths are relative to its folder.  A file must not reach out of the folder of the first file:
absolute paths and paths that lead out of it are refused unless the caller passes ``trust=True``.

Every error names the file, the line, the component and the field, if they are known.  ``refuse`` raises it here; the
reader of unfinished texts collects errors instead and goes on with the next entry.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kinode.atomic_files import write_text
from kinode.errors import TRUST, Error, ModelError
from kinode.formats.yaml_text import LARGEST_TEXT, List, Map, read_text
from kinode.hooks import hook
from kinode.importers import ROBOT_FILES
from kinode.model.base.element import ELEMENTS
from kinode.model.base.field_reader import CODE_FILE
from kinode.model.base.fields import Component, short, unknown, unknown_fields
from kinode.model.base.frames import Frame
from kinode.model.base.meshes import find_mesh_file, locate_mesh, note_undrawn
from kinode.model.base.parameters import Parameter, Signal
from kinode.model.component_store import find_named_frame
from kinode.model.drive_unit import add_drive
from kinode.model.edit import change
from kinode.model.network.declared_domains import FIELDS as DOMAIN
from kinode.model.network.declared_parts import FIELDS as DECLARATION
from kinode.model.system import System


def load(path: str | os.PathLike[str], *, trust: bool = False) -> System:
    """The system in a YAML or JSON file; with ``trust`` it may name files outside its folder."""
    file = Path(path)
    return ModelLoader(file, file.parent, trust, ()).load()


def loads(text: str, file: str | os.PathLike[str] | None = None, *, trust: bool = False) -> System:
    """The system in a YAML or JSON text, which is from ``file`` if that is given."""
    where = None if file is None else Path(file)
    return ModelLoader(where, None if where is None else where.parent, trust, ()).build_text(text)


def save(system: System, path: str | os.PathLike[str]) -> None:
    """Write a system to a YAML file, from which an equal system loads; or to URDF or MJCF, by the ending."""
    file = Path(path)
    if file.suffix.lower() in ROBOT_FILES:
        kind = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}.get(file.suffix.lower())
        if kind is None:
            raise ModelError("macros are not written: choose the ending .urdf or .yaml", file=str(file))
        hook("export")(system, kind, file)
        return
    text = dumps(system)
    try:
        write_text(file, text)
    except Error as error:
        raise ModelError(str(error)) from None


def dumps(system: System) -> str:
    """A system as YAML."""
    from kinode.formats.yaml_writer import write_system  # models are read more often

    return write_system(system, VERSION)


VERSION = 1
DEEPEST_FILES = 10
# In the order of building; ``run`` and ``notes`` follow.
SECTIONS = (
    "domains", "components", "parameters", "inputs", "tables", "bodies", "frames", "joints", "systems", "drives",
    "constraints", "signals", "elements", "changes",
)  # fmt: skip
KIND_WORDS = {"frames": "a frame", "joints": "a joint", "constraints": "a constraint", "elements": "an element"}
TOP = ("kinode", "name", "gravity", "extends", *SECTIONS, "circuit", "run", "notes")


class ModelLoader:
    """Builds the system of one file; all files it names must be in the folder ``root``.

    A subsystem is not ``whole``: it may have nodes that its user connects, and bodies that joints outside hold.
    """

    def __init__(
        self, file: Path | None, root: Path | None, trust: bool, outer: tuple[Path, ...], whole: bool = True
    ) -> None:
        self.file, self.root, self.trust, self.outer, self.whole = file, root, trust, outer, whole
        self.file_name = None if file is None else str(file)
        self.data = Map()
        self.later: list[str] = []  # joints on bodies or frames of subsystems
        self.observers: list[str] = []  # moving frames, which may refer to any component

    # -- files -------------------------------------------------------------------------------------
    def load(self) -> System:
        assert self.file is not None
        try:
            if not self.file.is_file():
                reason = "is a folder" if self.file.is_dir() else "there is no such file"
                raise ModelError(f"cannot be read: {reason}", file=self.file_name)
            if self.file.stat().st_size > LARGEST_TEXT:
                raise ModelError(f"the file is larger than {LARGEST_TEXT // 1_000_000} MB", file=self.file_name)
            text = self.file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ModelError("the file is not text in UTF-8", file=self.file_name) from None
        except (OSError, ValueError) as error:
            raise ModelError(
                f"cannot be read: {getattr(error, 'strerror', None) or error}", file=self.file_name
            ) from None
        return self.build_text(text)

    def find_file(self, name: Any, field: str) -> Path:
        """The path of a file that this file names."""
        if not isinstance(name, str) or not name or "\0" in name:
            raise ModelError(f"the name of a file is expected, not {short(name)}", field=field)
        if self.trust and Path(name).is_absolute():
            return Path(name)
        if self.file is None or self.root is None:
            raise ModelError(
                f"{name!r} cannot be found: this text is from no file; say loads(text, file=...)", field=field
            )
        path = self.file.parent / name
        if not self.trust:
            try:
                inside = path.resolve().is_relative_to(self.root.resolve())
            except (OSError, ValueError, RuntimeError) as error:
                raise ModelError(f"{name!r} cannot be found: {error}", field=field) from None
            if Path(name).is_absolute() or not inside:
                message = f"{name!r} is outside the folder of the model; {TRUST}"
                raise ModelError(message, field=field)
        return path

    def load_other(self, name: Any, field: str, base: Any = None, whole: bool = True) -> System:
        """The system in another file."""
        path = self.find_file(name, field)
        assert self.file is not None
        chain = (*self.outer, self.file.resolve())
        if path.resolve() in chain:
            raise ModelError(f"the files go in a circle: {name} is being read already", field=field)
        if len(chain) > DEEPEST_FILES:
            raise ModelError(f"files name files more than {DEEPEST_FILES} deep", field=field)
        if path.suffix.lower() in ROBOT_FILES:
            from kinode.importers import robot_files

            return robot_files.load(path, "fixed" if base is None else base, trust=self.trust)
        if base is not None:
            raise ModelError("is for URDF and MJCF; a YAML file says itself how its bodies are joined", field="base")
        return ModelLoader(path, self.root, self.trust, chain, whole).load()

    # -- errors ------------------------------------------------------------------------------------
    @contextmanager
    def locating(self, section: str | None = None, name: str | None = None) -> Iterator[None]:
        """Add file, line and component to errors from a section or an entry of the file."""
        try:
            yield
        except ModelError as error:
            if error.file is None:
                entry = self.find_section(error.component) if section is None else (section, name)
                line = self.find_line(*entry, error.field)
                error = error.located(file=self.file_name, line=line)
            self.refuse(error.located(component=name))

    def fault(self, error: ModelError, section: str | None = None) -> None:
        """Refuse an error with its place, which is that of its component unless a section is named."""
        with self.locating(section):
            raise error

    def refuse(self, error: ModelError) -> None:
        """Raise an error that has its place."""
        raise error from None

    def find_section(self, component: str | None) -> tuple[str | None, str | None]:
        """The section and the entry of the file that describe a component."""
        if component in TOP:
            return component, None
        for section in ("changes", *SECTIONS):
            entries = self.data.get(section)
            if not isinstance(entries, Map) or component is None:
                continue
            if component in entries:
                return section, component
            if section in ("systems", "drives") and component.partition(".")[0] in entries:
                return section, component.partition(".")[0]
        return ("extends" if "extends" in self.data else None), None

    def find_line(self, section: str | None, name: str | None, field: str | None) -> int | None:
        """The line of a field, or of the nearest enclosing entry."""
        node: Any = self.data
        line: int | None = None
        for key in (section, name):
            if key is not None and isinstance(node, Map) and key in node:
                line, node = node.lines[key], node[key]
        if field is None:
            return line
        words = field.split(".")
        end = {"a": 0, "b": 1}.get(words[0])
        if end is not None and isinstance(node, Map) and isinstance(node.get("between"), List):
            ends = node["between"]
            return ends.lines[end] if end < len(ends) else node.lines["between"]
        key_line = find_key_line(node, words)
        return line if key_line is None else key_line

    # -- building ----------------------------------------------------------------------------------
    def build_text(self, text: str) -> System:
        if not isinstance(text, str):
            raise ModelError(f"text is expected, not {type(text).__name__}", file=self.file_name)
        data = read_text(text, self.file_name)
        if not isinstance(data, Map):
            raise ModelError("a model is a mapping that starts with 'kinode: 1'", file=self.file_name, line=1)
        self.check_version(data)
        default = self.file.stem if self.file is not None else "system"
        return self.build(data, default)

    def check_version(self, data: Map) -> None:
        """Refuse a file of another format."""
        self.data = data
        with self.locating():
            if "kinode" not in data:
                raise ModelError("the version of the format is missing; a model starts with kinode: 1", line=1)
            if isinstance(data["kinode"], bool) or data["kinode"] != VERSION:
                message = f"this is kinode's format {VERSION}, and the file says {short(data['kinode'])}"
                raise ModelError(message, component="kinode")

    def build(self, data: Map, default_name: str) -> System:
        self.data = data
        for key in data:
            with self.locating():
                if key not in TOP:
                    raise ModelError(unknown("there is no section", key, TOP), field=key, line=data.lines[key])
        system = self.start(default_name)
        for section in SECTIONS:
            if data.get(section) is not None:
                self.build_section(system, section)
            if section == "frames" and data.get("circuit") is not None:
                with self.locating("circuit"):
                    system.connect(**circuit_fields(data["circuit"]))
            if section == "drives":
                for name in self.observers:
                    self.build_entry(system, "frames", name, data["frames"][name])
        with self.locating("run"):
            if data.get("run") is not None:
                system.run_defaults = data["run"]
        with self.locating("notes"):
            notes = data.get("notes") or []
            if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
                raise ModelError("notes are a list of texts", field="notes")
            system.notes.extend(notes)
        described = data.get("bodies")
        names = described if isinstance(described, Map) else ()
        drawn = {name: system.bodies[name].meshes for name in names if name in system.bodies}
        if self.file is not None:  # a text has no folder with meshes
            system.notes.extend(note for note in note_undrawn(drawn) if note not in system.notes)
        self.check(system)
        return system

    def check(self, system: System) -> None:
        """Check what needs the whole system."""
        with self.locating():
            system.check(whole=self.whole)

    def start(self, default_name: str) -> System:
        """An empty system, or the system that the file extends."""
        data = self.data
        system = System(default_name)
        with self.locating("name"):
            system.name = data.get("name", default_name)
        with self.locating("extends"):
            if data.get("extends") is not None:
                given = data["extends"]
                if not isinstance(given, Map):
                    given = {"file": given}
                check_fields(given, FIELDS["extends"], "extends")
                system = self.load_other(given.get("file"), "extends", given.get("base"), whole=False)
                system.name = data.get("name", system.name)
        if "gravity" in data and data.get("parameters") is None:
            self.set_gravity(system)
        return system

    def set_gravity(self, system: System) -> None:
        with self.locating("gravity"):
            system.gravity = self.data["gravity"]

    def build_section(self, system: System, section: str) -> None:
        entries = self.data[section]
        if not isinstance(entries, Map):
            message = f"{section} are a mapping of names, not {short(entries)}"
            self.fault(ModelError(message, component=section), section)
            return
        for name, entry in entries.items():
            if section == "joints" and self.needs_subsystem(entry):
                self.later.append(name)
            elif section == "frames" and isinstance(entry, Map) and "kind" in entry:
                self.observers.append(name)
            else:
                self.build_entry(system, section, name, entry)
        if section == "parameters" and "gravity" in self.data:
            self.set_gravity(system)
        if section == "systems":
            for name in self.later:
                self.build_entry(system, "joints", name, self.data["joints"][name])

    def build_entry(self, system: System, section: str, name: str, entry: Any) -> None:
        with self.locating(section, name):
            getattr(self, f"add_{section}")(system, name, entry)

    def needs_subsystem(self, entry: Any) -> bool:
        """Whether a joint connects a body or frame of a subsystem."""
        systems = self.data.get("systems")
        if not isinstance(systems, Map) or not isinstance(entry, Map):
            return False
        ends = entry.get("between")
        ends = list(ends) if isinstance(ends, List) else [entry.get("a"), entry.get("b")]
        named = [end.get("body", end.get("on")) if isinstance(end, Map) else end for end in ends]
        return any(isinstance(end, str) and end.partition(".")[0] in systems for end in named)

    def add_domains(self, system: System, kind: str, entry: Any) -> None:
        system.domain(kind, **declare_domain(read_mapping(entry, "a domain")))

    def add_components(self, system: System, kind: str, entry: Any) -> None:
        system.define(kind, **declare_fields(read_mapping(entry, "a component")))

    def add_parameters(self, system: System, name: str, entry: Any) -> None:
        system.parameter(name, **read_fields(entry, "value", "parameters", "a parameter"))

    def add_inputs(self, system: System, name: str, entry: Any) -> None:
        system.input(name, **read_fields(entry, "value", "inputs", "an input"))

    def add_signals(self, system: System, name: str, entry: Any) -> None:
        fields = read_fields(entry, "law", "signals", "a signal")
        system.signal(name, **fields)

    def add_tables(self, system: System, name: str, entry: Any) -> None:
        fields = dict(read_mapping(entry, "a table"))
        check_fields(fields, FIELDS["tables"], "a table")
        if fields.get("file") is not None:
            fields["file"] = self.find_file(fields["file"], "file")
        for key, several in (("method", False), ("outside", True)):
            words = fields.get(key, "")
            words = words if several and isinstance(words, List) else [words]
            if not all(isinstance(word, str) for word in words):
                raise ModelError(f"a word is expected, not {short(fields[key])}", field=key)
        system.table(name, **fields)

    def add_bodies(self, system: System, name: str, entry: Any) -> None:
        system.check_name(name)
        given = {} if entry is None else read_mapping(entry, "a body")
        fields = locate_mesh(given, self.find_file, lambda file: find_mesh_file(file, self.file, {}))
        system.add_component(system.make_component("bodies", name, "", fields))

    def add_frames(self, system: System, name: str, entry: Any) -> None:
        if isinstance(entry, Map) and "kind" in entry:
            self.add_kind(system, name, entry, "frames")
            return
        given = {"at": entry} if isinstance(entry, List) else dict(read_mapping(entry, "a frame"))
        owner: Frame = find_named_frame(system, read_word(given.pop("body", "world"), "body"))
        if not owner.is_plain:
            raise ModelError(f"{owner} is a frame, not a body", field="body")
        system.place(owner.body, given, name)

    def add_joints(self, system: System, name: str, entry: Any) -> None:
        self.add_kind(system, name, entry, "joints")

    def add_constraints(self, system: System, name: str, entry: Any) -> None:
        self.add_kind(system, name, entry, "constraints")

    def add_elements(self, system: System, name: str, entry: Any) -> None:
        self.add_kind(system, name, entry, "elements")

    def add_kind(self, system: System, name: str, entry: Any, section: str) -> None:
        what = KIND_WORDS[section]
        system.check_name(name)
        fields = split_between(read_mapping(entry, what))
        if "kind" not in fields:
            raise ModelError(f"{what} needs its kind", field="kind")
        if section == "joints" and not {"a", "b"} & fields.keys():
            raise ModelError("a joint needs the two bodies or frames that it joins, [a, b]", field="between")
        if section == "elements" and isinstance(fields["kind"], str):
            fields = self.find_code(ELEMENTS.get(fields["kind"]), fields)
        system.add_component(system.make_component(section, name, fields["kind"], fields))

    def find_code(self, cls: type[Component] | None, fields: Any) -> Any:
        """The fields with the paths of files that are code; only a caller who trusts the model allows them."""
        for name in cls.fields_of(CODE_FILE) if cls else ():
            if fields.get(name) is not None:
                if not self.trust:
                    raise ModelError(f"names a file that is code and would run; {TRUST}", field=name)
                fields = {**fields, name: self.find_file(fields[name], name)}
        return fields

    def add_drives(self, system: System, name: str, entry: Any) -> None:
        add_drive(system, name, read_mapping(entry, "a drive"))

    def add_systems(self, system: System, name: str, entry: Any) -> None:
        fields = read_mapping(entry, "a subsystem")
        check_fields(fields, FIELDS["systems"], "a subsystem")
        if (fields.get("file") is None) == (fields.get("system") is None):
            raise ModelError("takes a file, or a system written out")
        for key in ("bind", "parameters", "connect"):
            if not isinstance(fields.get(key, Map()), Map):
                raise ModelError(f"is a mapping of names, not {short(fields[key])}", field=key)
        if fields.get("file") is not None:
            inner = self.load_other(fields["file"], "file", whole=False)
        else:
            inner = self.build_inner(fields["system"], name)
        given = {key: fields.get(key) for key in ("on", "bind", "parameters", "connect")}
        system.add(name, inner, **given)

    def build_inner(self, data: Any, name: str) -> System:
        """A subsystem that is described in place."""
        if not isinstance(data, Map):
            raise ModelError(f"a system is a mapping with bodies and joints, not {short(data)}", field="system")
        if len(self.outer) > DEEPEST_FILES:
            raise ModelError(f"systems contain systems more than {DEEPEST_FILES} deep", field="system")
        here = Path(f"{self.file_name}#{name}")
        return ModelLoader(self.file, self.root, self.trust, (*self.outer, here), whole=False).build(data, name)

    def add_changes(self, system: System, name: str, entry: Any) -> None:
        if name not in system.components:
            raise ModelError(unknown("there is nothing to change called", name, system.components))
        old = system[name]
        if not isinstance(entry, Map):
            entry = {"law" if isinstance(old, Signal) else "value": entry}
            if not isinstance(old, Signal | Parameter) and old.section != "inputs":
                raise ModelError("takes the fields to change: {field: value}")
        change(system, name, self.find_code(type(old), split_between(entry)))


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


_ENDINGS = "ya?ml|json|urdf|xml|mjcf|xacro|csv|tsv|txt|dat|npy|npz|xlsx|xlsm|mat|parquet|pq|stl|obj|dae|glb"
_NAMED = re.compile(rf"[\w./\\-]{{1,200}}\.(?:{_ENDINGS})\b")


def find_file_names(text: str) -> list[str]:
    """Words of a text that look like names of files, each once."""
    return [name.strip() for name in dict.fromkeys(_NAMED.findall(text))]
