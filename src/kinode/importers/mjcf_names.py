"""Names of kinode for what an MJCF model holds, by MuJoCo's numbers; parts without a name get one."""

from __future__ import annotations

from typing import Any

from kinode.importers.urdf_names import INVALID_CHARACTER, UrdfNames, choose_names
from kinode.model.base.frames import FRAME_WORDS


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
        text = INVALID_CHARACTER.sub("_", name)
        text = text if text[:1].isalpha() else f"part_{text.lstrip('_')}"
        choice, count = text, 1
        while choice in self.taken:
            count += 1
            choice = f"{text}_{count}"
        self.taken.add(choice)
        return choice

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
        text = INVALID_CHARACTER.sub("_", given)
        text = text if text[:1].isalpha() else f"site_{text.lstrip('_')}"
        choice, count = text, 1
        while choice in taken:
            count += 1
            choice = f"{text}_{count}"
        taken.add(choice)
        return choice
