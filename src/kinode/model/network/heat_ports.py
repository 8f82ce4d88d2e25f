"""The losses of any part as a heat port: ``heat=`` names the node that they warm.

    system.resistor("winding", "bus", "gnd", resistance="1 Ohm", heat="copper")

Such a part is of its kind with one port and one row more, ``heat.heat_flow = -lost``, in the domain whose flow itself
is a power.  What it loses then leaves through a port, and is counted once: it is no loss of the system before it
reaches the reference of that domain.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.errors import ModelError
from kinode.model.base.fields import record
from kinode.model.network.domain import Domain
from kinode.model.network.part import HEAT, HEAT_FIELD, Part, Row, port

if TYPE_CHECKING:
    from kinode.model.system import System


@record
class HeatedPart(Part):
    """A part whose losses go into a port; ``plain`` is its kind without it."""

    plain: ClassVar[type[Part]] = Part
    heat_domain: ClassVar[Domain]

    @classmethod
    def balance_text(cls) -> str:
        return cls.supplied

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field, _ in self.specs().values()}
        node = values.pop(HEAT)
        return _heated, (self.plain(self.name, **values), self.heat_domain, node)


def _heated(part: Part, domain: Domain, node: str) -> Part:
    """A part with a heat port at a node."""
    values = {field.name: getattr(part, field.name) for field, _ in part.specs().values()}
    return with_heat_port(type(part), domain)(  # type: ignore[arg-type]  # classes can be hashed
        part.name, **values, **{HEAT: node}
    )


def takes_heat_port(cls: type[Any]) -> bool:
    """Whether ``heat=`` of a kind is a heat port: it is a part, and has no field of that name of its own."""
    return issubclass(cls, Part) and (HEAT not in cls.specs() or issubclass(cls, HeatedPart))


def variant_of(system: System, name: str, cls: type[Any], given: dict[str, Any]) -> tuple[type[Any], dict[str, Any]]:
    """The class of a component by what was given, that of its kind or the same with a heat port; and its fields."""
    if not takes_heat_port(cls):
        return cls, given
    if given.get(HEAT) is None:
        return cls, {field: value for field, value in given.items() if field != HEAT}
    if cls.lost == "0":
        message = f"a {cls.kind} loses nothing that could warm a node; leave it out"
        raise ModelError(message, component=name, field=HEAT)
    return with_heat_port(cls, _find_domain(system, name, given[HEAT])), given  # type: ignore[arg-type]


def _find_domain(system: System, name: str, node: Any) -> Domain:
    """The domain of a heat port: the one whose flow is a power, and of several that of the node."""
    domains = [domain for domain in system.all_domains.values() if not domain.product_is_power]
    there = system.nodes.get(node) if isinstance(node, str) and len(domains) > 1 else None
    domains = [there.domain] if there is not None and there.domain in domains else domains
    if len(domains) == 1:
        return domains[0]
    if domains:
        kinds = " and ".join(domain.kind for domain in domains)
        message = f"{kinds} are domains whose flow is a power, and {node} is not known yet: add what stores heat first"
    else:
        message = "no domain is declared whose flow is a power; declare one: potential {temperature: K}, flow "
        message += "{heat_flow: W}, reference {ambient: 293.15 K}"
    raise ModelError(message, component=name, field=HEAT)


@lru_cache(maxsize=1024)
def with_heat_port(cls: type[Part], domain: Domain) -> type[Part]:
    """A kind with a heat port."""
    flow = f"{HEAT}.{domain.flow}"
    row = Row("heat of its losses", f"{flow} = -({cls.lost})", flow)
    domains = {**cls.domains, domain.kind: domain}
    body: dict[str, Any] = {
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
        "__annotations__": {HEAT: str},
        "kind": cls.kind,
        "plain": cls,
        "heat_domain": domain,
        "domains": domains,
        "rows": (*cls.rows, row),
        HEAT: port(domain.kind, HEAT_FIELD.spec.doc, domains=domains),
    }
    if cls.find_rows is not Part.find_rows:
        body["find_rows"] = lambda self: (*cls.find_rows(self), row)
    heated: type[Part] = record(type(cls.__name__, (HeatedPart, cls), body))
    heated.check_kind()
    return heated
