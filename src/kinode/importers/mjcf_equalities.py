"""Equalities of an MJCF model, which hold exactly here: connect and weld close loops, joint and tendon are gears."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError
from kinode.importers.mjcf_files import quaternion_matrix, rotation_of, tidy_number, tidy_vector
from kinode.importers.robot_names import MjcfNames
from kinode.model.base.frames import Frame
from kinode.model.system import System

DEPENDENT = 1e-9  # share of its arms by which an equality goes beyond others
SAME, ROUNDING = 1e-6, 1e-12  # between the numbers of a file, which have few digits


class EqualityClosure(NamedTuple):
    """A joint that closes a loop, before it has a place in a system."""

    name: str
    kind: str
    a: Frame
    b: Frame


class JointRelation(NamedTuple):
    """sum of arm q = constant over one or two joints; the first arm is 1."""

    given: str
    arms: dict[int, float]
    constant: float


class MjcfEqualities:
    """Reads the equalities; ``locked`` are the joints that one holds at a number."""

    def __init__(self, mujoco: Any, model: Any, names: MjcfNames) -> None:
        self.mujoco, self.model, self.names = mujoco, model, names
        self.closures: list[EqualityClosure] = []
        self.gears: list[tuple[str, dict[str, Any]]] = []
        self.locked: dict[int, float] = {}
        self.left_out: list[str] = []
        self._relations: list[JointRelation] = []
        if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EQUALITY:
            return
        kinds = mujoco.mjtEq
        for k in range(model.neq):
            given = model.equality(k).name or f"equality_{k}"
            kind = kinds(int(model.eq_type[k]))
            if not model.eq_active0[k]:
                self.left_out.append(f"equality {given}: it is not active")
            elif kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
                self._add_closure(k, given, kind == kinds.mjEQ_WELD)
            elif kind in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON):
                self._add_gear(k, given, kind == kinds.mjEQ_TENDON)
            else:
                word = kind.name.removeprefix("mjEQ_").lower()
                self.left_out.append(f"equality {given}: {word} has no counterpart")

    @property
    def close_loops(self) -> bool:
        """Whether any closes a loop or couples joints, so that start coordinates depend on each other."""
        return bool(self.closures or self.gears)

    def close(self, system: System) -> None:
        """Add the joints and gears."""
        for closure in self.closures:
            system.joint(closure.name, closure.kind, closure.a, closure.b)
        for name, fields in self.gears:
            system.constraint(name, "gear", **fields)

    def _add_closure(self, k: int, given: str, weld: bool) -> None:
        model, m = self.model, self.mujoco
        one, two, data = int(model.eq_obj1id[k]), int(model.eq_obj2id[k]), model.eq_data[k]
        if m.mjtObj(int(model.eq_objtype[k])) == m.mjtObj.mjOBJ_SITE:
            a, b = self.site_frame(one), self.site_frame(two)
        elif weld:
            rotation = rotation_of(quaternion_matrix(data[6:10]))
            a, b = Frame(self.names.bodies[one], tidy_vector(data[3:6]), rotation), Frame(self.names.bodies[two])
        else:
            a = Frame(self.names.bodies[one], tidy_vector(data[0:3]))
            b = Frame(self.names.bodies[two], tidy_vector(data[3:6]))
        if a.body == b.body:
            self.left_out.append(f"equality {given}: both sides are on {a.body}")
            return
        self.closures.append(EqualityClosure(self.names.fresh(given), "fixed" if weld else "spherical", a, b))

    def site_frame(self, site: int) -> Frame:
        """Where a site is on its body."""
        model = self.model
        rotation = rotation_of(quaternion_matrix(model.site_quat[site]))
        return Frame(self.names.bodies[int(model.site_bodyid[site])], tidy_vector(model.site_pos[site]), rotation)

    def _add_gear(self, k: int, given: str, tendon: bool) -> None:
        """one - one_0 = c[0] + c[1] (two - two_0) between joints or fixed tendons, as a relation of joints."""
        model = self.model
        one, two, c = int(model.eq_obj1id[k]), int(model.eq_obj2id[k]), model.eq_data[k]
        if c[2:5].any():
            self.left_out.append(f"equality {given}: it is not linear")
            return
        arms: dict[int, float] = {}
        for which, factor in ((one, 1.0), (two, -float(c[1]))):
            for joint, arm in (self._arms(which, tendon) if which >= 0 and factor else {}).items():
                arms[joint] = arms.get(joint, 0.0) + factor * arm
        arms = {joint: arm for joint, arm in arms.items() if arm}
        constant = float(c[0]) + sum(arm * float(model.qpos0[model.jnt_qposadr[j]]) for j, arm in arms.items())
        if not 1 <= len(arms) <= 2 or -1 in arms:
            reason = "it runs through space" if -1 in arms else f"it couples {len(arms)} joints"
            self.left_out.append(f"equality {given}: {reason}")
            return
        lead = next(iter(arms.values()))
        self._relate(JointRelation(given, {joint: arm / lead for joint, arm in arms.items()}, constant / lead))

    def _relate(self, relation: JointRelation) -> None:
        """Lock a joint or add a gear; what others imply is left out, what contradicts them is refused."""
        weights = self._combine(relation.arms)
        if weights is not None:
            self._compare(relation, weights)
            return
        first, *rest = relation.arms
        looped = rest and rest[0] in self._coupled_with(first)
        self._relations.append(relation)
        offset = tidy_number(relation.constant)
        if looped:  # one gear couples the two already: a second one leaves no freedom
            held = self._combine({first: 1.0})
            assert held is not None
            self.locked[first] = tidy_number(held @ [other.constant for other in self._relations])
        elif not rest:
            self.locked[first] = offset
        else:
            fields: dict[str, Any] = {"input": self.names.joints[first], "output": self.names.joints[rest[0]]}
            fields |= {"ratio": -relation.arms[rest[0]]} | ({"offset": offset} if offset else {})
            self.gears.append((self.names.fresh(relation.given), fields))

    def _combine(self, arms: dict[int, float]) -> Array | None:
        """The weights with which the relations so far add up to these arms, or None."""
        joints = sorted({*arms, *(joint for relation in self._relations for joint in relation.arms)})
        rows = np.array([[other.arms.get(joint, 0.0) for joint in joints] for other in self._relations])
        wanted = np.array([arms.get(joint, 0.0) for joint in joints])
        if not len(rows):
            return None
        weights: Array = np.linalg.lstsq(rows.T, wanted)[0]
        beyond = np.abs(weights @ rows - wanted).max()
        return weights if beyond <= DEPENDENT * np.abs(wanted).max() else None

    def _compare(self, relation: JointRelation, weights: Array) -> None:
        """Refuse a relation whose constant is another than that of the relations that imply it."""
        used = [(other, weight) for other, weight in zip(self._relations, weights) if abs(weight) > DEPENDENT]
        names = [other.given for other, _ in used]
        terms = [other.constant * weight for other, weight in used]
        value, asked = sum(terms), relation.constant
        if abs(value - asked) <= SAME * max(abs(asked), *map(abs, terms)) + ROUNDING:
            self.left_out.append(f"equality {relation.given}: it follows from {' and '.join(names)}")
            return
        (first, _), *rest = relation.arms.items()
        what = self.names.joints[first]
        for joint, arm in rest:
            factor = "" if abs(arm) == 1 else f"{abs(arm):.6g}*"
            what += f" {'+' if arm > 0 else '-'} {factor}{self.names.joints[joint]}"
        raise ModelError(
            f"the equalities {', '.join(names)} and {relation.given} contradict each other: {what} is {value:.6g} by "
            f'{" and ".join(names)}, and {asked:.6g} by {relation.given}; take one out, or give it active="false"'
        )

    def _coupled_with(self, joint: int) -> set[int]:
        """The joints that gears couple with one, and itself."""
        reached, ways = {joint}, [joint]
        while ways:
            here = ways.pop()
            beside = {other for relation in self._relations if here in relation.arms for other in relation.arms}
            ways += beside - reached
            reached |= beside
        return reached

    def _arms(self, which: int, tendon: bool) -> dict[int, float]:
        """What a joint or fixed tendon gains for a unit of each joint; -1 stands for a tendon through space."""
        model, m = self.model, self.mujoco
        if not tendon:
            return {which: 1.0}
        arms: dict[int, float] = {}
        for wrap in range(model.tendon_adr[which], model.tendon_adr[which] + model.tendon_num[which]):
            on_joint = m.mjtWrap(int(model.wrap_type[wrap])) == m.mjtWrap.mjWRAP_JOINT
            joint = int(model.wrap_objid[wrap]) if on_joint else -1
            arms[joint] = arms.get(joint, 0.0) + (float(model.wrap_prm[wrap]) if on_joint else 1.0)
        return arms
