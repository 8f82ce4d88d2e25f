"""Springs of ball joints of an MJCF model, as laws of their three efforts.

MuJoCo's moment is -stiffness times the rotation vector of the joint, in the axes of the child: of its quaternion (w, v)
this is 2 atan2(|v|, |w|) / |v| * sign(w) v, the shorter way round.  At rest a ball joint's quaternion is (1, 0, 0, 0).
"""

from __future__ import annotations

from kinode.importers.mjcf_names import MjcfNames
from kinode.model.system import System

TINY = 1e-24  # beside the square of |v|: at rest atan2(|v|, |w|) / |v| is 1, and is computed so


def add_ball_spring(system: System, names: MjcfNames, joint: str, stiffness: float) -> list[str]:
    """The laws of the three efforts of a ball joint; signals are added that they read."""
    w, *v = (f"{joint}.q.q{letter}" for letter in "wxyz")
    size, factor = names.fresh(f"{joint}_spring_sine"), names.fresh(f"{joint}_spring")
    system.signal(size, f"sqrt({' + '.join(f'{part}^2' for part in v)} + {TINY!r})")
    system.signal(factor, f"{-2.0 * stiffness!r}*atan2({size}, abs({w}))/{size}*where({w} < 0, -1, 1)")
    return [f"{factor}*{part}" for part in v]
