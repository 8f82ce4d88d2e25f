"""``run.frames``: the pictures of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kinode.results.frame_balances.balanced_run import BalancedRun
from kinode.results.pictures.picture_states import LEAST, MOST, find_picture_run, find_picture_times

if TYPE_CHECKING:
    from kinode.results.pictures.run_frames import RunFrames


class FramedRun(BalancedRun):
    """A run whose pictures can be asked for."""

    def frames(
        self, rate: float | None = None, *, names: Iterable[str] = (), hold: Any = None, least: int = LEAST,
        most: int = MOST,
    ) -> RunFrames:  # fmt: skip
        """Poses of all bodies and loads of all joints at even times, as a moving view needs them.

        A run keeps the states that were asked for, which may be few.  Where they are not close enough together, the
        run is repeated with its own method and tolerances and kept at the times of the pictures.

        Parameters
        ----------
        rate : float, optional
            Pictures for each second of the run.  By default 60, but at least ``least`` and at most ``most`` in all.
        names : iterable of str, optional
            Quantities, or expressions of them, to be evaluated at the same times.
        hold : str or sequence of str, optional
            Joints that support the loops in the static share, if no drives do.
        least, most : int
            Bounds of the number of pictures where no rate is given.

        Returns
        -------
        RunFrames

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 1.0, samples=3)
        >>> frames = run.frames(50, names=["elbow.q"])
        >>> frames.poses.shape, frames.loads["static"].shape, frames["elbow.q"].shape
        ((2, 7, 51), (2, 6, 51), (51,))
        """
        from kinode.results.pictures.frame_evaluator import prepare_frames  # for those who look at the run

        evaluator = prepare_frames(self.dynamics, names, hold=hold)
        times = find_picture_times(self, rate, least, most)
        pictures = find_picture_run(self, times)
        if pictures.run.dynamics is not self.dynamics:  # repeated with other independent constraint rows
            evaluator = prepare_frames(pictures.run.dynamics, names, hold=hold)
        return evaluator(pictures.run, notes=pictures.notes)
