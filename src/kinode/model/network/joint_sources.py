"""Sources of motion on the third link of a joint: they prescribe it, as the joint's ``speed=`` or ``motion=`` does.

    system.speed_source("drive", "KN1.3", speed="1.2*sin(0.8*t)")      means     speed="1.2*sin(0.8*t)" of KN1

A joint whose freedoms all have a source of one sort stands in the system with their laws in the place of its own, and
each source is a ``JointDrive``, which tells what the joint's drive does.  The declared records stay as they are, for
files, copies and drawings.  What cannot be understood so is refused by ``check_joint_sources``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.element import Element, Load
from kinode.model.base.fields import Component, record
from kinode.model.joints.joint import Joint
from kinode.model.network.domain import Domain
from kinode.model.network.part import Part

if TYPE_CHECKING:
    from kinode.model.base.scene import LawScene
    from kinode.model.system import System

THIRD = "3"  # the number of the link of a joint's freedoms


class DrivenLink(NamedTuple):
    """A freedom of a joint that a source prescribes; ``sign`` is -1 where the joint is at the source's port b."""

    joint: str
    coordinate: int
    sign: float


@record
class JointDrive(Element):
    """A source of motion on a joint, as the motion of the system sees it: it tells what the joint's drive does."""

    pushes: ClassVar[bool] = False
    lawful: ClassVar[frozenset[str]] = frozenset()
    source: Part
    link: DrivenLink

    has_position: bool  # whether the freedom is the rate of a coordinate

    @property
    def conservative(self) -> bool:
        """Its work is that of the joint's drive."""
        return True

    @property
    def domain(self) -> Domain:
        return self.source.ports()["a"]

    @property
    def field(self) -> str:
        """The field of the joint that its law is: speed or motion."""
        assert self.source.drives is not None
        return self.source.drives[0]

    @property
    def port(self) -> str:
        """Its port at the joint."""
        return "a" if self.link.sign > 0 else "b"

    def units(self) -> dict[str, str]:
        """The quantities of the source; no angle where the joint has none."""
        units = self.source.units()
        return units if self.has_position else {x: y for x, y in units.items() if y != self.domain.position_unit}

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return {name: (unit, ()) for name, unit in self.units().items()}

    def needs_of(self, quantity: str) -> str:
        """What has to be known for a quantity: what it delivers depends on accelerations."""
        return "acceleration" if quantity.rpartition(".")[2] in (self.domain.flow, "power") else "velocity"

    def wrenches(self, scene: LawScene) -> tuple[Load, ...]:
        return ()


class Applied(NamedTuple):
    """The components of a system with the sources of motion on joints understood as motions of joints."""

    components: dict[str, Component]
    joints: dict[str, Joint]
    elements: dict[str, Element]


def apply_sources(declared: Applied, sources: Mapping[str, Part]) -> Applied:
    """The components with sources on joints applied, as far as they can be understood."""
    drives = find_drives(declared.joints, sources)
    if not drives:
        return declared
    changed: dict[str, Component] = {
        name: JointDrive(name, sources[name], link, declared.joints[link.joint].quaternion is None)
        for name, link in drives.items()
    }
    for joint in dict.fromkeys(link.joint for link in drives.values()):
        own = {name: link for name, link in drives.items() if link.joint == joint}
        changed[joint] = _driven(declared.joints[joint], own, sources)
    components = {name: changed.get(name, component) for name, component in declared.components.items()}
    joints = {name: changed.get(name, joint) for name, joint in declared.joints.items()}
    elements = {name: changed.get(name, element) for name, element in declared.elements.items()}
    return Applied(components, joints, elements)  # type: ignore[arg-type]  # each is replaced by one of its sort


def find_drives(joints: Mapping[str, Joint], sources: Mapping[str, Part]) -> dict[str, DrivenLink]:
    """The sources that prescribe the motion of a joint: all freedoms of it have one, of one sort."""
    links = {name: link for name, source in sources.items() if (link := _find_link(joints, source)) is not None}
    drives: dict[str, DrivenLink] = {}
    for name, link in links.items():
        own = [other for other, one in links.items() if one.joint == link.joint]
        joint = joints[link.joint]
        fields = {_field(sources[other]) for other in own}
        freedoms = sorted(links[other].coordinate for other in own)
        possible = not joint.driven and (joint.quaternion is None or "motion" not in fields)
        if possible and len(fields) == 1 and freedoms == list(range(joint.n_u)):
            drives[name] = link
    return drives


def split_link(name: str) -> tuple[str, str | None]:
    """A joint and the freedom of it that a name means: KN1, KN1.3, KN1.angle and KN1.3.angle."""
    words = name.split(".")
    for k in range(len(words) - 1, 0, -1):
        if words[k] == THIRD:
            return ".".join(words[:k]), ".".join(words[k + 1 :]) or None
    return name, None


def find_freedom(joints: Mapping[str, Joint], name: str) -> tuple[Joint, str | None] | None:
    """The joint, and the word for one of its freedoms, that a port is connected to; None where it is a node."""
    head, freedom = split_link(name)
    if head in joints:
        return joints[head], freedom
    head, _, freedom = name.rpartition(".")
    return (joints[head], freedom) if head in joints else None


def _find_link(joints: Mapping[str, Joint], source: Part) -> DrivenLink | None:
    """The freedom of a joint that a source holds against the world; None where it does something else."""
    domain = source.ports()["a"]
    one, two = (str(getattr(source, port)) for port in source.ports())
    for name, other, sign in ((one, two, 1.0), (two, one, -1.0)):
        freedom = find_freedom(joints, name)
        if freedom is None or other != domain.reference:
            continue
        joint, word = freedom
        names = [coordinate for coordinate, _ in joint.coordinates]
        word = names[0] if word is None and len(names) == 1 else word
        if word in names and joint.coordinates[names.index(word)][1] == domain.position_unit:
            return DrivenLink(joint.name, names.index(word), sign)
    return None


def _field(source: Part) -> str:
    assert source.drives is not None
    return source.drives[0]


def _driven(joint: Joint, links: Mapping[str, DrivenLink], sources: Mapping[str, Part]) -> Joint:
    """The joint with the laws of its sources; where a source says at which angle it begins, so does the joint."""
    laws: list[Any] = [0.0] * joint.n_u
    starts: list[Any] = [None] * joint.n_u
    for name, link in links.items():
        source = sources[name]
        assert source.drives is not None
        field, law = source.drives
        laws[link.coordinate] = _signed(getattr(source, law), link.sign)
        start = next((getattr(source, one) for one in source.all_starts().values()), None)
        starts[link.coordinate] = None if start is None else _signed(start, link.sign)
    changes: dict[str, Any] = {field: tuple(laws)}
    if any(start is not None for start in starts) and joint.q is None:
        changes["q"] = tuple(0.0 if start is None else start for start in starts)
    return dataclasses.replace(joint, **changes)


def _signed(value: Any, sign: float) -> Any:
    return value if sign > 0 else -value


# -- checks ----------------------------------------------------------------------------------------
def check_joint_sources(system: System) -> None:
    """Refuse sources of motion on joints that do not say one thing about all of its freedoms."""
    joints, sources = system.declared_joints, system.motion_sources
    drives = find_drives(joints, sources)
    for name, source in sources.items():
        link = _find_link(joints, source)
        if link is None or name in drives:
            continue
        joint = joints[link.joint]
        own = [other for other, one in sources.items() if (at := _find_link(joints, one)) and at.joint == joint.name]
        raise ModelError(_explain(joint, source, own, sources), component=name, field="a" if link.sign > 0 else "b")
    for name, link in drives.items():
        joint, source = joints[link.joint], sources[name]
        field = next(iter(source.all_starts().values()), None)
        start = None if field is None else getattr(source, field)
        if start is not None and joint.quaternion is not None:
            message = f"{joint.name} turns by a quaternion, and has no angle to begin at; give the joint its q="
            raise ModelError(message, component=name, field=field)
        if start is not None and joint.q is not None:
            message = f"the joint {joint.name} says where it begins already, by its q=; leave one out"
            raise ModelError(message, component=name, field=field)
        try:
            system.joints[link.joint].check()
        except ModelError as error:
            message = f"prescribes the motion of {joint.name}, whose {error.field} {error.message}"
            raise ModelError(message, component=name) from None


def _explain(joint: Joint, source: Part, own: list[str], sources: Mapping[str, Part]) -> str:
    """Why a source on a joint is not understood."""
    if joint.driven:
        field = "speed" if joint.speed is not None else "motion"
        return f"{joint.name} has its {field}= already, which decides its motion; leave one out"
    if joint.quaternion is not None and _field(source) == "motion":
        return f"a {joint.kind} joint turns by a quaternion; prescribe its speeds, or use joints with angles"
    if len({_field(sources[name]) for name in own}) > 1:
        return f"{' and '.join(own)} prescribe speeds and positions of one joint, {joint.name}: take one sort for all"
    if len(own) > joint.n_u:
        return f"{' and '.join(own)} both decide the motion of {joint.name}: their laws cannot both hold; leave one out"
    names = ", ".join(f"{joint.name}.{name}" for name, _ in joint.coordinates)
    return f"prescribes one freedom of {joint.name}; all of them are prescribed, or none: give {names} a source each"


def locate_source(system: System, error: ModelError) -> ModelError:
    """An error about the law of a joint, blamed on the source that gave it the law."""
    for name, drive in system.elements.items():
        if isinstance(drive, JointDrive) and drive.link.joint == error.component and drive.source.drives is not None:
            field, law = drive.source.drives
            if error.field == field and isinstance(getattr(drive.source, law), Expression):
                error.component, error.field = name, law
                return error
    return error
