"""Coefficients of the explicit Runge-Kutta methods, in the one form that the compiled loops read.

A tableau is made once and shared; its arrays must not be changed.

Dormand-Prince 5(4): J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19. Its dense output here is of
order 5 and our own: a quintic through both ends with their slopes and two slopes inside the step, which are taken on
the well-known interpolant of order 4 (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.6; the
idea of raising the order so is due to Shampine 1986). It costs two evaluations, and only in steps that hold a
requested time. DOP853: order 8 with estimates of order 5 and 3 and a dense output of order 7 (three evaluations,
likewise); the numbers are those of Hairer and Wanner's published code (same book, II.10).
The dense output is y0 + h * sum_j w_j(theta) k_j, each weight being nested in theta and 1 - theta by turns: w = theta
(d0 + (1 - theta) (d1 + theta (d2 + (1 - theta) (d3 + ...)))). It is exact at both ends without cancellation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """One method. Row ``last`` of ``stages`` is the solution itself, so that its slope is the next step's first."""

    name: str
    last: int
    """The stage at the end of the step; those after it serve the dense output only."""
    order: int
    dense_order: int
    error_order: int
    """The error estimate is O(h ** error_order); the step control uses it."""
    damping: float
    """Weight of the previous error in the step control (PI control). With 0.04 DOP853 rejects half as many steps."""
    nodes: Array
    stages: Array
    errors: Array
    """Two rows; where the second is zero the first is the estimate, else they are combined as in DOP853."""
    dense: Array
    """Nested weights d, one row for each power, one column for each stage."""
    stability: float = 0.0
    """Step times eigenvalue at the edge of stability (Hairer, Wanner II, IV.2); 0 where steps are not watched."""
    classical: bool = False
    """Whether it is the classical method, whose formulas the loops have written out: its sum k1 + 2 (k2 + k3) + k4 is
    rounded differently by the table."""

    @cached_property
    def estimates(self) -> int:
        """Error estimates: 1, or 2 that are combined."""
        return 1 + int(self.errors[1].any())

    @cached_property
    def packed(self) -> Array:
        """All coefficients in rows, in the order in which the loops read them."""
        return np.vstack([self.stages, self.nodes, self.errors, self.dense])


def _rows(rows: Sequence[Mapping[int, float]], width: int) -> Array:
    table = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, value in row.items():
            table[i, j] = value
    return table


def _hermite(weights: Array, last: int) -> Array:
    """The first three rows of the dense output: both ends and both slopes, for a solution with the given weights."""
    first, end = np.zeros_like(weights), np.zeros_like(weights)
    first[0], end[last] = 1.0, 1.0
    return np.array([weights, first - weights, 2.0 * weights - first - end])


def _nested_slope(theta: float, size: int) -> Array:
    """Derivatives at theta of the ``size`` nested basis functions theta, theta (1 - theta), theta^2 (1 - theta), ..."""
    slopes = []
    value, slope = theta, 1.0
    for k in range(size):
        slopes.append(slope)
        factor, factor_slope = (1.0 - theta, -1.0) if k % 2 == 0 else (theta, 1.0)
        value, slope = value * factor, slope * factor + value * factor_slope
    return np.array(slopes)


def nested(theta: float, size: int) -> Array:
    """Values at theta of the ``size`` nested basis functions."""
    values = [theta]
    for k in range(size - 1):
        values.append(values[-1] * ((1.0 - theta) if k % 2 == 0 else theta))
    return np.array(values)


_DOPRI5_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_DOPRI5_STAGES: tuple[dict[int, float], ...] = (
    {},
    {0: 1 / 5},
    {0: 3 / 40, 1: 9 / 40},
    {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
    {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
    {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
    {0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
)
_DOPRI5_ERROR = {0: 71 / 57600, 2: -71 / 16695, 3: 71 / 1920, 4: -17253 / 339200, 5: 22 / 525, 6: -1 / 40}
_DOPRI5_DENSE = {
    0: -12715105075 / 11282082432,
    2: 87487479700 / 32700410799,
    3: -10690763975 / 1880347072,
    4: 701980252875 / 199316789632,
    5: -1453857185 / 822651844,
    6: 69997945 / 29380423,
}
DOPRI5_INSIDE = (0.35, 0.65)
"""Positions in a step of the two inner slopes of the dense output. On Kepler orbits the error inside a step is then at
most 1.3 times that at its end, the smallest of all pairs tried."""


@cache
def dopri5(inside: tuple[float, float] = DOPRI5_INSIDE) -> Tableau:
    """Dormand-Prince 5(4) with the dense output of order 5 described above."""
    last, width = 6, 9
    stages = np.zeros((width, width))
    stages[:7] = _rows(_DOPRI5_STAGES, width)
    base = _hermite(stages[last], last)
    quartic = np.vstack([base, _rows([_DOPRI5_DENSE], width)])
    right = np.zeros((2, width))
    for i, theta in enumerate(inside):
        stages[7 + i] = nested(theta, 4) @ quartic
        right[i, 7 + i] = 1.0
    slopes = np.array([_nested_slope(theta, 5) for theta in inside])
    upper = np.linalg.solve(slopes[:, 3:], right - slopes[:, :3] @ base)
    return Tableau(
        name="dopri5",
        stability=3.25,
        last=last,
        order=5,
        dense_order=5,
        error_order=5,
        damping=0.04,
        nodes=np.array(_DOPRI5_NODES + inside),
        stages=stages,
        errors=_rows([_DOPRI5_ERROR, {}], width),
        dense=np.vstack([base, upper]),
    )


_DOP853_NODES = (
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
)
_DOP853_STAGES: tuple[dict[int, float], ...] = (
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479,
        3: 0.17038392571223998,
        4: 0.10726203044637328,
        5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757,
        3: -3.3608926294469414,
        4: -0.868219346841726,
        5: 27.59209969944671,
        6: 20.154067550477894,
        7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434,
        3: -2.4881146199716677,
        4: -0.590290826836843,
        5: 21.230051448181193,
        6: 15.279233632882423,
        7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873,
        3: 5.186372428844064,
        4: 1.0914373489967295,
        5: -8.149787010746927,
        6: -18.52006565999696,
        7: 22.739487099350505,
        8: 2.4936055526796523,
        9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538,
        3: -10.53449546673725,
        4: -2.0008720582248625,
        5: -17.9589318631188,
        6: 27.94888452941996,
        7: -2.8589982771350235,
        8: -8.87285693353063,
        9: 12.360567175794303,
        10: 0.6433927460157636,
    },
    {
        0: 0.054293734116568765,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: 0.3111643669578199,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.04471061572777259,
    },
    {
        0: 0.056167502283047954,
        6: 0.25350021021662483,
        7: -0.2462390374708025,
        8: -0.12419142326381637,
        9: 0.15329179827876568,
        10: 0.00820105229563469,
        11: 0.007567897660545699,
        12: -0.008298,
    },
    {
        0: 0.03183464816350214,
        5: 0.028300909672366776,
        6: 0.053541988307438566,
        7: -0.05492374857139099,
        10: -0.00010834732869724932,
        11: 0.0003825710908356584,
        12: -0.00034046500868740456,
        13: 0.1413124436746325,
    },
    {
        0: -0.42889630158379194,
        5: -4.697621415361164,
        6: 7.683421196062599,
        7: 4.06898981839711,
        8: 0.3567271874552811,
        12: -0.0013990241651590145,
        13: 2.9475147891527724,
        14: -9.15095847217987,
    },
)
_DOP853_ERRORS: tuple[dict[int, float], ...] = (
    {
        0: 0.01312004499419488,
        5: -1.2251564463762044,
        6: -0.4957589496572502,
        7: 1.6643771824549864,
        8: -0.35032884874997366,
        9: 0.3341791187130175,
        10: 0.08192320648511571,
        11: -0.022355307863886294,
    },
    {
        0: -0.18980075407240762,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: -0.4226823213237919,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.02265179219836082,
    },
)
_DOP853_DENSE: tuple[dict[int, float], ...] = (
    {
        0: -8.428938276109013,
        5: 0.5667149535193777,
        6: -3.0689499459498917,
        7: 2.38466765651207,
        8: 2.117034582445028,
        9: -0.871391583777973,
        10: 2.2404374302607883,
        11: 0.6315787787694688,
        12: -0.08899033645133331,
        13: 18.148505520854727,
        14: -9.194632392478356,
        15: -4.436036387594894,
    },
    {
        0: 10.427508642579134,
        5: 242.28349177525817,
        6: 165.20045171727028,
        7: -374.5467547226902,
        8: -22.113666853125306,
        9: 7.733432668472264,
        10: -30.674084731089398,
        11: -9.332130526430229,
        12: 15.697238121770845,
        13: -31.139403219565178,
        14: -9.35292435884448,
        15: 35.81684148639408,
    },
    {
        0: 19.985053242002433,
        5: -387.0373087493518,
        6: -189.17813819516758,
        7: 527.8081592054236,
        8: -11.57390253995963,
        9: 6.8812326946963,
        10: -1.0006050966910838,
        11: 0.7777137798053443,
        12: -2.778205752353508,
        13: -60.19669523126412,
        14: 84.32040550667716,
        15: 11.99229113618279,
    },
    {
        0: -25.69393346270375,
        5: -154.18974869023643,
        6: -231.5293791760455,
        7: 357.6391179106141,
        8: 93.40532418362432,
        9: -37.45832313645163,
        10: 104.0996495089623,
        11: 29.8402934266605,
        12: -43.53345659001114,
        13: 96.32455395918828,
        14: -39.17726167561544,
        15: -149.72683625798564,
    },
)


@cache
def dop853() -> Tableau:
    """The method of order 8 by Dormand and Prince as published by Hairer and Wanner."""
    last, width = 12, 16
    stages = _rows(_DOP853_STAGES, width)
    return Tableau(
        name="dop853",
        stability=6.1,
        last=last,
        order=8,
        dense_order=7,
        error_order=8,
        damping=0.04,
        nodes=np.array(_DOP853_NODES),
        stages=stages,
        errors=_rows(_DOP853_ERRORS, width),
        dense=np.vstack([_hermite(stages[last], last), _rows(_DOP853_DENSE, width)]),
    )


def cubic_tableau(
    name: str, order: int, nodes: Sequence[float], stages: Sequence[Mapping[int, float]],
    error: Mapping[int, float] | None = None, classical: bool = False,
) -> Tableau:  # fmt: skip
    """A method whose dense output is the cubic through both ends of a step and their slopes.

    Parameters
    ----------
    name : of the method.
    order : of the solution; of the error estimate too, if there is one.
    nodes : where the stages are, as a share of the step; the last is 1, the end of the step.
    stages : weights of the slopes before each stage; the last row is the solution.
    error : weights of the slopes in the error estimate; None for a method of fixed step.
    classical : whether it is the classical method.
    """
    last, width = len(nodes) - 1, len(nodes)
    rows = _rows(stages, width)
    return Tableau(
        name=name,
        last=last,
        order=order,
        dense_order=3,
        error_order=order,
        damping=0.0,
        nodes=np.array(nodes, dtype=float),
        stages=rows,
        errors=_rows([error or {}, {}], width),
        dense=_hermite(rows[last], last),
        classical=classical,
    )


@cache
def rk4() -> Tableau:
    """The classical method; it has no error estimate."""
    stages: tuple[dict[int, float], ...] = ({}, {0: 0.5}, {1: 0.5}, {2: 1.0}, {0: 1 / 6, 1: 1 / 3, 2: 1 / 3, 3: 1 / 6})
    return cubic_tableau("rk4", 4, (0.0, 0.5, 0.5, 1.0, 1.0), stages, classical=True)
