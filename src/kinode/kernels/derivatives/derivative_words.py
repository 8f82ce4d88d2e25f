"""What derivatives may be asked for: words and their sizes, and which of them are loop code in large systems.

Loop code's time to compile does not grow with the number of links.  The recursion
(``kernels/rolled/tree_derivatives.py``) covers accelerations by q, u and added efforts, and inverse dynamics by q, u
and accelerations, in trees of known joints whose loads are gravity, springs and dampers.
"""

from __future__ import annotations

from kinode.expressions.syntax_tree import Expression
from kinode.kernels.kernel_options import DerivativeOptions
from kinode.model.quantities import find_quantity
from kinode.structure.topology import Topology
from kinode.structure.tree import TreeLink

OF_SYSTEMS = ("u_dot", "q_dot", "z_dot", "rate", "effort", "bias", "energy", "closure_rates")
"""Words for functions of a whole system (``derivative_outputs.py``); every other name is that of a quantity."""


def shape_of(topology: Topology, name: str) -> tuple[int, ...]:
    """The shape of what a name stands for; an unknown name raises a LawError."""
    sizes = {
        "u_dot": topology.n_u,
        "q_dot": topology.n_q,
        "z_dot": topology.n_z,
        "rate": topology.layout.n_y,
        "effort": topology.n_u,
        "bias": topology.n_u,
        "energy": 2,
        "closure_rates": len(topology.row_units) if topology.constrained else 0,
    }
    return (sizes[name],) if name in sizes else find_quantity(topology.system, name).size


def count_columns(topology: Topology, word: str) -> int:
    """The number of entries of ``by``."""
    return {
        "q": topology.n_u,
        "coordinates": topology.n_q,
        "u": topology.n_u,
        "z": topology.n_z,
        "t": 1,
        "p": len(topology.parameters),
        "inputs": len(topology.inputs),
        "x": topology.n_u,
    }[word]


SINGLE = ("fixed", "revolute", "prismatic", "screw")
SERIAL = ("cylindrical", "universal", "planar")  # each freedom acts on the axes of the next
TOGETHER = ("spherical", "free")  # all freedoms act in the axes of the child
ACCELERATIONS_BY_MOTION = DerivativeOptions(of=("u_dot",), by=(("q", None), ("u", None)))
WORDS = ("q", "u", "x")  # of ``DerivativeOptions.by``
LOOP_KERNELS = {"rate": "rate", "u_dot": "acceleration", "energy": "energy", "bias": "bias", "effort": "effort"}
"""The kernels of functions of a whole system that have loop code."""


def has_recursion(topology: Topology, options: DerivativeOptions) -> bool:
    """Whether a recursion covers these derivatives of a system, if it is large (``is_large``)."""
    words = [word for word, position in options.by if position is None]
    if len(words) < len(options.by) or len(set(words)) < len(words) or not set(words) <= set(WORDS):
        return False
    return options.of in (("u_dot",), ("effort",)) and bool(words) and is_known_tree(topology)


def has_paired_recursion(topology: Topology) -> bool:
    """Whether the recursion gives the whole Jacobian of the rate, since coordinates change by their speeds."""
    paired = topology.n_q == topology.n_u and not topology.n_z
    return paired and has_recursion(topology, ACCELERATIONS_BY_MOTION)


def has_tangents(topology: Topology, options: DerivativeOptions) -> bool:
    """Whether derivatives along a direction are those of loop code (``program_rates.py``), in a large system.

    One function of the whole system may come first; inverse dynamics, whose accelerations are given, stands alone.
    """
    if options.sharing is not None:
        return False
    first, *others = options.of
    if first in ("bias", "effort"):
        return first == "bias" and not others
    return (first in LOOP_KERNELS or first not in OF_SYSTEMS) and not any(name in OF_SYSTEMS for name in others)


def is_inverse_dynamics(topology: Topology, options: DerivativeOptions) -> bool:
    """Whether derivatives along a direction for given accelerations are those of loop code: of efforts alone."""
    return options.of == ("effort",)


def has_shared_tangents(topology: Topology, options: DerivativeOptions) -> bool:
    """Whether derivatives of loads that are shared by least norm are those of loop code and of numbers: joints alone
    transmit loads, and nothing but quantities by name is differentiated."""
    by_name = not any(name in OF_SYSTEMS for name in options.of)
    return topology.constrained and by_name and is_held_by_joints(topology)


def is_held_by_joints(topology: Topology) -> bool:
    """Whether joints alone transmit loads: there are no drives, gears or constraint elements."""
    return set(topology.holding) == set(topology.system.joints)


def is_known_tree(topology: Topology) -> bool:
    """Whether a system is a tree of known joints without elements and laws of efforts."""
    if topology.constrained or topology.couplings or topology.network or topology.system.elements or not topology.n_u:
        return False
    return all(_is_known(node) for node in topology.tree.nodes)


def _is_known(node: TreeLink) -> bool:
    """Whether no law acts in a joint, and its freedoms act one after the other, or together in the child's axes."""
    joint = node.joint
    laws = (*(joint.stiffness or ()), *(joint.damping or ()))
    if joint.effort is not None or joint.ends is not None or joint.friction is not None:
        return False
    if any(isinstance(x, Expression) for x in laws):
        return False
    return joint.kind in SINGLE or (joint.kind in (*SERIAL, *TOGETHER) and not node.reversed)
