"""Constraints beyond joints: one file for each kind, here in the order in which schema and documentation list them."""

# isort: off
from kinode.model.constraints.distance import Distance
from kinode.model.constraints.point_on_line import PointOnLine
from kinode.model.constraints.point_on_plane import PointOnPlane
from kinode.model.constraints.angle import AngleConstraint
from kinode.model.constraints.rolling import Rolling
from kinode.model.constraints.knife_edge import KnifeEdge
from kinode.model.constraints.gear_coupling import GearConstraint, RackConstraint

__all__ = [
    "AngleConstraint",
    "Distance",
    "GearConstraint",
    "KnifeEdge",
    "PointOnLine",
    "PointOnPlane",
    "RackConstraint",
    "Rolling",
]
