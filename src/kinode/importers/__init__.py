"""Importers of the files of other programs: URDF."""

from __future__ import annotations

URDF = (".urdf", ".xml", ".xacro")
