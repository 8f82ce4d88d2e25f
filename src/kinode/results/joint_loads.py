"""Loads in joints over time: reactions and whole wrenches on either body, about any point, in any axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinode.dynamics.joint_reactions import depends_on_loops, joint_wrenches, read_request
from kinode.dynamics.load_uniqueness import is_redundant
from kinode.errors import ArgumentError
from kinode.kernels.kernel_options import ReactionOptions
from kinode.kernels.state import Wrench
from kinode.model.base.fields import unknown

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


def reaction(
    run: RunQuantities, joint: str, part: str, on: Any, about: Any, axes: Any, *, whole: bool, hold: Any = None
) -> Wrench:
    """The reaction of a joint, or its whole wrench: force in N and moment in N*m, each (time, 3)."""
    record = find_joint(run, joint)
    body = None
    if on is not None:
        body = str(getattr(on, "name", on))
        if body not in (record.a.body, record.b.body):
            raise ArgumentError(f"on: {joint} joins {record.a.body} and {record.b.body}, not {body}")
    options = read_request(run.dynamics, part, hold, body, about, axes, [record.name], whole)
    return _all(run, options)[record.name]


def reactions(
    run: RunQuantities, joints: list[str], part: str, hold: Any = None, axes: Any = None
) -> dict[str, Wrench]:  # fmt: skip
    """The reactions of several joints, from one compiled function."""
    return _all(run, read_request(run.dynamics, part, hold, None, None, axes, joints, False))


def _all(run: RunQuantities, options: ReactionOptions) -> dict[str, Wrench]:
    """The requested wrenches, with shared loads where joints are redundant."""
    redundant = is_redundant(run.dynamics) and depends_on_loops(options)
    sharing = run.shared(options.part, options.support) if redundant else None
    return joint_wrenches(run.dynamics, run.states, options, sharing)


def find_joint(run: RunQuantities, name: Any) -> Any:
    """The joint of this name; ArgumentError with similar names if there is none."""
    key = getattr(name, "name", name)
    if key not in run.system.joints:
        raise ArgumentError(unknown("no joint is called", str(key), run.system.joints))
    return run.system.joints[key]


def whole_wrenches(run: RunQuantities, joints: list[str], frame: str) -> dict[str, Wrench]:
    """The whole wrenches of several joints on their children, about the origin of a frame and in its axes."""
    return _all(run, read_request(run.dynamics, "total", None, None, frame, frame, joints, True))
