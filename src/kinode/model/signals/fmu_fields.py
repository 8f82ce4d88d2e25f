"""The fields of parts that are FMUs: the file, and its variables by name.

A variable of an FMU may have a name such as ``bus.speed[2]``.  In kinode its name has letters, digits and _ alone:
``bus_speed_2``.  An output may be given another name: ``outputs={"speed": "bus.speed[2]"}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from kinode.errors import ModelError
from kinode.expressions.function_table import RESERVED
from kinode.fmi.fmu_description import NUMBERS, REALS, FmuDescription, FmuEntry, FmuVariable
from kinode.fmi.fmu_file import FmuFile
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Spec, Value, record, short, special, unknown
from kinode.model.base.frames import NAME
from kinode.model.signals.continuous import SignalPart

ORDER = 62  # in lists of kinds

Pairs = tuple[tuple[str, Any], ...]
TAKEN = frozenset({"t", "ticket", "output", "next_event"})  # names with a meaning of their own
OWN = re.compile(r"waiting|indicator\d+$")  # discrete states of a part
DOUBLE = frozenset({"Real", "Float64"})
MOST_OUTPUTS = 200  # that are taken without being asked for


class FmuText(str):
    """The value of a parameter that is text."""

    __slots__ = ()


def plain_name(variable: str) -> str:
    """The name in kinode of a variable of an FMU."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", variable).strip("_") or "value"
    name = name if name[0].isalpha() else f"v_{name}"
    return f"{name}_" if name in RESERVED or name in TAKEN or OWN.match(name) else name


@record
class FmuPart(SignalPart):
    """A part whose content is an FMU."""

    quantities: ClassVar[dict[str, str]] = {}
    leading_fields: ClassVar[tuple[str, ...]] = ("file",)
    file: FmuFile = special("code_file", "the FMU, a path; it is code, and runs", ..., aside=True)
    inputs: Pairs = special("named_laws", "{its input: law}; those left out keep the FMU's own values", ())
    outputs: Pairs | None = special("fmu_outputs", "its outputs, by name or {name here: variable}; all if left out")
    parameters: Pairs = special("named_numbers", "{its parameter: value}, set before it is initialized", ())

    @classmethod
    def gather(cls, reader: Reader, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields with the file opened, and with the outputs that were left out."""
        fields = dict(given)
        if fields.get("file") is None:
            return fields
        fields["file"] = cls.read_code_file(reader, fields["file"], "file", Spec("code_file", None, ""))
        description = open_description(reader.component, fields["file"])
        if fields.get("outputs") is None:
            names = description.named("output")
            if fields.get("period") is None:  # outputs of other types are read at samples, or at events
                entries = {name: description.find_entry(name) for name in names}
                names = [n for n, e in entries.items() if e and (is_real(e) or not is_continuous(e))]
            if len(names) > MOST_OUTPUTS:
                raise reader.fail("outputs", f"is needed: the FMU has {len(names)}; name those that matter")
            fields["outputs"] = names
        for field, causality in (("inputs", "input"), ("parameters", "parameter")):
            pairs = _array_order(description, _pairs(reader, fields.get(field) or (), field))
            fields[field] = tuple((name, _typed(reader, description, name, field, causality, x)) for name, x in pairs)
        for _, name in _pairs(reader, fields["outputs"], "outputs"):
            _check_variable(reader, description, name, "outputs", None)
        return fields

    # -- fields read ---------------------------------------------------------------------------------
    @classmethod
    def read_code_file(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> FmuFile:
        if isinstance(raw, FmuFile):
            return raw
        if not (isinstance(raw, str) and raw and "\0" not in raw) and not hasattr(raw, "__fspath__"):
            raise reader.fail(field, f"the path of an FMU is expected, not {short(raw)}")
        try:
            return FmuFile(raw)
        except ModelError as error:
            raise error.located(component=reader.component) from None

    @classmethod
    def read_flag(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> bool:
        if not isinstance(raw, bool):
            raise reader.fail(field, f"is true or false, not {short(raw)}")
        return raw

    @classmethod
    def read_named_laws(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Pairs:
        return _distinct(
            reader, field, ((name, reader.law(law, None, field)) for name, law in _pairs(reader, raw, field))
        )

    @classmethod
    def read_named_numbers(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Pairs:
        def read(name: str, value: Any) -> Value | str:
            if isinstance(value, FmuText):
                return value
            return float(value) if isinstance(value, bool) else reader.number(value, None, field)

        return _distinct(reader, field, ((name, read(name, value)) for name, value in _pairs(reader, raw, field)))

    @classmethod
    def read_fmu_outputs(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Pairs:
        pairs = _pairs(reader, raw, field)
        for name, _ in pairs:
            if "." in name or not NAME.match(name) or name in RESERVED or name in TAKEN:
                raise reader.fail(field, f"{name!r} is no name here: use letters, digits and _, {{name: variable}}")
        return _distinct(reader, field, pairs)

    def check(self) -> None:
        super().check()
        names = [*self.input_names, *self.parameter_names, *self.output_channels]
        for name in names:
            if names.count(name) > 1:
                message = f"{name!r} would mean two things: give the output another name, {{name: variable}}"
                raise self.error_at("outputs", message)

    # -- variables -----------------------------------------------------------------------------------
    @property
    def description(self) -> FmuDescription:
        """What the FMU says of itself."""
        return open_description(self.name, self.file)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The names of its inputs in kinode."""
        return tuple(plain_name(name) for name, _ in self.inputs)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of its parameters that are numbers."""
        return tuple(plain_name(name) for name, value in self.parameters if not isinstance(value, FmuText))

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The names of its outputs in kinode."""
        return tuple(name for name, _ in self.outputs or ())

    def entries(self, field: str) -> list[FmuEntry]:
        """The variables of a field."""
        places = {"inputs": 0, "parameters": 0, "outputs": 1}
        entries = [self.description.find_entry(pair[places[field]]) for pair in getattr(self, field) or ()]
        return [entry for entry in entries if entry is not None]

    def parameter_values(self, numbers: Callable[[str], float]) -> list[tuple[FmuEntry, float | str]]:
        """Its parameters with their values; ``numbers`` gives those that are numbers, by their names in kinode."""
        values = [v if isinstance(v, FmuText) else numbers(plain_name(name)) for name, v in self.parameters]
        return list(zip(self.entries("parameters"), values, strict=True))


def is_real(entry: FmuEntry) -> bool:
    """Whether a variable is a real number of 64 bits, which is continuous."""
    return entry.variable.kind in DOUBLE and is_continuous(entry)


def is_continuous(entry: FmuEntry) -> bool:
    """Whether a variable may change between events."""
    return entry.variable.kind in REALS and entry.variable.variability in ("continuous", "")


def find_missing(entries: Sequence[FmuEntry]) -> list[FmuEntry]:
    """Entries of arrays that are not there, while others of the same array are."""
    known = {(entry.variable.name, entry.index) for entry in entries}
    variables = {entry.variable.name: entry.variable for entry in entries}
    wanted = (FmuEntry(variable, k) for variable in variables.values() for k in range(variable.count))
    return [entry for entry in wanted if (entry.variable.name, entry.index) not in known]


def _array_order(description: FmuDescription, pairs: Pairs) -> Pairs:
    """Pairs with the entries of each array together and in their order."""
    first: dict[str, int] = {}
    places = []
    for k, (name, _) in enumerate(pairs):
        entry = description.find_entry(name) if isinstance(name, str) else None
        array = entry is not None and bool(entry.variable.sizes)
        variable = entry.variable.name if entry is not None and array else str(name)
        places.append((first.setdefault(variable, k), entry.index if entry is not None and array else 0))
    return tuple(pairs[k] for k in sorted(range(len(pairs)), key=places.__getitem__))


def open_description(component: str, file: FmuFile) -> FmuDescription:
    """The description of an FMU; errors name the part."""
    try:
        return file.package.description
    except ModelError as error:
        raise error.located(component=component) from None


def _pairs(reader: Reader, raw: Any, field: str) -> Pairs:
    """Names with what belongs to them; of a list of variables, their names in kinode with themselves."""
    if isinstance(raw, tuple) and all(isinstance(item, tuple) and len(item) == 2 for item in raw):
        return raw
    if isinstance(raw, Mapping):
        pairs = tuple(raw.items())
    elif field == "outputs":
        raw = [raw] if isinstance(raw, str) else raw
        if not isinstance(raw, (list, tuple)) or not all(isinstance(item, str) for item in raw):
            raise reader.fail(field, f"names are expected, or {{name: variable}}, not {short(raw)}")
        pairs = tuple((plain_name(item), item) for item in raw)
    else:
        raise reader.fail(field, f"is {{variable of the FMU: value}}, not {short(raw)}")
    if not all(isinstance(name, str) and name for name, _ in pairs):
        raise reader.fail(field, "has a name that is no text")
    return pairs


def _distinct(reader: Reader, field: str, pairs: Iterable[tuple[str, Any]]) -> Pairs:
    known = tuple(pairs)
    names = [plain_name(name) for name, _ in known]
    for name in names:
        if names.count(name) > 1:
            raise reader.fail(field, f"{name!r} stands for two variables: name them yourself, {{name: variable}}")
    return known


def _typed(reader: Reader, description: FmuDescription, name: str, field: str, causality: str, value: Any) -> Any:
    """What is given to a variable, after the variable was looked at; text for a variable that is text."""
    known = description.variables.get(name)
    if known is not None and known.causality == "structuralParameter":
        message = f"{name} sets the sizes of arrays of the FMU (a structural parameter), which stay as they are"
        raise reader.fail(field, message)
    variable = _check_variable(reader, description, name, field, {causality})
    if variable.kind != "String" or isinstance(value, FmuText):
        return value
    if not isinstance(value, str):
        raise reader.fail(field, f"{name} is text, not {short(value)}")
    return FmuText(value)


def _check_variable(
    reader: Reader, description: FmuDescription, name: Any, field: str, only: set[str] | None
) -> FmuVariable:
    """Refuse what the FMU does not have, and what is not of the causality that a field takes."""
    if not isinstance(name, str):
        raise reader.fail(field, f"the name of a variable is expected, not {short(name)}")
    entry = description.find_entry(name)
    if entry is None:
        variable = description.variables.get(name)
        if variable is not None:
            example = ", ".join(["1"] * len(variable.sizes))
            raise reader.fail(field, f"{name} is an array: name its entries, {name}[{example}] ...")
        known = [v for v in description.variables.values() if only is None or v.causality in only]
        raise reader.fail(field, unknown("the FMU has no variable", name, [v.name for v in known]))
    variable = entry.variable
    if only is not None and variable.causality not in only:
        raise reader.fail(
            field, f"{name} is no {field.removesuffix('s')} of the FMU: its causality is {variable.causality}"
        )
    text = variable.kind == "String" and field == "parameters"
    if variable.kind not in NUMBERS and not text:
        raise reader.fail(field, f"{name} is of type {variable.kind}, and numbers are exchanged")
    return variable
