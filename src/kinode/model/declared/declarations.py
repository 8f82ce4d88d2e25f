"""What a system declares as data beside its components: domains of links, and kinds of parts by their equations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from kinode.errors import ModelError
from kinode.model.component_store import ComponentStore
from kinode.model.network.domains.domain import DOMAINS, Domain, references_of

if TYPE_CHECKING:
    from kinode.model.base.field_reader import Reader
    from kinode.model.network.part import Part
    from kinode.model.system import System


class Declarations(ComponentStore):
    """Domains and kinds of parts that belong to one system."""

    kinds: dict[str, type[Part]]  # declared here, beside those that are registered
    domains: dict[str, Domain]  # likewise

    def __init__(self) -> None:
        super().__init__()
        self.kinds, self.domains = {}, {}

    if TYPE_CHECKING:

        def reader(self, component: str) -> Reader: ...
        def copy(self) -> System: ...

    @property
    def all_domains(self) -> dict[str, Domain]:
        """The kinds of links that its parts may have: those that are registered, and its own."""
        return {**DOMAINS, **self.domains}

    @property
    def references(self) -> frozenset[str]:
        """The names of the reference nodes: gnd, world, and those of its own domains."""
        return references_of(self.all_domains)

    def check_name(self, name: str) -> str:
        """Refuse a name that is invalid, reserved or taken, by a reference node too."""
        super().check_name(name)
        for each in (DOMAINS, self.domains):  # a loop, since a large system asks for each of its names
            for domain in each.values():
                if name == domain.reference:
                    message = f"the name {name!r} is taken by a reference node; choose another"
                    raise ModelError(message, component=name)
        return name

    def define(self, kind: str, **declaration: Any) -> type[Part]:
        """Declare a kind of part by its equations, as the section ``components`` of a file does."""
        from kinode.model.network.declared_parts import declare_kind

        if kind in self.kinds:
            raise ModelError(f"the kind {kind!r} is declared already", component=kind)
        self.kinds[kind] = cls = declare_kind(self.reader(kind), kind, declaration, self.all_domains)
        return cls

    def domain(self, kind: str, **declaration: Any) -> Domain:
        """Declare a kind of link by its words and units, as the section ``domains`` of a file does.

        ``potential={"temperature": "K"}, flow={"heat_flow": "W"}, reference={"ambient": "293.15 K"}``; more in
        ``help(kn.register_domain)``, which declares one for all systems.
        """
        from kinode.model.network.domains.declared_domains import read_domain

        domain = read_domain(self.reader(str(kind)), kind, declaration, self.all_domains)
        if domain.reference in self.components or domain.reference in self.prefixes:
            message = f"{domain.reference} is a component already; choose another name"
            raise ModelError(message, component=kind, field="reference")
        self.domains[kind] = domain
        return domain

    def connect(self, connections: Any, components: Mapping[str, Any]) -> None:
        """Add a circuit as it is drawn: its components, and what is connected to what.

        ``connections`` is "Ew1-KN1.1; Ew2-KN1.3; KN1.2-SB1.1" or a list of such pairs; ``components`` has the fields
        of each by its name, with its ``kind``: body (with ``links``), base (the world), a joint or an element.
        """
        from kinode.model.network.domains.drawn_circuit import connect_drawn

        connect_drawn(cast("System", self), connections, components)

    # -- sources on joints, as declared and as applied ------------------------------------------------
    def as_declared(self) -> System:
        """A copy whose sources of motion on joints stay parts, for files and drawings; itself where there are none."""
        if not self.motion_sources:
            return cast("System", self)
        twin = self.copy()
        twin.applies_sources = False
        return twin

    def applied(self) -> System:
        """A copy whose joints have the laws of the sources on them as their own, so that they can be changed."""
        twin = self.copy()
        for name, component in self.components.items():
            if component is not self.declared[name]:
                twin.replace(component)
        return twin
