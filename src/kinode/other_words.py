"""The words of other programs and textbooks for what kinode names differently: for hints, never for reading a model.

A hint is given only where one of the words exists at the place in question: ``spring.force`` is ``tension``, the force
of a joint ``effort`` or ``reaction.force``; ``hinge`` is the kind ``revolute``.  So one table serves quantities,
fields, kinds, methods and functions alike.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice, product

# kinode's word: how others say it, in small letters
_QUANTITIES = {
    "t": "time clock seconds",
    "q": "angle position displacement travel theta phi psi alpha beta qpos pos coordinate phi_rel s_rel rotation x",
    "u": "velocity speed rate omega w v qd qdot q_dot dq dqdt qvel vel q_d thetadot theta_dot angular_velocity w_rel",
    "u_dot": "acceleration acc accel qdd qddot q_ddot ddq qacc a udot angular_acceleration a_rel z_rel",
    "effort": "torque force tau moment load actuation motor_torque actuator_force qfrc f",
    "tension": "force load pull f",
    "reaction": "multiplier lambda lambda_ lam constraint_force force",
    "reaction.force": "force joint_force constraint_force f bearing_force",
    "reaction.moment": "torque moment joint_torque constraint_torque bearing_moment",
    "moment": "torque tau couple",
    "position": "translation displacement origin pos location xyz r p",
    **{f"position.{axis}": f"{axis} p{axis} r{axis}" for axis in "xyz"},
    **{f"velocity.{axis}": f"v{axis} v_{axis} {axis}dot {axis}_dot d{axis}" for axis in "xyz"},
    "velocity": "speed v vel linear_velocity qd",
    "acceleration": "a acc accel linear_acceleration",
    "angular_velocity": "omega w rotation_rate turn_rate gyro angular_speed",
    "angular_acceleration": "omega_dot wdot alpha",
    "quaternion": "orientation quat attitude",
    "rpy": "orientation euler_angles roll_pitch_yaw angle angles attitude",
    "rotation": "orientation rotation_matrix matrix r_matrix",
    "rate": "speed velocity length_rate ldot",
    "length": "elongation extension stretch deformation distance travel",
    "energy": "total_energy mechanical_energy",
    "kinetic_energy": "kinetic ke t_energy",
    "potential_energy": "potential pe",
    "gravity": "g",
    "system.gravity": "gravity g",
    "system.energy": "energy total_energy",
    "system.kinetic_energy": "kinetic_energy kinetic ke",
    "system.potential_energy": "potential_energy potential pe",
    "system.com": "com mass_center center_of_mass",
    "current": "i amperage",
    "voltage": "emf volt volts",
}
_FIELDS = {
    "stiffness": "k spring_constant spring_rate spring c springconstant",
    "damping": "d c damper viscous damping_constant",
    "free_length": "l0 length rest_length natural_length unstretched s_unstretched unloaded_length neutral",
    "neutral": "springref spring_ref reference rest rest_angle",
    "mass": "m weight",
    "com": "center_of_mass mass_center cog cg cm r_cm centroid center",
    "inertia": "j i moi moment_of_inertia inertia_tensor tensor",
    "a": "parent base from body1 frame_a predecessor first body_a",
    "b": "child to follower body2 frame_b successor second body_b",
    "at": "position origin location point pos xyz anchor place",
    "axis": "direction n normal",
    "limits": "range limit joint_limits",
    "lead": "pitch",
    "friction": "frictionloss mu friction_coefficient coulomb",
    "motion": "prescribed trajectory driven_by path position_law",
    "effort": "torque force actuator",
    "kind": "type class",
    "shape": "geometry geom visual solid",
    "on": "body frame acts_on",
    "expressed_in": "frame axes resolve_in",
    "rtol": "tolerance tol reltol relative_tolerance",
    "atol": "abstol absolute_tolerance",
    "until": "end duration stop_time t_end tend tstop",
    "step": "dt timestep time_step",
    "method": "solver integrator",
}
_KINDS = {
    "revolute": "hinge pin rotational rotary continuous turning",
    "prismatic": "slide slider sliding translational linear",
    "spherical": "ball ball_joint ball_and_socket connect",
    "fixed": "weld rigid bracket welded lock",
    "universal": "hooke cardan u_joint cardanic",
    "free": "floating free_flyer freeflyer freejoint six_dof 6dof",
    "screw": "helical leadscrew lead_screw",
    "planar": "plane",
    "distance": "rod link tether massless_rod",
    "point_on_line": "inline in_line point_on_curve slot yoke scotch_yoke pin_in_slot",
    "point_on_plane": "inplane in_plane",
    "angle": "parallel perpendicular",
    "rolling": "wheel roll no_slip rolling_wheel",
    "knife_edge": "skate blade nonholonomic sleigh",
    "gear": "coupler mimic gear_pair belt",
    "rack": "rack_and_pinion rackandpinion",
    "spring": "damper spring_damper tsda tendon springdamper strut suspension shock_absorber tyre tire",
    "moment": "torque world_torque",
    "force": "world_force push",
    "dc_motor": "motor actuator servo",
}
_FUNCTIONS = {
    "simulate": "run solve integrate sim simulation forward",
    "System": "model multibody mechanism world modelbuilder",
    "load": "read open read_urdf load_urdf from_urdf import_urdf buildmodelfromurdf from_file load_run",
    "inverse": "inverse_dynamics rnea id",
    "linearize": "linearise modal modes eigenvalues eigen linearization",
    "equilibrium": "trim statics static",
    "mobility": "dof dofs gruebler",
    "compile": "build dynamics",
    "absolute": "abs fabs",
    "minimum": "min",
    "maximum": "max",
    "mod": "modulo remainder fmod rem",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "log": "ln",
    "body": "link rigid_body rigidbody solid part",
    "parameter": "constant variable",
    "summary": "print info describe",
}
_CHOICES = {
    "repeat": "periodic wrap cyclic loop",
    "hold": "clamp constant saturate hold_last_point hold_last",
    "extrapolate": "linear_extrapolation last_two_points",
    "previous": "zoh zero_order_hold step constant_segments",
    "cubic": "spline akima",
    "dopri5": "rk45 ode45 rk5",
    "dop853": "rk853 rk8 ode78",
    "stiff": "bdf ode15s dassl ida radau lsoda implicit rosenbrock",
    "rk4": "runge_kutta runge_kutta_4",
}
MOST_COMBINATIONS = 1000


def _table() -> dict[str, tuple[str, ...]]:
    words: dict[str, dict[str, None]] = {}
    for group in (_QUANTITIES, _FIELDS, _KINDS, _FUNCTIONS, _CHOICES):
        for own, others in group.items():
            for other in others.split():
                words.setdefault(other, {})[own] = None
    return {other: tuple(own) for other, own in words.items()}


OTHER_WORDS = _table()


def translate(name: str, known: Collection[str]) -> list[str]:
    """The known names that stand for the same as a name in other words, each word of a dotted name by itself."""
    whole = [word for word in OTHER_WORDS.get(name.lower(), ()) if word in known]
    if whole or "." not in name:
        return whole
    words = [(word, *OTHER_WORDS.get(word.lower(), ())) for word in name.split(".")]
    combined = (".".join(choice) for choice in islice(product(*words), MOST_COMBINATIONS))
    return [text for text in dict.fromkeys(combined) if text != name and text in known]
