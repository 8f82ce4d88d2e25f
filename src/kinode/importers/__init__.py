"""Files of other programs in: URDF."""

from __future__ import annotations

URDF = (".urdf", ".xml", ".xacro")
