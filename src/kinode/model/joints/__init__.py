"""Joints: one file for each kind, here in the order in which schema and documentation list them."""

# isort: off
from kinode.model.joints.fixed import Fixed
from kinode.model.joints.revolute import Revolute
from kinode.model.joints.prismatic import Prismatic
from kinode.model.joints.cylindrical import Cylindrical
from kinode.model.joints.screw import Screw
from kinode.model.joints.universal import Universal
from kinode.model.joints.spherical import Spherical
from kinode.model.joints.planar import Planar
from kinode.model.joints.free import Free

__all__ = ["Cylindrical", "Fixed", "Free", "Planar", "Prismatic", "Revolute", "Screw", "Spherical", "Universal"]
