"""What a compiled system offers to other programs: functions of CasADi, JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinode.hooks import hook


class ExchangedSystem:
    """Base of ``Dynamics``: the same functions in the form that another program takes."""

    def to_casadi(self, outputs: str | Iterable[str] = ()) -> Any:
        """The system as CasADi functions, whose derivatives of any order CasADi makes itself.

        All take t, q, u, z, p, inputs and ``effort`` (N or N m along the speeds, added to the model's own laws), in the
        order of ``coordinates``, ``topology.parameters`` and ``topology.inputs``; SI units.

        Parameters
        ----------
        outputs : name or names, optional
            Quantities such as ``"tool.position"`` or ``"elbow.reaction.force"``, or ``"energy"``, ``"bias"``.

        Returns
        -------
        CasadiFunctions
            ``rate`` (q_dot, u_dot, z_dot), ``outputs``, ``reactions``, ``effort`` (inverse dynamics), ``closure``
            (constraint equations); ``print`` lists all arguments with names and units.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> functions = dynamics.to_casadi("lower.position")
        >>> at = functions.arguments(q=[0.1, 0.2], effort=[1.0, 0.0])
        >>> u_dot = functions.rate(**at)["u_dot"].full().ravel()
        >>> bool(abs(u_dot - dynamics.acceleration(0.0, [0.1, 0.2], [0.0, 0.0], effort=[1.0, 0.0])).max() < 1e-12)
        True
        """
        return hook("to_casadi")(self, outputs)

    def to_jax(self, of: str | Iterable[str] = "rate") -> Any:
        """The system as a function of JAX, with exact derivatives, under ``jit``, ``grad`` and ``vmap``.

        Parameters
        ----------
        of : name or names, default "rate"
            As in ``derivatives``: ``rate`` ([q_dot, u_dot, z_dot]), ``u_dot``, ``effort`` (inverse dynamics), or
            quantities such as ``"tool.position"``.

        Returns
        -------
        JaxFunction
            ``f(t, q, u, z, p, inputs, effort)``, all by position or name; what is not given has the model's own values.
        """
        return hook("to_jax")(self, of)

    def to_torch(self, of: str | Iterable[str] = "rate") -> Any:
        """The system as a function of PyTorch, with exact first derivatives; leading dimensions are a batch.

        Parameters
        ----------
        of : name or names, default "rate"
            As in ``to_jax``.

        Returns
        -------
        TorchFunction
            ``f(t, q, u, z, p, inputs, effort)``, all by position or name; what is not given has the model's own values.
        """
        return hook("to_torch")(self, of)
