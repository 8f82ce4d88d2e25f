"""The shortcut methods of System as type checkers and editors see them: written by tools/write_stubs.py."""

from typing import Literal

from kinode.model.base.bodies import Body
from kinode.model.base.kinds import (
    AxesLike,
    AxisLike,
    ComplianceLike,
    CoordinateLawsLike,
    EndsLike,
    FileLike,
    FrameLike,
    FrictionLike,
    FunctionLike,
    InertiaLike,
    JointLike,
    LawLike,
    LawsLike,
    LimitsLike,
    MatrixLike,
    NamedLawsLike,
    NamedNumbersLike,
    NamedVariablesLike,
    NumberLike,
    NumbersLike,
    PlacesLike,
    PortLike,
    RotationLike,
    ShapeLike,
    TimeLike,
    TurnsLike,
    VectorLike,
    VisualsLike,
    WordsLike,
)
from kinode.model.constraints.angle import AngleConstraint
from kinode.model.constraints.distance import Distance
from kinode.model.constraints.gear_coupling import GearConstraint, RackConstraint
from kinode.model.constraints.knife_edge import KnifeEdge
from kinode.model.constraints.point_on_line import PointOnLine
from kinode.model.constraints.point_on_plane import PointOnPlane
from kinode.model.constraints.rolling import Rolling
from kinode.model.elements.applied_loads import Force, Moment
from kinode.model.elements.brakes import Brake, Clutch, SlideBrake
from kinode.model.elements.lugre import LuGre, SlideLuGre
from kinode.model.elements.spring import Spring
from kinode.model.environment.aerodynamics import Aerodynamic, Ballistic
from kinode.model.environment.earth import CentralGravity, EarthRotation
from kinode.model.environment.thrust import Thrust
from kinode.model.joints.cylindrical import Cylindrical
from kinode.model.joints.fixed import Fixed
from kinode.model.joints.free import Free
from kinode.model.joints.planar import Planar
from kinode.model.joints.prismatic import Prismatic
from kinode.model.joints.revolute import Revolute
from kinode.model.joints.screw import Screw
from kinode.model.joints.spherical import Spherical
from kinode.model.joints.universal import Universal
from kinode.model.network.backlash_gear import BacklashGear
from kinode.model.network.direction_ports import FrameLink, TurnLink
from kinode.model.network.electrical import (
    Battery,
    Bridge,
    Capacitor,
    CoupledInductors,
    CurrentSource,
    Inductor,
    Resistor,
    Transformer,
    VoltageSource,
)
from kinode.model.network.friction_parts import ShaftFriction, SlideFriction, WormGear
from kinode.model.network.motors import BrushlessMotor, DcMotor, InverterMotor
from kinode.model.network.rotational import (
    AngleSource,
    ElasticGearbox,
    Gearbox,
    MomentSource,
    ShaftDamper,
    ShaftInertia,
    ShaftLoss,
    ShaftSpring,
    SpeedSource,
)
from kinode.model.network.switches import Diode, Switch
from kinode.model.network.translational import (
    ForceSource,
    Lever,
    Pinion,
    PositionSource,
    SlideDamper,
    SlideLoss,
    SlideMass,
    SlideSpring,
    VelocitySource,
)
from kinode.model.signals.continuous import (
    DeadZone,
    Filter,
    Integrator,
    RateLimit,
    Saturation,
    Sensor,
)
from kinode.model.signals.fmu_parts import SampledFmu
from kinode.model.signals.linear_systems import StateSpace, TransferFunction
from kinode.model.signals.pid import PID
from kinode.model.signals.python_controller import Controller
from kinode.model.signals.relay import Relay
from kinode.model.signals.sampled_controllers import (
    SampledPID,
    SampledStateSpace,
    SampledTransferFunction,
)
from kinode.model.signals.sampling import SampleHold

class Shortcuts:
    def body(
        self,
        name: str,
        *,
        mass: NumberLike = 0.0,
        com: VectorLike = (0.0, 0.0, 0.0),
        inertia: InertiaLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        about: Literal["com", "origin"] = "com",
        shape: ShapeLike | None = None,
        frames: PlacesLike = (),
        meshes: VisualsLike = (),
        physical: bool = True,
    ) -> Body:
        """A rigid body; mass, center of mass and inertia, or a shape that gives them.

        Parameters
        ----------
        name : str
            Its name in the system.
        mass : number, kg, default 0
            Mass.
        com : 3 numbers, m, default (0, 0, 0)
            Center of mass, in the body's axes.
        inertia : numbers or mapping, default (0, 0, 0, 0, 0, 0)
            Inertia tensor: 3, 6 or 3x3 numbers, or {zz: J}.
        about : {'com', 'origin'}, default 'com'
            What the inertia is about.
        shape : shape or mapping, optional
            Box, cylinder, sphere, rod or mesh, with mass or density.
        frames : mapping of places, default ()
            Named frames.
        meshes : list, default ()
            Meshes and solids for drawing; never needed.
        physical : bool, default True
            Whether an inertia that no body can have is refused.

        Returns
        -------
        Body
            The body as the system holds it.
        """

    def drive(
        self,
        name: str,
        joint: JointLike,
        ratio: NumberLike,
        inertia: NumbersLike,
        *,
        mass: NumberLike = 0.0,
        on: FrameLike | None = None,
        com: VectorLike = (0.0, 0.0, 0.0),
        axis: AxisLike | None = None,
        offset: NumberLike = 0.0,
        meshes: VisualsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        limits: LimitsLike | None = None,
    ) -> Revolute:
        """A motor geared to a joint: its rotor is a body that turns ``ratio`` times as fast as the joint moves.

        Parameters
        ----------
        name : str
            Its name in the system.
        joint : joint
            The joint that it turns.
        ratio : number
            Angle of the rotor for a unit of the joint's coordinate.
        inertia : number or 2 numbers, kg*m^2
            Of the rotor about its axis, or [axial, transverse].
        mass : number, kg, default 0
            Of the rotor.
        on : frame, optional
            What carries the motor; the parent side of the joint if left out.
        com : 3 numbers, m, default (0, 0, 0)
            Center of mass of the rotor, in its own axes.
        axis : axis, optional
            Of the shaft, in these axes; that of the joint if left out.
        offset : number, default 0
            Angle of the rotor where the joint's coordinate is 0.
        meshes : list, optional
            Meshes and solids of the rotor, for drawing.
        effort : law for each freedom, N*m, optional
            Force or moment along the freedom, a law.
        damping : number for each freedom, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.

        Returns
        -------
        Revolute
            The joint as the system holds it.
        """

    def fixed(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
    ) -> Fixed:
        """Holds b rigidly to a.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, optional
            Initial coordinates, exact.
        u : number for each freedom, optional
            Initial speeds, exact.
        guess : number for each coordinate, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.

        Returns
        -------
        Fixed
            The joint as the system holds it.
        """

    def revolute(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        axis: AxisLike = "z",
    ) -> Revolute:
        """A hinge: b turns about the axis.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, rad, optional
            Initial coordinates, exact.
        u : number for each freedom, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, rad, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        axis : axis, default 'z'
            X, y, z, -x, -y, -z or three numbers, in the joint's axes.

        Returns
        -------
        Revolute
            The joint as the system holds it.
        """

    def prismatic(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        axis: AxisLike = "z",
    ) -> Prismatic:
        """A slide: b travels along the axis.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, m, optional
            Initial coordinates, exact.
        u : number for each freedom, m/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, m, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, m, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, m/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N/m, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, m, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*s/m, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        axis : axis, default 'z'
            X, y, z, -x, -y, -z or three numbers, in the joint's axes.

        Returns
        -------
        Prismatic
            The joint as the system holds it.
        """

    def cylindrical(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        axis: AxisLike = "z",
    ) -> Cylindrical:
        """b travels along the axis and turns about it.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, m, rad, optional
            Initial coordinates, exact.
        u : number for each freedom, m/s, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, m, rad, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, m, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, m/s, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N/m, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, m, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*s/m, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        axis : axis, default 'z'
            X, y, z, -x, -y, -z or three numbers, in the joint's axes.

        Returns
        -------
        Cylindrical
            The joint as the system holds it.
        """

    def screw(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        lead: NumberLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        axis: AxisLike = "z",
    ) -> Screw:
        """b turns about the axis and advances by ``lead`` for each turn.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        lead : number, m/rev
            Advance for one whole turn.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, rad, optional
            Initial coordinates, exact.
        u : number for each freedom, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, rad, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        axis : axis, default 'z'
            X, y, z, -x, -y, -z or three numbers, in the joint's axes.

        Returns
        -------
        Screw
            The joint as the system holds it.
        """

    def universal(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        axes: AxesLike = ("x", "y"),
    ) -> Universal:
        """b turns about axes[0], fixed in a, then about axes[1], fixed in b.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, rad, optional
            Initial coordinates, exact.
        u : number for each freedom, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, rad, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        axes : 2 axes, default ('x', 'y')
            The two axes, first in a, second in b.

        Returns
        -------
        Universal
            The joint as the system holds it.
        """

    def spherical(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
    ) -> Spherical:
        """A ball joint; q is a unit quaternion, u the angular velocity in b's axes.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, quaternion, optional
            Initial coordinates, exact.
        u : number for each freedom, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, quaternion, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.

        Returns
        -------
        Spherical
            The joint as the system holds it.
        """

    def planar(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        axis: AxisLike = "z",
    ) -> Planar:
        """b slides in the plane across the axis (x, y in a's axes) and turns about the axis.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, m, rad, optional
            Initial coordinates, exact.
        u : number for each freedom, m/s, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, m, rad, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, m, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, m/s, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N/m, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, m, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*s/m, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        axis : axis, default 'z'
            X, y, z, -x, -y, -z or three numbers, in the joint's axes.

        Returns
        -------
        Planar
            The joint as the system holds it.
        """

    def free(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        at: VectorLike = (0.0, 0.0, 0.0),
        q: NumbersLike | None = None,
        u: NumbersLike | None = None,
        guess: NumbersLike | None = None,
        motion: CoordinateLawsLike | None = None,
        speed: CoordinateLawsLike | None = None,
        effort: CoordinateLawsLike | None = None,
        stiffness: NumbersLike | None = None,
        neutral: NumbersLike | None = None,
        damping: NumbersLike | None = None,
        friction: FrictionLike | None = None,
        stop: EndsLike | None = None,
        backlash: EndsLike | None = None,
        limits: LimitsLike | None = None,
        compliance: ComplianceLike | None = None,
        position: VectorLike | None = None,
        rotation: RotationLike | None = None,
        velocity: VectorLike | None = None,
        angular_velocity: VectorLike | None = None,
        rpy: VectorLike | None = None,
        quaternion: NumbersLike | None = None,
        matrix: MatrixLike | None = None,
        turns: TurnsLike | None = None,
    ) -> Free:
        """No constraint; q is x, y, z in a's axes and a unit quaternion, u velocity and angular velocity in b's axes.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            Parent side: a body, a named frame or a place on a body.
        b : frame
            Child side.
        at : 3 numbers, m, default (0, 0, 0)
            The joint's point, the same in both bodies' axes.
        q : number for each coordinate, m and quaternion, optional
            Initial coordinates, exact.
        u : number for each freedom, m/s, rad/s, optional
            Initial speeds, exact.
        guess : number for each coordinate, m and quaternion, optional
            Where assembly starts to look for the coordinates.
        motion : law for each freedom, m, rad, optional
            Prescribed motion, a law of time.
        speed : law for each freedom, m/s, rad/s, optional
            Prescribed speed, a law of time.
        effort : law for each freedom, N, N*m, optional
            Force or moment along the freedom, a law.
        stiffness : number for each freedom, N/m, N*m/rad, optional
            Effort -stiffness (q - neutral).
        neutral : number for each freedom, m, rad, optional
            Coordinate at which the stiffness is relaxed.
        damping : number for each freedom, N*s/m, N*m*s/rad, optional
            Effort -damping u.
        friction : kn.coulomb(...), optional
            Coulomb friction, in proportion to the reaction.
        stop : mapping of numbers, optional
            End stops: lower, upper, and stiffness with damping, or restitution.
        backlash : mapping of numbers, optional
            Play about neutral, in all; stiffness with damping, or restitution.
        limits : 2 numbers, or mapping, optional
            Recorded travel, effort and speed limits; never a force.
        compliance : mapping of numbers, optional
            How far it gives, which shares reactions that are not unique; never a motion.
        position : 3 numbers, m, optional
            Initial position of b in a's axes.
        rotation : rotation, optional
            Initial rotation: {rpy: ...}, {quaternion: ...}, ....
        velocity : 3 numbers, m/s, optional
            Initial velocity of b in a's axes.
        angular_velocity : 3 numbers, rad/s, optional
            Initial angular velocity of b in a's axes.
        rpy : 3 numbers, rad, optional
            Initial rotation: about the fixed axes x, y, z.
        quaternion : numbers, optional
            Initial rotation: w, x, y, z.
        matrix : matrix, optional
            Initial rotation: rows of its matrix.
        turns : pairs of axis and law, optional
            Initial rotation: [axis, angle] in turn.

        Returns
        -------
        Free
            The joint as the system holds it.
        """

    def distance(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        distance: LawLike,
    ) -> Distance:
        """Two points keep a distance, as if a massless rod held them; the multiplier is its force, positive pushing.

        With a law of time it is an actuator of prescribed length.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            One point.
        b : frame
            The other point.
        distance : law, m
            Distance of the two points, or a law of time for it.

        Returns
        -------
        Distance
            The constraint as the system holds it.
        """

    def point_on_line(
        self,
        name: str,
        point: FrameLike,
        line: FrameLike,
        *,
        axis: AxisLike = "z",
    ) -> PointOnLine:
        """The origin of a frame stays on a line of another; turning is free.

        Parameters
        ----------
        name : str
            Its name in the system.
        point : frame
            The point.
        line : frame
            Frame through whose origin the line goes.
        axis : axis, default 'z'
            Direction of the line, in that frame's axes.

        Returns
        -------
        PointOnLine
            The constraint as the system holds it.
        """

    def point_on_plane(
        self,
        name: str,
        point: FrameLike,
        plane: FrameLike,
        *,
        normal: AxisLike = "z",
        height: LawLike = 0.0,
    ) -> PointOnPlane:
        """The origin of a frame stays in a plane of another, or at a height over it; turning is free.

        Parameters
        ----------
        name : str
            Its name in the system.
        point : frame
            The point.
        plane : frame
            Frame through whose origin the plane goes.
        normal : axis, default 'z'
            Normal of the plane, in that frame's axes.
        height : law, m, default 0
            Height of the point over the plane, along the normal, or a law of time.

        Returns
        -------
        PointOnPlane
            The constraint as the system holds it.
        """

    def angle(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        axes: AxesLike = ("z", "z"),
        angle: LawLike = 1.5707963267948966,
    ) -> AngleConstraint:
        """Directions of two frames keep an angle, neither parallel nor opposite; the multiplier is the moment.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            One frame.
        b : frame
            The other frame.
        axes : 2 axes, default ('z', 'z')
            The direction in each frame.
        angle : law, rad, default 1.5708
            Angle between the two directions, or a law of time for it.

        Returns
        -------
        AngleConstraint
            The constraint as the system holds it.
        """

    def rolling(
        self,
        name: str,
        wheel: FrameLike,
        radius: NumberLike,
        *,
        axis: AxisLike = "z",
        ground: FrameLike = ...,
        normal: AxisLike = "z",
        shape: Literal["disc", "ball"] = "disc",
    ) -> Rolling:
        """A thin disc or a ball rolls on a plane: it touches, and its lowest point does not slip.

        The disc may tilt but not lie flat, since then it would touch everywhere.

        Parameters
        ----------
        name : str
            Its name in the system.
        wheel : frame
            Frame at the center of the wheel.
        radius : number, m
            Radius of the wheel.
        axis : axis, default 'z'
            Axle of the wheel, in that frame's axes; a ball needs none.
        ground : frame, default world
            Frame through whose origin the plane goes.
        normal : axis, default 'z'
            Normal of the plane on the side of the wheel, in that frame's axes.
        shape : {'disc', 'ball'}, default 'disc'
            What rolls.

        Returns
        -------
        Rolling
            The constraint as the system holds it.
        """

    def knife_edge(
        self,
        name: str,
        blade: FrameLike,
        *,
        axis: AxisLike = "x",
        ground: FrameLike = ...,
        normal: AxisLike = "z",
    ) -> KnifeEdge:
        """A blade, skate or wheel of no size: its point moves along the blade, not across it in the plane.

        Parameters
        ----------
        name : str
            Its name in the system.
        blade : frame
            Frame at the point of contact.
        axis : axis, default 'x'
            Direction of the blade, in that frame's axes.
        ground : frame, default world
            What the blade moves on.
        normal : axis, default 'z'
            Normal of the plane, in the ground's axes.

        Returns
        -------
        KnifeEdge
            The constraint as the system holds it.
        """

    def gear(
        self,
        name: str,
        input: JointLike,
        output: JointLike,
        ratio: NumberLike,
        *,
        offset: NumberLike = 0.0,
        pressure_angle: NumberLike | None = None,
        helix_angle: NumberLike = 0.0,
        mesh_at: NumberLike = 0.0,
    ) -> GearConstraint:
        """input.q = ratio * output.q + offset, for two joints of one freedom; the input follows, unless it is driven.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : joint
            The joint that follows.
        output : joint
            The joint that leads.
        ratio : number
            Input.q for a unit of output.q.
        offset : number, default 0
            Input.q where output.q is 0.
        pressure_angle : number, rad, optional
            Of the teeth, in their normal section; without it tooth forces are left out of reactions.
        helix_angle : number, rad, default 0
            Of the teeth of the input, positive for a right-hand helix.
        mesh_at : number, m, default 0
            Middle of the teeth along the axis of the input, from its joint point on the carrier.

        Returns
        -------
        GearConstraint
            The constraint as the system holds it.
        """

    def rack(
        self,
        name: str,
        rack: JointLike,
        pinion: JointLike,
        radius: NumberLike,
        *,
        offset: NumberLike = 0.0,
        pressure_angle: NumberLike | None = None,
        helix_angle: NumberLike = 0.0,
        mesh_at: NumberLike = 0.0,
    ) -> RackConstraint:
        """rack.q = radius * pinion.q + offset, for a slide and a hinge; a negative radius turns the other way.

        Parameters
        ----------
        name : str
            Its name in the system.
        rack : joint
            The joint that travels.
        pinion : joint
            The joint that turns.
        radius : number, m
            Travel for a radian of the pinion: its pitch radius.
        offset : number, m, default 0
            Travel where the pinion's angle is 0.
        pressure_angle : number, rad, optional
            Of the teeth, in their normal section; without it tooth forces are left out of reactions.
        helix_angle : number, rad, default 0
            Of the teeth of the pinion, positive for a right-hand helix.
        mesh_at : number, m, default 0
            Middle of the teeth along the axis of the pinion, from its joint point on the carrier.

        Returns
        -------
        RackConstraint
            The constraint as the system holds it.
        """

    def spring(
        self,
        name: str,
        a: FrameLike,
        b: FrameLike,
        *,
        stiffness: NumberLike = 0.0,
        damping: NumberLike = 0.0,
        free_length: NumberLike = 0.0,
        tension: LawLike | None = None,
    ) -> Spring:
        """A spring and damper between two points; tension is positive when it pulls.

        tension = stiffness (length - free_length) + damping rate, or a law of the names ``length`` and ``rate``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : frame
            One end.
        b : frame
            The other end.
        stiffness : number, N/m, default 0
            Force for a unit of stretch.
        damping : number, N*s/m, default 0
            Force for a unit of rate.
        free_length : number, m, default 0
            Length without load.
        tension : law, N, optional
            Instead of stiffness, damping, free_length: a law of length and rate.

        Returns
        -------
        Spring
            The element as the system holds it.
        """

    def force(
        self,
        name: str,
        on: FrameLike,
        force: LawsLike,
        *,
        expressed_in: FrameLike | None = None,
        reaction_on: FrameLike | None = None,
    ) -> Force:
        """A force at a point, as laws; its reaction acts at the same point of space.

        Parameters
        ----------
        name : str
            Its name in the system.
        on : frame
            Body, or frame at whose origin it acts.
        force : 3 laws, N
            Three components.
        expressed_in : frame, optional
            Axes of the components: a body or frame; world if left out.
        reaction_on : frame, optional
            Body that takes the opposite load, at the same point.

        Returns
        -------
        Force
            The element as the system holds it.
        """

    def moment(
        self,
        name: str,
        on: FrameLike,
        moment: LawsLike,
        *,
        expressed_in: FrameLike | None = None,
        reaction_on: FrameLike | None = None,
    ) -> Moment:
        """A free moment on a body, as laws.

        Parameters
        ----------
        name : str
            Its name in the system.
        on : frame
            Body, or frame at whose origin it acts.
        moment : 3 laws, N*m
            Three components.
        expressed_in : frame, optional
            Axes of the components: a body or frame; world if left out.
        reaction_on : frame, optional
            Body that takes the opposite load, at the same point.

        Returns
        -------
        Moment
            The element as the system holds it.
        """

    def filter(
        self,
        name: str,
        input: LawLike,
        time_constant: NumberLike,
        *,
        initial: NumberLike | None = None,
        gain: NumberLike = 1.0,
    ) -> Filter:
        """A lag of first order: time_constant d(output)/dt + output = gain input.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        time_constant : number, s
            Time in which a step is followed to 63 %.
        initial : number, optional
            Output at the start; where it settles if left out.
        gain : number, default 1
            Output for a unit of a constant input.

        Returns
        -------
        Filter
            The element as the system holds it.
        """

    def rate_limit(
        self,
        name: str,
        input: LawLike,
        rise: NumberLike,
        time_constant: NumberLike,
        *,
        initial: NumberLike | None = None,
        fall: NumberLike | None = None,
    ) -> RateLimit:
        """A signal that changes no faster than it may.

        The output tracks the input as a lag of a (short) time constant does, its rate kept within -fall and rise:

            d(output)/dt = (input - output) / time_constant, kept between -fall and rise

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        rise : number
            Largest rate of growth, in a second.
        time_constant : number, s
            Lag with which an input that is slow enough is followed.
        initial : number, optional
            Output at the start; where it settles if left out.
        fall : number, optional
            Largest rate of decrease, a positive number; as rise if left out.

        Returns
        -------
        RateLimit
            The element as the system holds it.
        """

    def integrator(
        self,
        name: str,
        input: LawLike,
        *,
        gain: NumberLike = 1.0,
        initial: NumberLike = 0.0,
        limits: VectorLike | None = None,
    ) -> Integrator:
        """The integral of a signal; at limits it stays, and leaves them as soon as the input leads back.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that is integrated.
        gain : number, default 1
            Growth of the output, in a second, for a unit of input.
        initial : number, default 0
            Output at the start.
        limits : 2 numbers, optional
            [low, high] of the output.

        Returns
        -------
        Integrator
            The element as the system holds it.
        """

    def saturation(
        self,
        name: str,
        input: LawLike,
        limits: VectorLike,
        *,
        smoothing: NumberLike | None = None,
    ) -> Saturation:
        """A signal kept within limits, with corners or, by ``smoothing``, rounded ones.

        Rounded: low + s(input - low) - s(input - high) with s(x) = (x + root(x^2 + smoothing^2))/2.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        limits : 2 numbers
            [low, high] of the output.
        smoothing : number, optional
            Width over which a corner is rounded; none if left out.

        Returns
        -------
        Saturation
            The element as the system holds it.
        """

    def dead_zone(
        self,
        name: str,
        input: LawLike,
        zone: VectorLike,
    ) -> DeadZone:
        """A signal without what lies within a zone: zero inside, and beyond it the distance from the zone.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        zone : 2 numbers
            [low, high] between which the output is zero.

        Returns
        -------
        DeadZone
            The element as the system holds it.
        """

    def sensor(
        self,
        name: str,
        measures: LawLike,
        *,
        gain: NumberLike = 1.0,
        offset: NumberLike = 0.0,
        lag: NumberLike | None = None,
    ) -> Sensor:
        """What an instrument shows: gain measures + offset, behind a lag where it has one.

        Parameters
        ----------
        name : str
            Its name in the system.
        measures : law
            The quantity that is measured, or a law of several.
        gain : number, default 1
            What is shown for a unit.
        offset : number, default 0
            What is shown for nothing.
        lag : number, s, optional
            Time in which a step is followed to 63 %; none if left out.

        Returns
        -------
        Sensor
            The element as the system holds it.
        """

    def transfer_function(
        self,
        name: str,
        input: LawLike,
        numerator: NumbersLike,
        denominator: NumbersLike,
        *,
        initial: NumberLike = 0.0,
    ) -> TransferFunction:
        """A linear system by its transfer function, coefficients of powers of s.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        numerator : numbers
            Coefficients of the powers, the highest first.
        denominator : numbers
            Coefficients of the powers, the highest first.
        initial : number, default 0
            Steady output at the start.

        Returns
        -------
        TransferFunction
            The element as the system holds it.
        """

    def state_space(
        self,
        name: str,
        inputs: CoordinateLawsLike,
        A: MatrixLike,
        B: MatrixLike,
        C: MatrixLike,
        *,
        D: MatrixLike | None = None,
        outputs: WordsLike | None = None,
        initial: NumbersLike | None = None,
    ) -> StateSpace:
        """A linear system by its matrices: x' = A x + B inputs, outputs = C x + D inputs.

        Parameters
        ----------
        name : str
            Its name in the system.
        inputs : law or laws
            The signals that go in, one law for each column of B.
        A : matrix
            From the states to their rates, or to the next states.
        B : matrix
            From the inputs to these.
        C : matrix
            From the states to the outputs.
        D : matrix, optional
            From the inputs to the outputs; none if left out.
        outputs : names, optional
            Names of several outputs; y1, y2, ... if left out.
        initial : numbers, optional
            States at the start; 0 if left out.

        Returns
        -------
        StateSpace
            The element as the system holds it.
        """

    def sample_hold(
        self,
        name: str,
        input: LawLike,
        period: TimeLike,
        *,
        phase: TimeLike = ...,
        delay: int = 0,
        resolution: NumberLike | None = None,
        before: NumberLike = 0.0,
        limits: VectorLike | None = None,
        noise: NumberLike | None = None,
        seed: int = 0,
    ) -> SampleHold:
        """A signal sampled and held: a converter, a digital instrument, a delay of whole samples.

        What is taken in is kept within ``limits``, after noise of a standard deviation is added, and before it is rounded.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that is sampled.
        period : time or rate
            Time between samples, 1 ms, or their rate, 1 kHz.
        phase : time, default 0
            Time of the first sample; 0 if left out.
        delay : int, default 0
            Whole samples after which the output comes.
        resolution : number, optional
            Step to which the output is rounded; not at all if left out.
        before : number, default 0
            Output before the first sample, or before its delay is over.
        limits : 2 numbers, optional
            [low, high] of what can be taken in.
        noise : number, optional
            Standard deviation of normal noise, drawn anew at each sample.
        seed : int, default 0
            Chooses the noise, together with the name of the part.

        Returns
        -------
        SampleHold
            The element as the system holds it.
        """

    def controller(
        self,
        name: str,
        function: FunctionLike,
        inputs: NamedLawsLike,
        period: TimeLike,
        *,
        phase: TimeLike = ...,
        delay: int = 0,
        resolution: NumberLike | None = None,
        before: NumberLike = 0.0,
        outputs: WordsLike | None = None,
        remembers: NamedNumbersLike = (),
    ) -> Controller:
        """A Python function of sampled signals, called once at each tick of a clock.

        Parameters
        ----------
        name : str
            Its name in the system.
        function : function
            F(t, **signals): a number, or {name: number}; only in Python.
        inputs : mapping of laws
            Signals that are sampled, {name: law}: arguments of the function.
        period : time or rate
            Time between samples, 1 ms, or their rate, 1 kHz.
        phase : time, default 0
            Time of the first sample; 0 if left out.
        delay : int, default 0
            Whole samples after which the output comes.
        resolution : number, optional
            Step to which the output is rounded; not at all if left out.
        before : number, default 0
            Output before the first sample, or before its delay is over.
        outputs : names, optional
            Names of several outputs; one alone is called output.
        remembers : mapping of numbers, default ()
            {name: value at the start}: what the function gets and gives anew.

        Returns
        -------
        Controller
            The element as the system holds it.
        """

    def fmu(
        self,
        name: str,
        file: FileLike,
        period: TimeLike | None = None,
        *,
        phase: TimeLike = ...,
        delay: int = 0,
        resolution: NumberLike | None = None,
        before: NumberLike = 0.0,
        inputs: NamedLawsLike = (),
        outputs: NamedVariablesLike | None = None,
        parameters: NamedNumbersLike = (),
        interface: Literal["co_simulation", "model_exchange"] | None = None,
        events: bool | None = None,
    ) -> SampledFmu:
        """An FMU: sampled at each tick of a clock, or, for Model Exchange without a period, with states of the system.

        Parameters
        ----------
        name : str
            Its name in the system.
        file : path
            The FMU, a path; it is code, and runs.
        period : time or rate, optional
            Time between samples, 1 ms, or their rate, 1 kHz; without it its states are states of the system.
        phase : time, default 0
            Time of the first sample; 0 if left out.
        delay : int, default 0
            Whole samples after which the output comes.
        resolution : number, optional
            Step to which the output is rounded; not at all if left out.
        before : number, default 0
            Output before the first sample, or before its delay is over.
        inputs : mapping of laws, default ()
            {its input: law}; those left out keep the FMU's own values.
        outputs : names, optional
            Its outputs, by name or {name here: variable}; all if left out.
        parameters : mapping of numbers, default ()
            {its parameter: value}, set before it is initialized.
        interface : {'co_simulation', 'model_exchange'}, optional
            Which of its kinds; with a period that with its own solver if it has one.
        events : bool, optional
            Whether it may have events, without a period; found out if left out.

        Returns
        -------
        SampledFmu
            The element as the system holds it.
        """

    def brake(
        self,
        name: str,
        joint: JointLike,
        capacity: NumberLike,
        *,
        command: LawLike = 1.0,
        static_ratio: NumberLike = 1.0,
    ) -> Brake:
        """A brake in a joint that turns.

        Parameters
        ----------
        name : str
            Its name in the system.
        joint : joint
            The joint that it brakes.
        capacity : number, N*m
            What it slides with when it is fully applied.
        command : law, default 1
            How much of the capacity is applied, a law: 0 releases.
        static_ratio : number, default 1
            What it holds with at rest, in parts of the capacity.

        Returns
        -------
        Brake
            The element as the system holds it.
        """

    def slide_brake(
        self,
        name: str,
        joint: JointLike,
        capacity: NumberLike,
        *,
        command: LawLike = 1.0,
        static_ratio: NumberLike = 1.0,
    ) -> SlideBrake:
        """A brake in a joint that slides.

        Parameters
        ----------
        name : str
            Its name in the system.
        joint : joint
            The joint that it brakes.
        capacity : number, N
            What it slides with when it is fully applied.
        command : law, default 1
            How much of the capacity is applied, a law: 0 releases.
        static_ratio : number, default 1
            What it holds with at rest, in parts of the capacity.

        Returns
        -------
        SlideBrake
            The element as the system holds it.
        """

    def clutch(
        self,
        name: str,
        first: JointLike,
        second: JointLike,
        capacity: NumberLike,
        *,
        command: LawLike = 1.0,
        static_ratio: NumberLike = 1.0,
        ratio: NumberLike = 1.0,
    ) -> Clutch:
        """A clutch between two joints: the speed of the first is brought to ratio times that of the second.

        Parameters
        ----------
        name : str
            Its name in the system.
        first : joint
            One joint.
        second : joint
            The other.
        capacity : number, N*m
            What it slides with when it is fully applied.
        command : law, default 1
            How much of the capacity is applied, a law: 0 releases.
        static_ratio : number, default 1
            What it holds with at rest, in parts of the capacity.
        ratio : number, default 1
            Speed of the first for a unit of the second once it holds.

        Returns
        -------
        Clutch
            The element as the system holds it.
        """

    def lugre(
        self,
        name: str,
        joint: JointLike,
        sliding: NumberLike,
        static: NumberLike,
        stribeck_speed: NumberLike,
        stiffness: NumberLike,
        *,
        damping: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
    ) -> LuGre:
        """LuGre friction in a joint that turns.

        Parameters
        ----------
        name : str
            Its name in the system.
        joint : joint
            The joint that it acts in.
        sliding : number, N*m
            Friction while it slides.
        static : number, N*m
            Friction where it begins to slide.
        stribeck_speed : number, rad/s
            Speed within which one fades to the other.
        stiffness : number, N*m/rad
            Of the bristles.
        damping : number, N*m*s/rad, default 0
            Of the bristles.
        viscous : number, N*m*s/rad, default 0
            Moment for a unit of speed.

        Returns
        -------
        LuGre
            The element as the system holds it.
        """

    def slide_lugre(
        self,
        name: str,
        joint: JointLike,
        sliding: NumberLike,
        static: NumberLike,
        stribeck_speed: NumberLike,
        stiffness: NumberLike,
        *,
        damping: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
    ) -> SlideLuGre:
        """LuGre friction in a joint that slides.

        Parameters
        ----------
        name : str
            Its name in the system.
        joint : joint
            The joint that it acts in.
        sliding : number, N
            Friction while it slides.
        static : number, N
            Friction where it begins to slide.
        stribeck_speed : number, m/s
            Speed within which one fades to the other.
        stiffness : number, N/m
            Of the bristles.
        damping : number, N*s/m, default 0
            Of the bristles.
        viscous : number, N*s/m, default 0
            Force for a unit of speed.

        Returns
        -------
        SlideLuGre
            The element as the system holds it.
        """

    def central_gravity(
        self,
        name: str,
        *,
        center: FrameLike = ...,
        mu: NumberLike = 398600441800000.0,
    ) -> CentralGravity:
        """The pull of a sphere on every body, with the moment by which it turns long bodies upright.

        With r from the center to a mass center, n = r / |r|, m and J mass and inertia about the mass center, to the second
        order in size over distance (MacCullagh):

            potential = -mu m / r - mu (tr J - 3 n.J n) / (2 r^3)
            force     = -mu m n / r^2 - 3 mu ((tr J - 5 n.J n) n + 2 J n) / (2 r^4)
            moment    = 3 mu n x J n / r^3

        Parameters
        ----------
        name : str
            Its name in the system.
        center : frame, default world
            Center of the sphere.
        mu : number, default 3.986e+14
            Gravitational constant times mass, m^3/s^2; the earth's if left out.

        Returns
        -------
        CentralGravity
            The element as the system holds it.
        """

    def earth_rotation(
        self,
        name: str,
        latitude: NumberLike,
        *,
        north: Literal["x", "y", "z", "-x", "-y", "-z"] = "x",
        up: Literal["x", "y", "z", "-x", "-y", "-z"] = "z",
        through: FrameLike = ...,
        rate: NumberLike = 7.292115e-05,
    ) -> EarthRotation:
        """The world turns evenly about an axis: what is at rest in it feels the earth's rotation.

        The world's axes stay those of a place on the earth, at a latitude, and with Omega their angular velocity every body
        feels what inertia asks for beyond its motion relative to them.  With r from a point of the axis to its mass center,
        v the velocity of that and w its angular velocity:

            force     = -m (2 Omega x v + Omega x (Omega x r))
            moment    = -(w x J Omega - J (w x Omega) + Omega x J w + Omega x J Omega)
            potential = -1/2 m |Omega x r|^2 - 1/2 Omega.J Omega

        The axis goes through the world's origin, so that nothing is added to the gravity there: the system's ``gravity`` is
        what a plumb line shows.  With central gravity, which is the pull alone, let it go through the center.

        Parameters
        ----------
        name : str
            Its name in the system.
        latitude : number, rad
            Latitude of the world's origin, north positive.
        north : {'x', 'y', 'z', '-x', '-y', '-z'}, default 'x'
            Axis of the world that points north.
        up : {'x', 'y', 'z', '-x', '-y', '-z'}, default 'z'
            Axis of the world that points up.
        through : frame, default world
            A point of the axis, in the world.
        rate : number, rad/s, default 7.29211e-05
            Rate of turning; the earth's if left out.

        Returns
        -------
        EarthRotation
            The element as the system holds it.
        """

    def resistor(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        resistance: LawLike,
        heat: PortLike | None = None,
    ) -> Resistor:
        """Ohm's resistor; a law makes it a switch, a potentiometer or a hot wire.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        resistance : law, Ohm
            Voltage for a unit of current, or a law.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        Resistor
            The element as the system holds it.
        """

    def capacitor(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        capacitance: NumberLike,
        initial_voltage: NumberLike | None = None,
    ) -> Capacitor:
        """A capacitor; its voltage is a state.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        capacitance : number, F
            Charge for a unit of voltage.
        initial_voltage : number, V, optional
            Voltage at the start.

        Returns
        -------
        Capacitor
            The element as the system holds it.
        """

    def inductor(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        inductance: NumberLike,
        initial_current: NumberLike | None = None,
    ) -> Inductor:
        """A coil; its current is a state.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        inductance : number, H
            Voltage for a unit of current a second.
        initial_current : number, A, optional
            Current at the start.

        Returns
        -------
        Inductor
            The element as the system holds it.
        """

    def voltage_source(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        voltage: LawLike,
    ) -> VoltageSource:
        """Holds a voltage, whatever current it takes; ``current`` is what it delivers.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        voltage : law, V
            Of plus over minus: a number or a law.

        Returns
        -------
        VoltageSource
            The element as the system holds it.
        """

    def current_source(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        current: LawLike,
    ) -> CurrentSource:
        """Delivers a current at plus, whatever voltage it takes.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        current : law, A
            Out of plus: a number or a law.

        Returns
        -------
        CurrentSource
            The element as the system holds it.
        """

    def battery(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        voltage: LawLike,
        resistance: NumberLike,
        initial_drawn: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> Battery:
        """A voltage behind an inner resistance; ``drawn`` counts the charge that it has delivered.

        Its voltage may be a law of it: ``voltage="12.6 - 0.4*pack.drawn/3600"``, in V and C.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        voltage : law, V
            Without load: a number or a law.
        resistance : number, Ohm
            Inner resistance.
        initial_drawn : number, C, optional
            Charge drawn before the start.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        Battery
            The element as the system holds it.
        """

    def transformer(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        second_plus: PortLike,
        second_minus: PortLike,
        *,
        ratio: NumberLike,
    ) -> Transformer:
        """An ideal transformer: voltages as the turns, currents the other way, nothing lost; direct current passes too.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        second_plus : node
            Node at the positive end of the second side.
        second_minus : node
            Node at its negative end.
        ratio : number
            Turns of the first winding for one of the second.

        Returns
        -------
        Transformer
            The element as the system holds it.
        """

    def bridge(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        second_plus: PortLike,
        second_minus: PortLike,
        *,
        modulation: LawLike,
    ) -> Bridge:
        """An ideal bridge of switches between a bus and a load: it passes on a share of the voltage, all of the power.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        second_plus : node
            Node at the positive end of the second side.
        second_minus : node
            Node at its negative end.
        modulation : law
            Voltage of the second side for that of the first: -1 to 1, or a law.

        Returns
        -------
        Bridge
            The element as the system holds it.
        """

    def coupled_inductors(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        second_plus: PortLike,
        second_minus: PortLike,
        *,
        inductance: NumberLike,
        second_inductance: NumberLike,
        coupling: NumberLike,
        initial_current: NumberLike | None = None,
        initial_second_current: NumberLike | None = None,
    ) -> CoupledInductors:
        """Two coils that share ``coupling`` of their flux: a transformer that has to be magnetized.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        second_plus : node
            Node at the positive end of the second side.
        second_minus : node
            Node at its negative end.
        inductance : number, H
            Of the first coil by itself.
        second_inductance : number, H
            Of the second coil by itself.
        coupling : number
            Share of the flux in common: between -1 and 1.
        initial_current : number, A, optional
            In the first coil at the start.
        initial_second_current : number, A, optional
            In the second coil at the start.

        Returns
        -------
        CoupledInductors
            The element as the system holds it.
        """

    def aerodynamic(
        self,
        name: str,
        on: FrameLike,
        area: NumberLike,
        length: NumberLike,
        *,
        expressed_in: FrameLike | None = None,
        wind: LawsLike = (0.0, 0.0, 0.0),
        density: LawLike | None = None,
        sound_speed: LawLike | None = None,
        altitude: LawLike | None = None,
        force_coefficients: LawsLike = (0.0, 0.0, 0.0),
        moment_coefficients: LawsLike = (0.0, 0.0, 0.0),
    ) -> Aerodynamic:
        """Air on any body, by six coefficients along the axes.

        force = dynamic_pressure area C_F,  moment = dynamic_pressure area length C_M.

        Parameters
        ----------
        name : str
            Its name in the system.
        on : frame
            Body, or frame whose origin is the reference point.
        area : number, m^2
            Reference area.
        length : number, m
            Reference length.
        expressed_in : frame, optional
            Axes of coefficients and angles, x ahead; those of `on` if left out.
        wind : 3 laws, m/s, default (0, 0, 0)
            Velocity of the air, in world axes; laws may use altitude.
        density : law, kg/m^3, optional
            Density of the air, a law of altitude; standard if left out.
        sound_speed : law, m/s, optional
            Speed of sound, a law of altitude; standard if left out.
        altitude : law, m, optional
            Altitude; if left out, height over the world's origin, against gravity.
        force_coefficients : 3 laws, default (0, 0, 0)
            Of the force along x, y, z.
        moment_coefficients : 3 laws, default (0, 0, 0)
            Of the moment about x, y, z.

        Returns
        -------
        Aerodynamic
            The element as the system holds it.
        """

    def ballistic(
        self,
        name: str,
        on: FrameLike,
        area: NumberLike,
        length: NumberLike,
        *,
        expressed_in: FrameLike | None = None,
        wind: LawsLike = (0.0, 0.0, 0.0),
        density: LawLike | None = None,
        sound_speed: LawLike | None = None,
        altitude: LawLike | None = None,
        drag: LawLike = 0.0,
        lift: LawLike = 0.0,
        magnus_force: LawLike = 0.0,
        roll_damping: LawLike = 0.0,
        overturning: LawLike = 0.0,
        pitch_damping: LawLike = 0.0,
        magnus_moment: LawLike = 0.0,
    ) -> Ballistic:
        """Air on a body of revolution, as exterior ballistics has it (McCoy, Modern Exterior Ballistics, chapter 2).

        With x along the axis of revolution, i = v / V, S and d the reference area and diameter, p the spin and
        Q = 1/2 density V^2 S:

            force  = -Q C_D i + Q C_La i x (x x i) + Q (p d / V) C_Npa i x x
            moment = Q d (p d / V) C_lp x + Q d C_Ma i x x + Q d (d / V) C_Mq x x x_dot + Q d (p d / V) C_Mpa x x (i x x)

        in this order: drag, lift, magnus_force; roll_damping, overturning, pitch_damping (C_Mq + C_Ma_dot), magnus_moment.
        Written below with v = V i, which needs no division and holds in still air too.

        Parameters
        ----------
        name : str
            Its name in the system.
        on : frame
            Body, or frame whose origin is the reference point.
        area : number, m^2
            Reference area.
        length : number, m
            Reference length.
        expressed_in : frame, optional
            Axes of coefficients and angles, x ahead; those of `on` if left out.
        wind : 3 laws, m/s, default (0, 0, 0)
            Velocity of the air, in world axes; laws may use altitude.
        density : law, kg/m^3, optional
            Density of the air, a law of altitude; standard if left out.
        sound_speed : law, m/s, optional
            Speed of sound, a law of altitude; standard if left out.
        altitude : law, m, optional
            Altitude; if left out, height over the world's origin, against gravity.
        drag : law, default 0
            C_D, against the flow.
        lift : law, default 0
            C_La, across the flow, for a unit of sin(incidence).
        magnus_force : law, default 0
            C_Npa, for a unit of roll_ratio and sin(incidence).
        roll_damping : law, default 0
            C_lp, for a unit of roll_ratio.
        overturning : law, default 0
            C_Ma, for a unit of sin(incidence).
        pitch_damping : law, default 0
            C_Mq + C_Ma_dot, for a unit of rate times length over airspeed.
        magnus_moment : law, default 0
            C_Mpa, for a unit of roll_ratio and sin(incidence).

        Returns
        -------
        Ballistic
            The element as the system holds it.
        """

    def thrust(
        self,
        name: str,
        on: FrameLike,
        thrust: LawLike,
        *,
        axis: Literal["x", "y", "z", "-x", "-y", "-z"] = "x",
    ) -> Thrust:
        """A push along an axis of the frame that it acts at, as a law, such as a table of time.

        The mass of the body stays what it is: burnt propellant is not taken off.

        Parameters
        ----------
        name : str
            Its name in the system.
        on : frame
            Body, or frame at whose origin it acts.
        thrust : law, N
            Push along the axis.
        axis : {'x', 'y', 'z', '-x', '-y', '-z'}, default 'x'
            Direction of the push, of the axes of the frame.

        Returns
        -------
        Thrust
            The element as the system holds it.
        """

    def frame_link(
        self,
        name: str,
        node: PortLike,
        *,
        on: FrameLike,
        along: AxisLike = "x",
        offset: NumberLike = 0.0,
    ) -> FrameLink:
        """One direction of a point of a body as a node: ``force`` is what acts on the body along it.

        Parameters
        ----------
        name : str
            Its name in the system.
        node : node
            Node that moves as the point does along the direction.
        on : frame
            Body, or frame with a name, whose origin moves.
        along : axis, default 'x'
            Direction in the world: x, y, z, -x, -y, -z or three numbers.
        offset : number, m, default 0
            Position of the node where that of the point is 0.

        Returns
        -------
        FrameLink
            The element as the system holds it.
        """

    def turn_link(
        self,
        name: str,
        node: PortLike,
        *,
        on: FrameLike,
        along: AxisLike = "x",
        initial_angle: NumberLike | None = None,
    ) -> TurnLink:
        """The turning of a body about one direction as a node: ``moment`` is what acts on the body about it.

        Parameters
        ----------
        name : str
            Its name in the system.
        node : node
            Node that turns as the body does about the direction.
        on : frame
            Body, or frame on it, that turns.
        along : axis, default 'x'
            Direction in the world: x, y, z, -x, -y, -z or three numbers.
        initial_angle : number, rad, optional
            Angle of the node at the start.

        Returns
        -------
        TurnLink
            The element as the system holds it.
        """

    def shaft_inertia(
        self,
        name: str,
        shaft: PortLike,
        *,
        inertia: NumberLike,
        initial_angle: NumberLike | None = None,
        initial_speed: NumberLike | None = None,
    ) -> ShaftInertia:
        """A wheel or rotor on a shaft.

        Parameters
        ----------
        name : str
            Its name in the system.
        shaft : node
            Shaft, or joint that turns.
        inertia : number, kg*m^2
            Moment for a unit of angular acceleration.
        initial_angle : number, rad, optional
            Angle of the shaft at the start.
        initial_speed : number, rad/s, optional
            Speed of the shaft at the start.

        Returns
        -------
        ShaftInertia
            The element as the system holds it.
        """

    def shaft_spring(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        stiffness: NumberLike,
        damping: NumberLike = 0.0,
        free_angle: NumberLike = 0.0,
        initial_angle: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> ShaftSpring:
        """A torsion spring, with damping beside it where it is given.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        stiffness : number, N*m/rad
            Moment for a unit of angle.
        damping : number, N*m*s/rad, default 0
            Moment for a unit of speed.
        free_angle : number, rad, default 0
            Angle without load.
        initial_angle : number, rad, optional
            Angle at the start, of a over b.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        ShaftSpring
            The element as the system holds it.
        """

    def shaft_damper(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        damping: NumberLike,
        heat: PortLike | None = None,
    ) -> ShaftDamper:
        """A moment in proportion to the speed.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        damping : number, N*m*s/rad
            Moment for a unit of speed.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        ShaftDamper
            The element as the system holds it.
        """

    def shaft_loss(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        heat: PortLike | None = None,
    ) -> ShaftLoss:
        """Losses of a bearing: a moment in proportion to the speed, and one against it, which fades below ``slip``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        viscous : number, N*m*s/rad, default 0
            Moment for a unit of speed.
        coulomb : number, N*m, default 0
            Moment at any speed.
        slip : number, rad/s, default 0.01
            Speed below which the latter fades.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        ShaftLoss
            The element as the system holds it.
        """

    def gearbox(
        self,
        name: str,
        input: PortLike,
        output: PortLike,
        housing: PortLike = "world",
        *,
        ratio: NumberLike,
        offset: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        heat: PortLike | None = None,
    ) -> Gearbox:
        """A rigid gear; with a housing that turns, a planetary one.  Its losses depend on speed alone.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : node
            Shaft on the side of the motor.
        output : node
            Shaft on the side of the load.
        housing : node, default 'world'
            What holds the gear.
        ratio : number
            Turns of the input for one of the output, seen from the housing.
        offset : number, rad, default 0
            Angle of the input where that of the output is 0.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of input speed.
        coulomb : number, N*m, default 0
            Drag at any input speed.
        slip : number, rad/s, default 0.01
            Input speed below which coulomb fades.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        Gearbox
            The element as the system holds it.
        """

    def elastic_gearbox(
        self,
        name: str,
        input: PortLike,
        output: PortLike,
        housing: PortLike = "world",
        *,
        ratio: NumberLike,
        offset: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        stiffness: NumberLike,
        damping: NumberLike = 0.0,
        efficiency: NumberLike = 1.0,
        initial_twist: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> ElasticGearbox:
        """A gear that gives by ``twist``, seen at its output, and rubs in proportion to what it transmits.

        Driven from the input it loses the share 1 - efficiency; the same friction acts when it is driven back, so that
        2 - 1/efficiency of the power arrives then, and none below an efficiency of 1/2: the gear locks.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : node
            Shaft on the side of the motor.
        output : node
            Shaft on the side of the load.
        housing : node, default 'world'
            What holds the gear.
        ratio : number
            Turns of the input for one of the output, seen from the housing.
        offset : number, rad, default 0
            Angle of the input where that of the output is 0.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of input speed.
        coulomb : number, N*m, default 0
            Drag at any input speed.
        slip : number, rad/s, default 0.01
            Input speed below which coulomb fades.
        stiffness : number, N*m/rad
            Moment at the output for a unit of twist.
        damping : number, N*m*s/rad, default 0
            Moment at the output for a unit of twist a second.
        efficiency : number, default 1
            Share of the power that reaches the output.
        initial_twist : number, rad, optional
            Twist at the start; none where nothing decides it.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        ElasticGearbox
            The element as the system holds it.
        """

    def speed_source(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        speed: LawLike,
        initial_angle: NumberLike | None = None,
    ) -> SpeedSource:
        """Holds a speed, whatever moment it takes; ``moment`` is what it delivers.  On a joint it is its ``speed=``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        speed : law, rad/s
            Of a over b: a number or a law.
        initial_angle : number, rad, optional
            Angle at the start, of a over b.

        Returns
        -------
        SpeedSource
            The element as the system holds it.
        """

    def angle_source(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        angle: LawLike,
    ) -> AngleSource:
        """Holds an angle, whatever moment it takes; ``moment`` is what it delivers.  On a joint it is its ``motion=``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        angle : law, rad
            Of a over b: a number or a law.

        Returns
        -------
        AngleSource
            The element as the system holds it.
        """

    def moment_source(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        moment: LawLike,
    ) -> MomentSource:
        """Delivers a moment at a, whatever speed it takes.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        moment : law, N*m
            On a, against b: a number or a law.

        Returns
        -------
        MomentSource
            The element as the system holds it.
        """

    def backlash_gear(
        self,
        name: str,
        input: PortLike,
        output: PortLike,
        housing: PortLike = "world",
        *,
        ratio: NumberLike,
        offset: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        play: NumberLike,
        stiffness: NumberLike,
        damping: NumberLike = 0.0,
        initial_twist: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> BacklashGear:
        """A gear with play between its flanks.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : node
            Shaft on the side of the motor.
        output : node
            Shaft on the side of the load.
        housing : node, default 'world'
            What holds the gear.
        ratio : number
            Turns of the input for one of the output, seen from the housing.
        offset : number, rad, default 0
            Angle of the input where that of the output is 0.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of input speed.
        coulomb : number, N*m, default 0
            Drag at any input speed.
        slip : number, rad/s, default 0.01
            Input speed below which coulomb fades.
        play : number, rad
            How far the output moves freely, in all.
        stiffness : number, N*m/rad
            Moment at the output for a unit of depth.
        damping : number, N*m*s/rad, default 0
            Moment at the output for a unit of depth a second.
        initial_twist : number, rad, optional
            Twist at the start; none where nothing decides it.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        BacklashGear
            The element as the system holds it.
        """

    def dc_motor(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        shaft: PortLike,
        *,
        inertia: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        resistance: LawLike,
        constant: NumberLike | None = None,
        inductance: NumberLike = 0.0,
        initial_current: NumberLike | None = None,
        torque_constant: NumberLike | None = None,
        back_emf_constant: NumberLike | None = None,
        speed_constant: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> DcMotor:
        """A motor with brushes: resistance, inductance, and one constant for its moment and its back EMF.

        In SI units N*m/A and V*s/rad are the same number, else the motor would make or lose power by turning.  It may be
        given as ``torque_constant``, ``back_emf_constant``, or ``speed_constant``, which is its inverse: "120 rpm/V".

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        shaft : node
            Shaft, or joint that turns.
        inertia : number, kg*m^2, default 0
            Of the rotor.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of speed.
        coulomb : number, N*m, default 0
            Drag at any speed.
        slip : number, rad/s, default 0.01
            Speed below which the latter fades.
        resistance : law, Ohm
            Of the winding: a number, or a law of its temperature.
        constant : number, N*m/A, optional
            Moment for a unit of current, and voltage for a unit of speed.
        inductance : number, H, default 0
            Of the winding; 0: the current follows at once.
        initial_current : number, A, optional
            Current at the start.
        torque_constant : number, N*m/A, optional
            The same as constant.
        back_emf_constant : number, N*m/A, optional
            The same as constant.
        speed_constant : number, rad/s/V, optional
            The inverse of constant.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        DcMotor
            The element as the system holds it.
        """

    def brushless_motor(
        self,
        name: str,
        shaft: PortLike,
        *,
        inertia: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        resistance: LawLike,
        inductance_d: NumberLike | None = None,
        inductance_q: NumberLike | None = None,
        flux: NumberLike,
        pole_pairs: NumberLike,
        scaling: NumberLike = 1.5,
        initial_current_d: NumberLike | None = None,
        initial_current_q: NumberLike | None = None,
        voltage_d: LawLike = 0.0,
        voltage_q: LawLike,
        inductance: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> BrushlessMotor:
        """A brushless motor whose voltages along and across its magnets are given, as by an ideal amplifier.

        Parameters
        ----------
        name : str
            Its name in the system.
        shaft : node
            Shaft, or joint that turns.
        inertia : number, kg*m^2, default 0
            Of the rotor.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of speed.
        coulomb : number, N*m, default 0
            Drag at any speed.
        slip : number, rad/s, default 0.01
            Speed below which the latter fades.
        resistance : law, Ohm
            Of a phase: a number, or a law of its temperature.
        inductance_d : number, H, optional
            Along the magnets.
        inductance_q : number, H, optional
            Across the magnets.
        flux : number, Wb
            Of the magnets through the winding.
        pole_pairs : number
            Electrical turns for one of the rotor.
        scaling : number, default 1.5
            1.5 for amplitudes, 1 for equal power.
        initial_current_d : number, A, optional
            Along the magnets at the start.
        initial_current_q : number, A, optional
            Across them at the start.
        voltage_d : law, V, default 0
            Along the magnets: a number or a law.
        voltage_q : law, V
            Across the magnets: a number or a law.
        inductance : number, H, optional
            Of both axes.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        BrushlessMotor
            The element as the system holds it.
        """

    def inverter_motor(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        shaft: PortLike,
        *,
        inertia: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.01,
        resistance: LawLike,
        inductance_d: NumberLike | None = None,
        inductance_q: NumberLike | None = None,
        flux: NumberLike,
        pole_pairs: NumberLike,
        scaling: NumberLike = 1.5,
        initial_current_d: NumberLike | None = None,
        initial_current_q: NumberLike | None = None,
        modulation_d: LawLike = 0.0,
        modulation_q: LawLike,
        inductance: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> InverterMotor:
        """A brushless motor with an ideal inverter, which makes its voltages out of a bus and takes the power from there.

        ``modulation`` is what share of the bus voltage the axes get; an inverter with space vectors reaches 1/sqrt(3) in
        amplitudes, and 1/sqrt(2) with a scaling of 1.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        shaft : node
            Shaft, or joint that turns.
        inertia : number, kg*m^2, default 0
            Of the rotor.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of speed.
        coulomb : number, N*m, default 0
            Drag at any speed.
        slip : number, rad/s, default 0.01
            Speed below which the latter fades.
        resistance : law, Ohm
            Of a phase: a number, or a law of its temperature.
        inductance_d : number, H, optional
            Along the magnets.
        inductance_q : number, H, optional
            Across the magnets.
        flux : number, Wb
            Of the magnets through the winding.
        pole_pairs : number
            Electrical turns for one of the rotor.
        scaling : number, default 1.5
            1.5 for amplitudes, 1 for equal power.
        initial_current_d : number, A, optional
            Along the magnets at the start.
        initial_current_q : number, A, optional
            Across them at the start.
        modulation_d : law, default 0
            Share of the bus along the magnets: a number or a law.
        modulation_q : law
            Share of the bus across the magnets: a number or a law.
        inductance : number, H, optional
            Of both axes.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        InverterMotor
            The element as the system holds it.
        """

    def pid(
        self,
        name: str,
        *,
        error: LawLike | None = None,
        target: LawLike | None = None,
        measured: LawLike | None = None,
        proportional: LawLike = 0.0,
        integral: LawLike = 0.0,
        derivative: LawLike = 0.0,
        filter_time: NumberLike | None = None,
        error_rate: LawLike | None = None,
        proportional_weight: NumberLike = 1.0,
        derivative_weight: NumberLike = 1.0,
        feedforward: LawLike = 0.0,
        limits: VectorLike | None = None,
        tracking_time: NumberLike | None = None,
        initial: NumberLike = 0.0,
    ) -> PID:
        """A PID controller; gains that are left out are zero, so that P, PI and PD are PIDs too.

        With the error e = target - measured, b and c the weights of the target, and limits that hold the output:

            unlimited = proportional (b target - measured) + integral share + derivative share + feedforward
            output    = unlimited, kept within the limits
            d(integral share)/dt = integral e + (output - unlimited) / tracking_time    (back-calculation: no windup)
            derivative share = derivative d/dt (c target - measured), through a lag of filter_time, or derivative error_rate

        K. J. Astrom and T. Hagglund, Advanced PID Control, ISA 2006, sections 3.3 to 3.5.

        Parameters
        ----------
        name : str
            Its name in the system.
        error : law, optional
            What is to become zero: target less measured, in one law.
        target : law, optional
            Instead of error: what the measured signal should be.
        measured : law, optional
            With target: what is measured.
        proportional : law, default 0
            Output for a unit of error.
        integral : law, default 0
            Growth of the output, in a second, for a unit of error.
        derivative : law, default 0
            Output for a unit of the error's rate.
        filter_time : number, s, optional
            Lag of the derivative.
        error_rate : law, optional
            Rate of the error where it is known, such as -elbow.u.
        proportional_weight : number, default 1
            Share of the target in the proportional part.
        derivative_weight : number, default 1
            Share of the target in the derivative part.
        feedforward : law, default 0
            Added to the output.
        limits : 2 numbers, optional
            [low, high] of the output.
        tracking_time : number, s, optional
            Time in which limits empty the integral; proportional/integral.
        initial : number, default 0
            Integral share at the start.

        Returns
        -------
        PID
            The element as the system holds it.
        """

    def relay(
        self,
        name: str,
        input: LawLike,
        on: NumberLike,
        off: NumberLike,
        *,
        high: NumberLike = 1.0,
        low: NumberLike = 0.0,
        initial: NumberLike = 0.0,
    ) -> Relay:
        """Gives ``high`` once its input rises above ``on``, and ``low`` once it falls below ``off``.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        on : number
            Above this it switches on.
        off : number
            Below this it switches off.
        high : number, default 1
            Output while it is on.
        low : number, default 0
            Output while it is off.
        initial : number, default 0
            1 if it starts on between the two, 0 if off.

        Returns
        -------
        Relay
            The element as the system holds it.
        """

    def shaft_friction(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        coulomb: NumberLike,
        breakaway: NumberLike | None = None,
        stribeck_speed: NumberLike | None = None,
        viscous: NumberLike = 0.0,
        heat: PortLike | None = None,
    ) -> ShaftFriction:
        """Friction of a bearing that sticks: ``coulomb`` while it turns, up to ``breakaway`` at rest.

        The one goes over to the other like exp(-(speed/stribeck_speed)^2), at once where no such speed is given.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Shaft, or joint that turns.
        b : node, default 'world'
            Shaft that it turns against.
        coulomb : number, N*m
            Moment against any speed.
        breakaway : number, N*m, optional
            What it holds with at rest; as coulomb unless it is given.
        stribeck_speed : number, rad/s, optional
            Speed over which the latter fades.
        viscous : number, N*m*s/rad, default 0
            Moment for a unit of speed.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        ShaftFriction
            The element as the system holds it.
        """

    def slide_friction(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        coulomb: NumberLike,
        breakaway: NumberLike | None = None,
        stribeck_speed: NumberLike | None = None,
        viscous: NumberLike = 0.0,
        heat: PortLike | None = None,
    ) -> SlideFriction:
        """Friction of a guide that sticks, as that of a shaft.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        coulomb : number, N
            Force against any speed.
        breakaway : number, N, optional
            What it holds with at rest; as coulomb unless it is given.
        stribeck_speed : number, m/s, optional
            Speed over which the latter fades.
        viscous : number, N*s/m, default 0
            Force for a unit of speed.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        SlideFriction
            The element as the system holds it.
        """

    def worm_gear(
        self,
        name: str,
        input: PortLike,
        output: PortLike,
        housing: PortLike = "world",
        *,
        ratio: NumberLike,
        offset: NumberLike = 0.0,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        stiffness: NumberLike,
        damping: NumberLike = 0.0,
        efficiency: NumberLike,
        back_efficiency: NumberLike | None = None,
        initial_twist: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> WormGear:
        """An elastic gear that rubs in proportion to what it transmits, and sticks at rest.

        Driven from the input it loses the share 1 - efficiency.  Driven back, the share back_efficiency arrives at the
        input: 2 - 1/efficiency with the same friction, unless it is given.  Where that is not above zero the gear locks
        itself: no load turns it.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : node
            Shaft on the side of the motor.
        output : node
            Shaft on the side of the load.
        housing : node, default 'world'
            What holds the gear.
        ratio : number
            Turns of the input for one of the output, seen from the housing.
        offset : number, rad, default 0
            Angle of the input where that of the output is 0.
        viscous : number, N*m*s/rad, default 0
            Drag for a unit of input speed.
        coulomb : number, N*m, default 0
            Drag at any input speed.
        stiffness : number, N*m/rad
            Moment at the output for a unit of twist.
        damping : number, N*m*s/rad, default 0
            Moment at the output for a unit of twist a second.
        efficiency : number
            Share of the power that reaches the output.
        back_efficiency : number, optional
            Share that reaches the input, driven back.
        initial_twist : number, rad, optional
            Twist at the start; none where nothing decides it.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        WormGear
            The element as the system holds it.
        """

    def sampled_pid(
        self,
        name: str,
        period: TimeLike,
        *,
        phase: TimeLike = ...,
        delay: int = 0,
        resolution: NumberLike | None = None,
        before: NumberLike = 0.0,
        error: LawLike | None = None,
        target: LawLike | None = None,
        measured: LawLike | None = None,
        proportional: LawLike = 0.0,
        integral: LawLike = 0.0,
        derivative: LawLike = 0.0,
        filter_time: NumberLike | None = None,
        error_rate: LawLike | None = None,
        proportional_weight: NumberLike = 1.0,
        derivative_weight: NumberLike = 1.0,
        feedforward: LawLike = 0.0,
        limits: VectorLike | None = None,
        tracking_time: NumberLike | None = None,
        initial: NumberLike = 0.0,
    ) -> SampledPID:
        """A PID controller at the ticks of a clock; h is its period, the other words are those of ``pid``.

            derivative share = (filter_time old share + derivative (x - old x)) / (filter_time + h)
                               with x = c target - measured
            unlimited = proportional (b target - measured) + integral share + derivative share + feedforward
            output    = unlimited, kept within the limits
            next integral share = integral share + h integral e + h (output - unlimited) / tracking_time

        K. J. Astrom and B. Wittenmark, Computer-Controlled Systems, 3rd ed., Prentice-Hall 1997, section 8.5.

        Parameters
        ----------
        name : str
            Its name in the system.
        period : time or rate
            Time between samples, 1 ms, or their rate, 1 kHz.
        phase : time, default 0
            Time of the first sample; 0 if left out.
        delay : int, default 0
            Whole samples after which the output comes.
        resolution : number, optional
            Step to which the output is rounded; not at all if left out.
        before : number, default 0
            Output before the first sample, or before its delay is over.
        error : law, optional
            What is to become zero: target less measured, in one law.
        target : law, optional
            Instead of error: what the measured signal should be.
        measured : law, optional
            With target: what is measured.
        proportional : law, default 0
            Output for a unit of error.
        integral : law, default 0
            Growth of the output, in a second, for a unit of error.
        derivative : law, default 0
            Output for a unit of the error's rate.
        filter_time : number, s, optional
            Lag of the derivative.
        error_rate : law, optional
            Rate of the error where it is known, such as -elbow.u.
        proportional_weight : number, default 1
            Share of the target in the proportional part.
        derivative_weight : number, default 1
            Share of the target in the derivative part.
        feedforward : law, default 0
            Added to the output.
        limits : 2 numbers, optional
            [low, high] of the output.
        tracking_time : number, s, optional
            Time in which limits empty the integral; proportional/integral.
        initial : number, default 0
            Integral share at the start.

        Returns
        -------
        SampledPID
            The element as the system holds it.
        """

    def sampled_transfer_function(
        self,
        name: str,
        input: LawLike,
        period: TimeLike,
        numerator: NumbersLike,
        denominator: NumbersLike,
        *,
        phase: TimeLike = ...,
        delay: int = 0,
        resolution: NumberLike | None = None,
        before: NumberLike = 0.0,
        initial: NumberLike = 0.0,
    ) -> SampledTransferFunction:
        """A linear system of samples by its transfer function, coefficients of powers of z.

        Parameters
        ----------
        name : str
            Its name in the system.
        input : law
            The signal that goes in.
        period : time or rate
            Time between samples, 1 ms, or their rate, 1 kHz.
        numerator : numbers
            Coefficients of the powers, the highest first.
        denominator : numbers
            Coefficients of the powers, the highest first.
        phase : time, default 0
            Time of the first sample; 0 if left out.
        delay : int, default 0
            Whole samples after which the output comes.
        resolution : number, optional
            Step to which the output is rounded; not at all if left out.
        before : number, default 0
            Output before the first sample, or before its delay is over.
        initial : number, default 0
            Steady output at the start.

        Returns
        -------
        SampledTransferFunction
            The element as the system holds it.
        """

    def sampled_state_space(
        self,
        name: str,
        inputs: CoordinateLawsLike,
        period: TimeLike,
        A: MatrixLike,
        B: MatrixLike,
        C: MatrixLike,
        *,
        phase: TimeLike = ...,
        delay: int = 0,
        resolution: NumberLike | None = None,
        before: NumberLike = 0.0,
        D: MatrixLike | None = None,
        outputs: WordsLike | None = None,
        initial: NumbersLike | None = None,
    ) -> SampledStateSpace:
        """A linear system of samples by its matrices: next x = A x + B inputs, outputs = C x + D inputs.

        Parameters
        ----------
        name : str
            Its name in the system.
        inputs : law or laws
            The signals that go in, one law for each column of B.
        period : time or rate
            Time between samples, 1 ms, or their rate, 1 kHz.
        A : matrix
            From the states to their rates, or to the next states.
        B : matrix
            From the inputs to these.
        C : matrix
            From the states to the outputs.
        phase : time, default 0
            Time of the first sample; 0 if left out.
        delay : int, default 0
            Whole samples after which the output comes.
        resolution : number, optional
            Step to which the output is rounded; not at all if left out.
        before : number, default 0
            Output before the first sample, or before its delay is over.
        D : matrix, optional
            From the inputs to the outputs; none if left out.
        outputs : names, optional
            Names of several outputs; y1, y2, ... if left out.
        initial : numbers, optional
            States at the start; 0 if left out.

        Returns
        -------
        SampledStateSpace
            The element as the system holds it.
        """

    def slide_mass(
        self,
        name: str,
        slide: PortLike,
        *,
        mass: NumberLike,
        initial_position: NumberLike | None = None,
        initial_speed: NumberLike | None = None,
    ) -> SlideMass:
        """A mass that moves along a line.

        Parameters
        ----------
        name : str
            Its name in the system.
        slide : node
            Node, or joint that slides.
        mass : number, kg
            Force for a unit of acceleration.
        initial_position : number, m, optional
            Position at the start.
        initial_speed : number, m/s, optional
            Speed at the start.

        Returns
        -------
        SlideMass
            The element as the system holds it.
        """

    def slide_spring(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        stiffness: NumberLike,
        damping: NumberLike = 0.0,
        free_length: NumberLike = 0.0,
        initial_position: NumberLike | None = None,
        heat: PortLike | None = None,
    ) -> SlideSpring:
        """A spring along a line, with damping beside it where it is given; the force on it at a grows with a - b.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        stiffness : number, N/m
            Force for a unit of position.
        damping : number, N*s/m, default 0
            Force for a unit of speed.
        free_length : number, m, default 0
            Position of a over b without load.
        initial_position : number, m, optional
            Position at the start, of a over b.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        SlideSpring
            The element as the system holds it.
        """

    def slide_damper(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        damping: NumberLike,
        heat: PortLike | None = None,
    ) -> SlideDamper:
        """A force in proportion to the speed.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        damping : number, N*s/m
            Force for a unit of speed.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        SlideDamper
            The element as the system holds it.
        """

    def slide_loss(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        viscous: NumberLike = 0.0,
        coulomb: NumberLike = 0.0,
        slip: NumberLike = 0.001,
        heat: PortLike | None = None,
    ) -> SlideLoss:
        """Losses of a guide: a force in proportion to the speed, and one against it, which fades below ``slip``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        viscous : number, N*s/m, default 0
            Force for a unit of speed.
        coulomb : number, N, default 0
            Force at any speed.
        slip : number, m/s, default 0.001
            Speed below which the latter fades.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        SlideLoss
            The element as the system holds it.
        """

    def lever(
        self,
        name: str,
        a: PortLike,
        b: PortLike,
        *,
        arm_a: NumberLike,
        arm_b: NumberLike,
    ) -> Lever:
        """Two points of a lever on a fixed pivot; arms on both sides of it have different signs.  For small angles.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides, at one arm.
        b : node
            Node, or joint that slides, at the other.
        arm_a : number, m
            From the pivot to a.
        arm_b : number, m
            From the pivot to b.

        Returns
        -------
        Lever
            The element as the system holds it.
        """

    def pinion(
        self,
        name: str,
        shaft: PortLike,
        rack: PortLike,
        *,
        radius: NumberLike,
        offset: NumberLike = 0.0,
    ) -> Pinion:
        """A pinion that moves a rack by ``radius`` for a radian; a screw likewise, with lead/(2*pi).

        Parameters
        ----------
        name : str
            Its name in the system.
        shaft : node
            Shaft of the pinion, or joint that turns.
        rack : node
            The rack: a node, or joint that slides.
        radius : number, m
            Travel of the rack for a radian; negative the other way.
        offset : number, m, default 0
            Travel where the pinion's angle is 0.

        Returns
        -------
        Pinion
            The element as the system holds it.
        """

    def velocity_source(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        velocity: LawLike,
        initial_position: NumberLike | None = None,
    ) -> VelocitySource:
        """Holds a velocity, whatever force it takes; ``force`` is what it delivers.  On a joint it is its ``speed=``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        velocity : law, m/s
            Of a over b: a number or a law.
        initial_position : number, m, optional
            Position at the start, of a over b.

        Returns
        -------
        VelocitySource
            The element as the system holds it.
        """

    def position_source(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        position: LawLike,
    ) -> PositionSource:
        """Holds a position, whatever force it takes; ``force`` is what it delivers.  On a joint it is its ``motion=``.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        position : law, m
            Of a over b: a number or a law.

        Returns
        -------
        PositionSource
            The element as the system holds it.
        """

    def force_source(
        self,
        name: str,
        a: PortLike,
        b: PortLike = "world",
        *,
        force: LawLike,
    ) -> ForceSource:
        """Delivers a force at a, whatever speed it takes.

        Parameters
        ----------
        name : str
            Its name in the system.
        a : node
            Node, or joint that slides.
        b : node, default 'world'
            Node that it slides against.
        force : law, N
            On a, against b: a number or a law.

        Returns
        -------
        ForceSource
            The element as the system holds it.
        """

    def diode(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        on_resistance: NumberLike = 0.001,
        off_conductance: NumberLike = 1e-09,
        drop: NumberLike = 0.0,
        heat: PortLike | None = None,
    ) -> Diode:
        """Conducts from plus to minus, where the voltage exceeds its ``drop``.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        on_resistance : number, Ohm, default 0.001
            While it conducts.
        off_conductance : number, S, default 1e-09
            While it does not.
        drop : number, V, default 0
            Over it where it begins to conduct.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        Diode
            The element as the system holds it.
        """

    def switch(
        self,
        name: str,
        plus: PortLike,
        minus: PortLike,
        *,
        on_resistance: NumberLike = 0.001,
        off_conductance: NumberLike = 1e-09,
        command: LawLike,
        heat: PortLike | None = None,
    ) -> Switch:
        """Conducts while its ``command`` is above zero.

        Parameters
        ----------
        name : str
            Its name in the system.
        plus : node
            Node at the positive end.
        minus : node
            Node at the negative end.
        on_resistance : number, Ohm, default 0.001
            While it conducts.
        off_conductance : number, S, default 1e-09
            While it does not.
        command : law
            A law: closed while it is above zero.
        heat : node, optional
            Node that its losses warm, in a domain whose flow is a power.

        Returns
        -------
        Switch
            The element as the system holds it.
        """
