"""Importers of the files of other programs: URDF, with macros (xacro) too, and MJCF."""

from __future__ import annotations

ROBOT_FILES = (".urdf", ".xml", ".xacro", ".mjcf")
