"""Actuators and fixed tendons of an MJCF model as inputs and effort laws.

MuJoCo's force of an actuator is gain * control + bias, where gain and bias are numbers or affine in length and
velocity of what it acts on.  On a joint of one freedom the length is gear * q, on a fixed tendon gear times the sum of
coefficient * q; its effort at a joint is the force times what the length gains for a unit of q.  At a site the gear is
a wrench in the axes of the site.  A filter or integrator before the gain is a signal part of that kind.

Springs and dampers of fixed tendons are laws of the same form.  A spatial tendon between two sites is a spring.
Everything else is left out and noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinode.importers.mjcf_files import tidy_number
from kinode.importers.robot_names import MjcfNames
from kinode.model.system import System

HINGE_OR_SLIDE = (2, 3)  # mjtJoint: slide, hinge
BALL = 1
SWITCHED_GROUPS = 31  # actuatorgroupdisable knows those below


class SitePush(NamedTuple):
    """A wrench of an actuator at a site, as laws in its axes."""

    actuator: str
    site: int
    force: tuple[str, str, str]
    moment: tuple[str, str, str]


class TendonSpring(NamedTuple):
    """A spatial tendon between two sites: a spring and damper."""

    name: str
    a: int
    b: int
    stiffness: float
    damping: float
    free_length: float


class ActuatorPath(NamedTuple):
    """Length and velocity as laws, and what the length gains for a unit of each joint's coordinates."""

    length: str
    velocity: str
    arms: Mapping[tuple[int, int], float]


class MjcfDrives:
    """Reads actuators and tendons; ``laws`` are the efforts of each joint, ``pushes`` the wrenches at sites."""

    def __init__(
        self,
        mujoco: Any,
        model: Any,
        names: MjcfNames,
        system: System,
        controls: Sequence[float],
        activations: Sequence[float],
    ) -> None:
        self.mujoco, self.model, self.names, self.system = mujoco, model, names, system
        self.controls, self.activations = controls, activations
        self.driven: dict[tuple[int, int], list[str]] = {}
        self.passive: dict[tuple[int, int], list[str]] = {}
        self.pushes: list[SitePush] = []
        self.springs: list[TendonSpring] = []
        self.armatures: dict[int, float] = {}
        self.left_out: list[str] = []
        off = model.opt.disableflags
        self.clamps = not off & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
        m = mujoco
        self.dyn = [m.mjtDyn(int(x)) for x in model.actuator_dyntype]
        self.gain = [m.mjtGain(int(x)) for x in model.actuator_gaintype]
        self.bias = [m.mjtBias(int(x)) for x in model.actuator_biastype]
        self.acts_on = [m.mjtTrn(int(x)) for x in model.actuator_trntype]
        if not off & mujoco.mjtDisableBit.mjDSBL_ACTUATION:
            for k in range(model.nactuator):
                self._add_actuator(k)
        for k in range(model.ntendon):
            self._add_tendon(
                k, bool(off & mujoco.mjtDisableBit.mjDSBL_SPRING), bool(off & mujoco.mjtDisableBit.mjDSBL_DAMPER)
            )

    def efforts(self, joint: int) -> list[str]:
        """The effort law of each coordinate of a joint, or nothing where no law acts."""
        model = self.model
        count = {BALL: 3}.get(int(model.jnt_type[joint]), 1)
        laws = []
        for axis in range(count):
            terms = [join(self.driven.get((joint, axis), []))]
            if terms[0] and model.jnt_actfrclimited[joint]:
                terms = [clamped(terms[0], model.jnt_actfrcrange[joint])]
            laws.append(join([*terms, *self.passive.get((joint, axis), [])]))
        return laws if any(laws) else []

    # -- actuators ---------------------------------------------------------------------------------
    def _add_actuator(self, k: int) -> None:
        model, m = self.model, self.mujoco
        given = self.names.actuator(k)
        reason = self._unsuited(k)
        transmission = None if reason else self._transmission(k)
        site = self.acts_on[k] == m.mjtTrn.mjTRN_SITE
        if not reason and transmission is None and not site:
            reason = "what it acts on has no counterpart"
        if reason:
            self.left_out.append(f"actuator {given}: {reason}")
            return
        name = self.names.input(k)
        value = self.controls[model.actuator_ctrladr[k]] if len(self.controls) else 0.0
        self.system.input(name, tidy_number(value))
        control = self._control(k, name)
        if transmission is None:
            self._push(k, name, control)
            return
        force = self._force(k, control, transmission)
        if len(transmission.arms) > 1 and force != name:
            signal = self.names.fresh(f"{name}_force")
            self.system.signal(signal, force)
            force = signal
        for place, arm in transmission.arms.items():
            self.driven.setdefault(place, []).append(times(arm, force))
        self._reflect(k, transmission)

    def _unsuited(self, k: int) -> str:
        """Why an actuator has no counterpart; empty if it has one."""
        model, m = self.model, self.mujoco
        dyn = {m.mjtDyn.mjDYN_NONE, m.mjtDyn.mjDYN_INTEGRATOR, m.mjtDyn.mjDYN_FILTER, m.mjtDyn.mjDYN_FILTEREXACT}
        group = int(model.actuator_group[k])
        if 0 <= group < SWITCHED_GROUPS and model.opt.disableactuator & (1 << group):
            return f"its group, {group}, is switched off"
        if model.actuator_plugin[k] >= 0:
            return "its plug-in has no counterpart"
        if self.dyn[k] not in dyn:
            return f"its dynamics ({self.dyn[k].name[6:].lower()}) have no counterpart"
        if self.gain[k] not in (m.mjtGain.mjGAIN_FIXED, m.mjtGain.mjGAIN_AFFINE):
            return f"its gain ({self.gain[k].name[7:].lower()}) has no counterpart"
        if self.bias[k] not in (m.mjtBias.mjBIAS_NONE, m.mjtBias.mjBIAS_AFFINE):
            return f"its bias ({self.bias[k].name[7:].lower()}) has no counterpart"
        if model.actuator_ctrlnum[k] != 1 or model.actuator_outnum[k] != 1 or model.actuator_actnum[k] > 1:
            return "it has several controls or outputs"
        if model.actuator_delay[k]:
            return "its delay has no counterpart"
        if self.acts_on[k] == m.mjtTrn.mjTRN_SITE and (model.actuator_trnid[k, 1] >= 0 or self._feeds_back(k)):
            return "at a site only forces without feedback have a counterpart"
        return ""

    def _feeds_back(self, k: int) -> bool:
        """Whether gain or bias depend on length or velocity."""
        model, m = self.model, self.mujoco
        gain = self.gain[k] == m.mjtGain.mjGAIN_AFFINE and model.actuator_gainprm[k, 1:3].any()
        bias = self.bias[k] == m.mjtBias.mjBIAS_AFFINE and model.actuator_biasprm[k, 1:3].any()
        return bool(gain or bias)

    def _transmission(self, k: int) -> ActuatorPath | None:
        model, m = self.model, self.mujoco
        kind, target, gear = self.acts_on[k], int(model.actuator_trnid[k, 0]), model.actuator_gear[k]
        if kind == m.mjtTrn.mjTRN_TENDON:
            path = self.tendon(target)
            return None if path is None else scaled(path, tidy_number(gear[0]))
        if kind not in (m.mjtTrn.mjTRN_JOINT, m.mjtTrn.mjTRN_JOINTINPARENT):
            return None
        if model.jnt_type[target] in HINGE_OR_SLIDE:
            name = self.names.joints[target]
            return scaled(ActuatorPath(f"{name}.q", f"{name}.u", {(target, 0): 1.0}), tidy_number(gear[0]))
        if model.jnt_type[target] == BALL and kind == m.mjtTrn.mjTRN_JOINT and not self._feeds_back(k):
            return ActuatorPath("0", "0", {(target, axis): tidy_number(gear[axis]) for axis in range(3) if gear[axis]})
        return None

    def _control(self, k: int, name: str) -> str:
        """The control signal behind its limits and its dynamics."""
        model, m = self.model, self.mujoco
        dyn = self.dyn[k]
        control = name
        if model.actuator_ctrllimited[k] and self.clamps:
            control = clamped(control, model.actuator_ctrlrange[k])
        if dyn == m.mjtDyn.mjDYN_NONE:
            return control
        part = self.names.fresh(f"{name}_activation")
        start = tidy_number(self.activations[model.actuator_actadr[k]])
        if dyn == m.mjtDyn.mjDYN_INTEGRATOR:
            limits: dict[str, Any] = {}
            if model.actuator_actlimited[k]:
                low, high = plain(model.actuator_actrange[k])
                limits, start = {"limits": (low, high)}, min(max(start, low), high)
            self.system.element(part, "integrator", input=control, **({"initial": start} if start else {}), **limits)
            return f"{part}.output"
        lag = float(model.actuator_dynprm[k, 0])
        self.system.element(part, "filter", input=control, time_constant=lag, initial=start)
        act = f"{part}.output"
        return clamped(act, model.actuator_actrange[k]) if model.actuator_actlimited[k] else act

    def _force(self, k: int, control: str, path: ActuatorPath) -> str:
        model, m = self.model, self.mujoco
        affine = self.gain[k] == m.mjtGain.mjGAIN_AFFINE
        gain = affine_law(model.actuator_gainprm[k] if affine else [model.actuator_gainprm[k, 0], 0.0, 0.0], path)
        terms = [f"({gain})*{control}" if affine and self._feeds_back(k) else times(float(gain), control)]
        if self.bias[k] == m.mjtBias.mjBIAS_AFFINE:
            bias = affine_law(model.actuator_biasprm[k], path)
            terms += [] if bias == "0.0" else [bias]
        force = join(terms)
        force = clamped(force, model.actuator_forcerange[k]) if model.actuator_forcelimited[k] else force
        tendon = int(model.actuator_trnid[k, 0])
        if self._is_alone(k) and model.tendon_actfrclimited[tendon]:
            return clamped(force, model.tendon_actfrcrange[tendon])
        return force

    def _is_alone(self, k: int) -> bool:
        """Whether an actuator acts on a tendon, on which no other acts."""
        tendons = [
            int(self.model.actuator_trnid[i, 0]) if kind == self.mujoco.mjtTrn.mjTRN_TENDON else -1
            for i, kind in enumerate(self.acts_on)
        ]
        return tendons[k] >= 0 and tendons.count(tendons[k]) == 1

    def _push(self, k: int, name: str, control: str) -> None:
        """A wrench at a site."""
        force = self._force(k, control, ActuatorPath("0", "0", {}))
        wrench = [times(tidy_number(gear), force) if gear else "0" for gear in self.model.actuator_gear[k]]
        self.pushes.append(
            SitePush(name, int(self.model.actuator_trnid[k, 0]), tuple(wrench[:3]), tuple(wrench[3:]))  # type: ignore[arg-type]
        )

    def _reflect(self, k: int, path: ActuatorPath) -> None:
        """Inertia and damping of the actuator itself, seen at the joint."""
        model = self.model
        armature = float(model.actuator_armature[k])
        linear, square, cube = (float(x) for x in (model.actuator_damping[k], *model.actuator_dampingpoly[k]))
        if not (armature or linear or square or cube):
            return
        if len(path.arms) != 1:
            self.left_out.append(f"armature and damping of actuator {self.names.actuator(k)}")
            return
        (((joint, axis), arm),) = path.arms.items()
        if armature:
            self.armatures[joint] = self.armatures.get(joint, 0.0) + arm * arm * armature
        rate, laws = path.velocity, self.passive.setdefault((joint, axis), [])
        gear = tidy_number(model.actuator_gear[k, 0])  # MuJoCo's polynomial is one of the speed before the gear
        laws += [times(-arm * linear, rate)] if linear else []
        laws += [f"{-arm * square / abs(gear)!r}*({rate})*abs({rate})"] if square and gear else []
        laws += [f"{-arm * cube / gear**2!r}*({rate})^3"] if cube and gear else []

    # -- tendons -----------------------------------------------------------------------------------
    def tendon(self, k: int) -> ActuatorPath | None:
        """A fixed tendon; None for a spatial one."""
        model, m = self.model, self.mujoco
        first, count = int(model.tendon_adr[k]), int(model.tendon_num[k])
        arms: dict[tuple[int, int], float] = {}
        lengths, rates = [], []
        for wrap in range(first, first + count):
            if m.mjtWrap(int(model.wrap_type[wrap])) != m.mjtWrap.mjWRAP_JOINT:
                return None
            joint, arm = int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])
            arms[joint, 0] = arms.get((joint, 0), 0.0) + arm
            lengths.append(times(arm, f"{self.names.joints[joint]}.q"))
            rates.append(times(arm, f"{self.names.joints[joint]}.u"))
        return ActuatorPath(join(lengths), join(rates), arms)

    def _add_tendon(self, k: int, no_spring: bool, no_damper: bool) -> None:
        model, given = self.model, self.names.tendon(k)
        path = self.tendon(k)
        stiffness = 0.0 if no_spring else float(model.tendon_stiffness[k])
        damping = 0.0 if no_damper else float(model.tendon_damping[k])
        extra = [word for word in ("frictionloss", "armature") if getattr(model, f"tendon_{word}")[k]]
        extra += ["limits"] if model.tendon_limited[k] else []
        extra += ["springyield"] if model.tendon_springyield[k] > 0 else []
        pulls = sum(
            kind == self.mujoco.mjtTrn.mjTRN_TENDON and model.actuator_trnid[i, 0] == k
            for i, kind in enumerate(self.acts_on)
        )
        extra += ["actuatorfrcrange"] if model.tendon_actfrclimited[k] and pulls > 1 else []
        for word in ("stiffnesspoly", "dampingpoly") if path is None else ():
            extra += [word] if getattr(model, f"tendon_{word}")[k].any() else []
        if extra:
            self.left_out.append(f"tendon {given}: {' and '.join(extra)}")
        if path is None:
            ends, (low, high) = self._straight(k), plain(model.tendon_lengthspring[k])
            if ends is None or (stiffness and low != high):
                self.left_out.append(f"tendon {given}: it runs through space")
            elif stiffness or damping:
                self.springs.append(TendonSpring(self.names.fresh(given), *ends, stiffness, damping, low))
            return
        terms = [] if no_spring else self._tendon_spring(k, path)
        terms += [] if no_damper else self._tendon_damper(k, path)
        if terms:
            signal = self.names.fresh(f"{given}_tension")
            self.system.signal(signal, join(terms))
            for place, arm in path.arms.items():
                self.passive.setdefault(place, []).append(times(arm, signal))

    def _tendon_spring(self, k: int, path: ActuatorPath) -> list[str]:
        """The pull of a fixed tendon that is longer or shorter than at rest; between two lengths there is none."""
        model = self.model
        low, high = plain(model.tendon_lengthspring[k])
        rest = f"{low!r}" if low == high else f"clamp({path.length}, {low!r}, {high!r})"
        away = f"{path.length} - {rest}" if rest != "0.0" else path.length
        linear, square, cube = (float(x) for x in (model.tendon_stiffness[k], *model.tendon_stiffnesspoly[k]))
        terms = [times(-linear, away)] if linear else []
        return [*terms, *(f"{-c!r}*({away})^{n}" for n, c in ((2, square), (3, cube)) if c)]

    def _tendon_damper(self, k: int, path: ActuatorPath) -> list[str]:
        model, rate = self.model, path.velocity
        linear, square, cube = (float(x) for x in (model.tendon_damping[k], *model.tendon_dampingpoly[k]))
        terms = [times(-linear, rate)] if linear else []
        terms += [f"{-square!r}*({rate})*abs({rate})"] if square else []
        return [*terms, *([f"{-cube!r}*({rate})^3"] if cube else [])]

    def _straight(self, k: int) -> tuple[int, int] | None:
        """The two sites between which a spatial tendon is straight; None if it has others, or wraps around geoms."""
        model, site = self.model, self.mujoco.mjtWrap.mjWRAP_SITE
        first, count = int(model.tendon_adr[k]), int(model.tendon_num[k])
        if count != 2 or any(self.mujoco.mjtWrap(int(x)) != site for x in model.wrap_type[first : first + 2]):
            return None
        return int(model.wrap_objid[first]), int(model.wrap_objid[first + 1])


# -- laws as text ----------------------------------------------------------------------------------
def plain(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(tidy_number(value) for value in values)


def clamped(law: str, limits: Sequence[Any]) -> str:
    low, high = plain(limits)
    return f"clamp({law}, {low!r}, {high!r})"


def times(factor: float, law: str) -> str:
    """A law times a number."""
    inner = f"({law})" if " " in law or law.startswith("-") else law
    return inner if factor == 1.0 else f"{factor!r}*{inner}"


def join(terms: Sequence[str]) -> str:
    return " + ".join(term for term in terms if term).replace("+ -", "- ")


def scaled(path: ActuatorPath, gear: float) -> ActuatorPath:
    """A transmission behind a gear."""
    arms = {place: gear * arm for place, arm in path.arms.items()}
    return ActuatorPath(times(gear, path.length), times(gear, path.velocity), arms)


def affine_law(numbers: Sequence[Any], path: ActuatorPath) -> str:
    """a + b length + c velocity."""
    a, b, c = (float(x) for x in numbers[:3])
    terms = [repr(a)] if a or not (b or c) else []
    terms += [times(b, path.length)] if b else []
    terms += [times(c, path.velocity)] if c else []
    return join(terms)
