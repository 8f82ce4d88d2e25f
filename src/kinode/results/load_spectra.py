"""The spectrum of a joint's load, and whether it excites a natural frequency.

The spectrum is taken over time or over revolutions of the shaft, with the four-term Blackman-Harris window (side lobes
92 dB down) [F. J. Harris, Proc. IEEE 66 (1978) 51-83].  The frequency of a line is interpolated by a parabola through
the logarithms.  A few revolutions are too short for a window; they are treated as one period.

A vector of one frequency moves on an ellipse.  Its amplitude is the semi-major axis: F for a rotating force F, and F
for a force that oscillates with the amplitude F.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.units import check_dimension, parse_quantity
from kinode.hooks import hook
from kinode.results.joint_loads import find_joint, reaction
from kinode.results.shaft_loads import Shaft, find_shaft
from kinode.sheets.tables import Sheet, Shown, Table, format_number

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


WINDOW = (0.35875, -0.48829, 0.14128, -0.01168)  # coefficients of the four cosines
LOBE = 4  # steps from the maximum of the window's transform to its first zero
WINDOWED_TURNS = 2 * LOBE  # revolutions from which a window is used; fewer are treated as one period
WEAKEST_LINE = 0.01  # relative to the strongest line: weaker ones are not listed
MIN_TIMES = 16  # of a run with a spectrum
LARGEST_SAMPLING_ERROR = 0.1  # error of interpolation between every other time, relative to the load
LINES_SHOWN = 12  # lines in a table
LOAD_ROUNDING = 1e-9  # relative to the largest load: a smaller change is none
NEGLIGIBLE_MEAN = 1e-5  # relative to the strongest line
EQUAL_FREQUENCY = 1e-6  # relative difference below which the ends of a line are one frequency
EVEN_STEPS = 1e-6  # relative spread of the times of a run that counts as evenly spaced
TURN_ROUNDING = 1e-9  # of a number of revolutions
LOAD_UNITS = {"force": "N", "moment": "N*m"}


@dataclass(frozen=True)
class SpectralLine:
    """One line of a spectrum.

    Attributes
    ----------
    low, high : float
        Frequency, Hz; they differ for an order of a shaft whose speed changed.
    amplitude : float
        N or N*m.
    order : float or None
        Multiple of the rotation frequency of the shaft.
    """

    low: float
    high: float
    amplitude: float
    order: float | None = None

    @property
    def frequency(self) -> float:
        """The middle of ``low`` and ``high``, Hz."""
        return 0.5 * (self.low + self.high)

    @property
    def text(self) -> str:
        """The frequency as text."""
        same = self.high - self.low <= EQUAL_FREQUENCY * self.high
        return format_number(self.frequency) if same else f"{format_number(self.low)} to {format_number(self.high)}"


@dataclass(frozen=True, eq=False)
class Spectrum(Shown):
    """The amplitude spectrum of a joint's load; prints its lines.

    Attributes
    ----------
    joint, part, of, over : str
        The joint, the share of the reaction, "force" or "moment", "time" or "turns".
    abscissa : array
        Frequencies in Hz, or orders.
    amplitude : array
        N or N*m.
    mean : array
        (3,), the constant part.
    lines : tuple of SpectralLine
        The strongest first.
    resolution : float
        Lines closer than this on the abscissa are one.
    frame : str
        The axes.
    left_out : tuple of str
        Loads that are not in it: ("tooth force",) at a gear whose teeth are not given.
    """

    joint: str
    part: str
    of: str
    over: str
    abscissa: Array
    amplitude: Array
    mean: Array
    lines: tuple[SpectralLine, ...]
    resolution: float
    frame: str
    left_out: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        return LOAD_UNITS[self.of]

    @property
    def table(self) -> Table:
        """The strongest lines, the strongest one first."""
        rows = [
            (
                format_number(line.amplitude),
                line.text,
                format_number(60.0 * line.frequency),
                "" if line.order is None else format_number(line.order),
            )
            for line in self.lines[:LINES_SHOWN]
        ]
        return Table((f"{self.of} {self.unit}", "Hz", "rpm", "order"), rows)

    @property
    def sheet(self) -> Sheet:
        title = f"{self.joint}, spectrum of the {self.part} {self.of}, in axes of {self.frame}"
        title += "".join(f", without {load}" for load in self.left_out)
        size, strongest = float(np.linalg.norm(self.mean)), max((line.amplitude for line in self.lines), default=0.0)
        mean = f"mean {format_number(size)} {self.unit}" if size > NEGLIGIBLE_MEAN * strongest else "no mean"
        changes = float(self.amplitude.max(initial=0.0)) > LOAD_ROUNDING * size
        reason = "the load changes too slowly for a run of this length" if changes else "the load does not change"
        lines = self.table if self.lines else f"no lines: {reason}"
        unit = "Hz" if self.over == "time" else "orders"
        return Sheet(title, parts=(lines, f"{mean}; lines nearer than {format_number(self.resolution)} {unit} are one"))

    def plot(self, **options: Any) -> Any:
        """Plot the amplitudes; options of ``kinode.views.plots.load_plots.plot_spectrum``."""
        return hook("plot_spectrum")(self, **options)


@dataclass(frozen=True)
class Resonance:
    """A natural frequency compared to the lines of a load.

    Attributes
    ----------
    joint, part, of : str
        The joint, the share of the reaction, "force" or "moment".
    natural : float
        The natural frequency, Hz.
    within : float
        The largest margin that counts as excited.
    nearest, strongest : SpectralLine or None
        Lines of the load.
    margin : float
        Distance of the nearest line as a share of the frequency; positive above it, 0 if the shaft ran through it.
    """

    joint: str
    part: str
    of: str
    natural: float
    within: float
    nearest: SpectralLine | None
    strongest: SpectralLine | None
    margin: float

    @property
    def excited(self) -> bool:
        """Whether a line is closer than ``within``."""
        return self.nearest is not None and abs(self.margin) <= self.within

    def __str__(self) -> str:
        hertz, rpm = format_number(self.natural), format_number(60.0 * self.natural)
        where = f"{self.joint}: natural frequency {hertz} Hz ({rpm} rpm)"
        if self.nearest is None:
            return f"{where}: not excited, the {self.part} {self.of} does not change, or too slowly"
        line, unit = self.nearest, LOAD_UNITS[self.of]
        order = "" if line.order is None else f", order {format_number(line.order)}"
        words = f"nearest line {line.text} Hz{order}, {format_number(line.amplitude)} {unit}"
        distance = (
            f"{100.0 * abs(self.margin):.1f} % {'above' if self.margin > 0 else 'below'}" if self.margin else "on it"
        )
        verdict = "EXCITED" if self.excited else "not excited"
        return f"{where}: {verdict}; {words}, {distance} (asked for: {100.0 * self.within:g} %)"


# -- computing -------------------------------------------------------------------------------------
def compute_spectrum(run: RunQuantities, joint: Any, part: str, of: str, over: str, axes: Any, hold: Any) -> Spectrum:
    """The spectrum of a joint's reaction."""
    if of not in LOAD_UNITS:
        raise ArgumentError(f"of: force or moment, not {of!r}")
    if over not in ("time", "turns"):
        raise ArgumentError(f"over: time or turns, not {over!r}")
    record = find_joint(run, joint)
    wrench = reaction(run, record.name, part, None, None, axes, whole=False, hold=hold)
    loads = wrench.force if of == "force" else wrench.moment
    shaft = find_shaft(run, record.name, "spectrum") if over == "turns" or record.has_bearings else None
    times, values = _once(run.t, loads)
    check_times(times, values, record.name)
    if over == "time":
        t, samples = _even(times, values)
        amplitude, mean = _amplitudes(samples, windowed=True)
        x, resolution = np.fft.rfftfreq(len(t), float(t[1] - t[0])), LOBE / float(np.ptp(t))
        rate = float(np.abs(shaft.speed).mean()) / (2.0 * math.pi) if shaft is not None and shaft.steady else None
        lines = [SpectralLine(f, f, a, None if rate is None else f / rate) for f, a in _peaks(x, amplitude, values)]
    else:
        assert shaft is not None
        samples, turns = _over_turns(shaft, loads)
        windowed = turns >= WINDOWED_TURNS
        amplitude, mean = _amplitudes(samples, windowed=windowed)
        x, resolution = np.arange(len(amplitude)) / turns, (LOBE if windowed else 1.0) / turns
        low, high = (float(f(np.abs(shaft.speed))) / (2.0 * math.pi) for f in (np.min, np.max))
        pairs = _peaks(x, amplitude, values) if windowed else _orders(x, amplitude, values)
        lines = [SpectralLine(k * low, k * high, a, k) for k, a in pairs]
    strongest = tuple(lines)
    return Spectrum(
        record.name, part, of, over, x, amplitude, mean, strongest, resolution, wrench.frame, wrench.left_out
    )


def check_times(t: Array, values: Array, joint: str) -> None:
    """Raise an error if the run has too few times for the load to be interpolated.

    The load at every other time is compared with its cubic interpolation.  For a smooth load this error is sixteen
    times the error of interpolation between all times.
    """
    from scipy.interpolate import CubicSpline

    if len(t) < MIN_TIMES:
        raise ArgumentError(f"spectrum: the run keeps {len(t)} times; simulate with times= a thousand or more")
    size, scatter = np.abs(values).max(), values - values.mean(axis=0)
    if not np.isfinite(size):
        raise ArgumentError(f"spectrum: the load of {joint} is not finite throughout")
    deviation = CubicSpline(t[::2], values[::2])(t[1:-1:2]) - values[1:-1:2]
    error, rms = (float(np.sqrt((x**2).mean())) for x in (deviation, scatter))
    if error > LARGEST_SAMPLING_ERROR * rms and rms > LOAD_ROUNDING * size:
        message = f"the run keeps too few times to tell the load of {joint} between them"
        raise ArgumentError(f"spectrum: {message}; simulate with times={8 * len(t)} or more")


def _amplitudes(values: Array, *, windowed: bool) -> tuple[Array, Array]:
    """Amplitudes of equally spaced samples, and their mean."""
    phase = 2.0 * math.pi * (np.arange(len(values)) + 0.5) / len(values)
    window: Array = np.array(WINDOW) @ np.cos(np.outer(range(len(WINDOW)), phase)) if windowed else np.ones(len(values))
    mean = window @ values / window.sum()
    A = np.fft.rfft((values - mean) * window[:, None], axis=0) * (2.0 / window.sum())
    return _half_axes(A), mean


def _over_turns(shaft: Shaft, values: Array) -> tuple[Array, int]:
    """Samples of the last complete revolutions, equally spaced in angle, and the number of revolutions."""
    from scipy.interpolate import CubicSpline

    if not shaft.turns_on:
        raise ArgumentError(f"over: {shaft.joint} does not turn one way throughout the run; take over='time'")
    x = np.abs(shaft.angle - shaft.angle[-1])[::-1] / (2.0 * math.pi)  # turns before the end
    x, values = _once(x, values[::-1])
    turns = math.floor(float(x[-1]) + TURN_ROUNDING)
    if turns < 1:
        fraction = format_number(float(x[-1]))
        raise ArgumentError(f"over: {shaft.joint} makes {fraction} of a turn in the run; one at least is needed")
    samples_per_turn = 2 ** math.ceil(math.log2(max(2.0 * len(x) / float(x[-1]), 16.0)))
    return np.asarray(CubicSpline(x, values)(np.arange(turns * samples_per_turn) / samples_per_turn)), turns


def _once(x: Array, values: Array) -> tuple[Array, Array]:
    """The last sample at each abscissa: at an event there are two."""
    kept = np.append(np.diff(x) > 0.0, True)
    return (x, values) if kept.all() else (x[kept], values[kept])


def _even(t: Array, values: Array) -> tuple[Array, Array]:
    """The samples at equally spaced times."""
    steps = np.diff(t)
    if np.ptp(steps) <= EVEN_STEPS * steps.mean():
        return t, values
    from scipy.interpolate import CubicSpline

    even = np.linspace(t[0], t[-1], min(4 * len(t), 2**18))
    return even, CubicSpline(t, values)(even)


def _half_axes(A: Array) -> Array:
    """The semi-major axis of the ellipse Re(A exp(i phi)), for each row."""
    a, b = A.real, A.imag
    aa, bb, ab = (a * a).sum(axis=1), (b * b).sum(axis=1), (a * b).sum(axis=1)
    return np.asarray(np.sqrt(0.5 * (aa + bb + np.sqrt((aa - bb) ** 2 + 4.0 * ab**2))))


def _floor(amplitude: Array, values: Array) -> float:
    """The smallest amplitude of a line: relative to the strongest one, and above rounding of the load."""
    return max(WEAKEST_LINE * float(amplitude.max(initial=0.0)), LOAD_ROUNDING * float(np.abs(values).max(initial=0.0)))


def _peaks(x: Array, amplitude: Array, values: Array) -> list[tuple[float, float]]:
    """Frequency and amplitude of each line, the strongest first, without those too close to zero for the window."""
    inner = np.arange(LOBE, len(x) - 1)
    a = amplitude
    maxima = inner[(a[inner] > a[inner - 1]) & (a[inner] >= a[inner + 1]) & (a[inner] > _floor(a, values))]
    lines = []
    for k in maxima:
        low, mid, high = np.log(np.maximum(a[k - 1 : k + 2], 1e-300))
        curvature = low - 2.0 * mid + high
        shift = 0.5 * (low - high) / curvature if curvature < 0 else 0.0
        lines.append((float(x[k] + shift * x[1]), float(np.exp(mid - 0.25 * (low - high) * shift))))
    return sorted(lines, key=lambda line: -line[1])


def _orders(x: Array, amplitude: Array, values: Array) -> list[tuple[float, float]]:
    """Lines of a spectrum without a window: every order may be one, the strongest first."""
    lines = [(float(k), float(a)) for k, a in zip(x, amplitude) if a > _floor(amplitude, values)]
    return sorted(lines, key=lambda line: -line[1])


# -- resonance -------------------------------------------------------------------------------------
def compute_resonance(
    run: RunQuantities, joint: Any, frequency: Any, part: str, of: str, within: float, axes: Any, hold: Any
) -> Resonance:
    """Whether a joint's load excites a natural frequency.

    For a shaft whose speed changes the orders are used; each covers a range of frequencies.
    """
    natural = read_frequency(frequency)
    if not (isinstance(within, int | float) and 0.0 <= within < 1.0):
        raise ArgumentError(
            f"within: a share of the frequency, such as 0.2 for 20 percent, is expected, not {within!r}"
        )
    record = find_joint(run, joint)
    over = "time"
    if record.has_bearings:
        shaft = find_shaft(run, record.name, "resonance")
        over = "turns" if shaft.turns_on and not shaft.steady and _turned(shaft) >= WINDOWED_TURNS else "time"
    spectrum = compute_spectrum(run, record.name, part, of, over, axes, hold)
    if over == "time":
        _check_reach(run, spectrum, natural)
    nearest = min(spectrum.lines, key=lambda line: abs(_margin(line, natural)), default=None)
    margin = math.inf if nearest is None else _margin(nearest, natural)
    strongest = spectrum.lines[0] if spectrum.lines else None
    return Resonance(record.name, part, of, natural, within, nearest, strongest, margin)


def _turned(shaft: Shaft) -> float:
    """Revolutions of a shaft in the run."""
    return float(abs(shaft.angle[-1] - shaft.angle[0])) / (2.0 * math.pi)


def _margin(line: SpectralLine, natural: float) -> float:
    """Distance of a line from a natural frequency, relative to it; 0 within the range of the line."""
    if line.low <= natural <= line.high:
        return 0.0
    return ((line.low if line.low > natural else line.high) - natural) / natural


def _check_reach(run: RunQuantities, spectrum: Spectrum, natural: float) -> None:
    """Raise an error for frequencies outside the range of the spectrum."""
    span, top = float(np.ptp(run.t)), float(spectrum.abscissa[-1])
    if natural < 2.0 * spectrum.resolution:
        need, length = format_number(2.0 * LOBE / natural), format_number(span)
        raise ArgumentError(
            f"frequency: a run of {length} s tells little of {format_number(natural)} Hz; simulate {need} s"
        )
    if natural > top:
        raise ArgumentError(
            f"frequency: the run's times tell of frequencies up to {format_number(top)} Hz; keep more of them"
        )


def read_frequency(value: Any) -> float:
    """A natural frequency in Hz, from text with a unit; a plain number could be Hz or rad/s."""
    try:
        quantity = parse_quantity(value) if isinstance(value, str) else None
    except ModelError as error:
        raise ArgumentError(f"frequency: {error.message}") from None
    if quantity is None:
        raise ArgumentError(f"frequency: say the unit, '50 Hz', '3000 rpm' or '314 rad/s', not {value!r}")
    if quantity.cycles:
        natural = check_dimension(quantity, "frequency", field="frequency")
    else:
        natural = check_dimension(quantity, "angular_velocity", field="frequency") / (2.0 * math.pi)
        if quantity.angular != 1:
            raise ArgumentError(f"frequency: {value!r} is cycles or radians? Write Hz, rpm or rad/s")
    if not natural > 0:
        raise ArgumentError(f"frequency: a frequency above zero is expected, not {value!r}")
    return natural
