"""Names of kinode for the bodies and joints of a robot file: one namespace of letters, digits and _.

Valid names are kept; only names that are invalid or taken are changed.  The same file always gives the same names.
What an MJCF model holds goes by MuJoCo's numbers; parts without a name get one.  A body whose inertia no body can have
is kept, and noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kinode.errors import ModelError
from kinode.model.base.frames import FRAME_WORDS
from kinode.model.component_store import RESERVED, claim_name
from kinode.model.system import System

VALID_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
INVALID_CHARACTER = re.compile(r"[^A-Za-z0-9_]")


class UrdfNames(NamedTuple):
    """Names of links, joints and the joint of the root, notes on changed names, and all names that are taken."""

    links: dict[str, str]
    joints: dict[str, str]
    base: str
    notes: tuple[str, ...]
    taken: set[str]

    def fresh(self, name: str) -> str:
        """The name, with a number appended if it is taken; it is taken from then on."""
        return claim_name(name, self.taken)


def choose_names(links: Iterable[str], joints: Iterable[str], world: str | None, word: str = "link") -> UrdfNames:
    """Names for links and joints; ``world`` is the root link of a fixed base (called "world", it is the world).

    ``word`` is what the file calls its links.
    """
    links, joints = list(links), list(joints)
    taken: set[str] = set(RESERVED)
    given: dict[str, dict[str, str]] = {"joint": {}, word: {}}
    if world == "world":
        given[word]["world"] = "world"
    every = [("joint", name) for name in joints] + [(word, name) for name in links]
    rest = []
    for sort, name in every:
        if name in given[sort]:
            continue
        if VALID_NAME.match(name) and name not in taken:
            taken.add(name)
            given[sort][name] = name
        else:
            rest.append((sort, name))
    notes = []
    for sort, name in rest:
        new = given[sort][name] = _claim(_valid_name(name, sort), sort, taken)
        notes.append(f"the {sort} {name!r} is called {new} here")
    base = _claim("base", "joint", taken)
    called = {sort: {name: given[sort][name] for name in every} for sort, every in ((word, links), ("joint", joints))}
    return UrdfNames(called[word], called["joint"], base, tuple(notes), taken)


def _valid_name(name: str, sort: str) -> str:
    """The name with every invalid character replaced."""
    text = INVALID_CHARACTER.sub("_", name)
    return text if text[:1].isalpha() else f"{sort}_{text.lstrip('_')}"


def _claim(name: str, sort: str, taken: set[str]) -> str:
    """The name, or the name with its sort, and a number if need be, appended if it is taken."""
    return claim_name(f"{name}_{sort}" if name in taken else name, taken)


class MjcfNames:
    """The names of bodies and joints; those of inputs, frames and further parts are claimed when they are needed."""

    def __init__(self, model: Any) -> None:
        self.model = model
        bodies = [model.body(k).name or f"body_{k}" for k in range(1, model.nbody)]
        joints = [model.joint(k).name or self._joint_name(k, bodies) for k in range(model.njnt)]
        chosen: UrdfNames = choose_names(bodies, joints, None, "body")
        self.notes, self.taken = chosen.notes, chosen.taken
        self.bodies = ["world", *(chosen.links[name] for name in bodies)]
        self.joints = [chosen.joints[name] for name in joints]
        self._frames: dict[int, set[str]] = {}

    def _joint_name(self, k: int, bodies: list[str]) -> str:
        body = int(self.model.jnt_bodyid[k])
        number = k - int(self.model.body_jntadr[body]) + 1
        several = self.model.body_jntnum[body] > 1
        return f"{bodies[body - 1]}_joint_{number}" if several else f"{bodies[body - 1]}_joint"

    def fresh(self, name: str) -> str:
        """A name that is not taken, made from this one."""
        return claim_name(_valid_name(name, "part"), self.taken)

    def actuator(self, k: int) -> str:
        """What the file calls an actuator."""
        return self.model.actuator(k).name or f"actuator_{k}"

    def tendon(self, k: int) -> str:
        """What the file calls a tendon."""
        return self.model.tendon(k).name or f"tendon_{k}"

    def input(self, k: int) -> str:
        """The name of the input of an actuator; one that is taken by a joint gets a word behind it."""
        name = INVALID_CHARACTER.sub("_", self.actuator(k))
        return self.fresh(f"{name}_control" if name in self.taken else name)

    def frame(self, site: int) -> str | None:
        """The name of the frame of a site on its body; None if the site has none."""
        given = self.model.site(site).name
        if not given:
            return None
        taken = self._frames.setdefault(int(self.model.site_bodyid[site]), set(FRAME_WORDS))
        return claim_name(_valid_name(given, "site"), taken)


def add_body(system: System, name: str, fields: Mapping[str, Any]) -> None:
    """Add a body; what its file says of its inertia is taken as it is."""
    try:
        system.body(name, **fields)
    except ModelError as error:
        if error.field != "inertia":
            raise
        system.body(name, **fields, physical=False)
        system.notes.append(f"{name}: the inertia is kept, though {error.message}")
