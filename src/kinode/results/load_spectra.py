"""The spectrum of a joint's load, and whether it excites a natural frequency.

It is taken with a window (Blackman and Harris, four terms: 92 dB down beside a line), over time or over turns of the
shaft, and lines are found between its steps by the parabola through the logarithms.  Of a few turns the window would
leave too little: they are taken as one period.  A vector of one frequency runs on an ellipse:
its amplitude is the longer half axis, F for a force F that turns as for one that swings with F.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.expressions.units import check_dimension, parse_quantity
from kinode.hooks import hook
from kinode.results.joint_loads import find_joint, reaction
from kinode.results.shaft_loads import Shaft, find_shaft
from kinode.results.text_tables import figure, lay_out

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

WINDOW = (0.35875, -0.48829, 0.14128, -0.01168)
LOBE = 4  # steps from a line of the window to its first zero
ENOUGH = 2 * LOBE  # turns from which on a window tells orders apart; fewer are taken as a period
LEAST = 0.01  # of the strongest line: what is less is not listed
FEW = 16  # times that a spectrum needs
COARSE = 0.1  # share of a load that the run may leave unknown between every other of its times
SHOWN = 12  # lines in a table
UNITS = {"force": "N", "moment": "N*m"}


@dataclass(frozen=True)
class SpectralLine:
    """One line; ``low`` and ``high`` differ where it belongs to a shaft whose speed changed, in Hz."""

    low: float
    high: float
    amplitude: float
    order: float | None = None  # turns of the shaft

    @property
    def frequency(self) -> float:
        """In the middle, Hz."""
        return 0.5 * (self.low + self.high)

    @property
    def text(self) -> str:
        """The frequency for readers."""
        same = self.high - self.low <= 1e-6 * self.high
        return figure(self.frequency) if same else f"{figure(self.low)} to {figure(self.high)}"


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Amplitudes of a joint's load over frequency (Hz), or over orders of the shaft's turning; printed, its lines."""

    joint: str
    part: str
    of: str
    over: str
    abscissa: Array  # Hz, or orders
    amplitude: Array
    mean: Array  # the vector that stays
    lines: tuple[SpectralLine, ...]  # the strongest first
    resolution: float  # of the abscissa: what is nearer is one line
    frame: str

    @property
    def unit(self) -> str:
        return UNITS[self.of]

    @property
    def head(self) -> tuple[str, ...]:
        """Of the table."""
        return (f"{self.of} {self.unit}", "Hz", "rpm", "order")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Of the table, the strongest line first."""
        return [
            (figure(x.amplitude), x.text, figure(60.0 * x.frequency), "" if x.order is None else figure(x.order))
            for x in self.lines[:SHOWN]
        ]

    def __str__(self) -> str:
        title = f"{self.joint}, spectrum of the {self.part} {self.of}, in axes of {self.frame}"
        size, most = float(np.linalg.norm(self.mean)), max((line.amplitude for line in self.lines), default=0.0)
        mean = f"mean {figure(size)} {self.unit}" if size > 1e-5 * most else "no mean"
        changes = float(self.amplitude.max(initial=0.0)) > 1e-9 * size
        nothing = "the load changes too slowly for a run of this length" if changes else "the load does not change"
        lines = lay_out(self.head, self.rows) if self.lines else [f"no lines: {nothing}"]
        unit = "Hz" if self.over == "time" else "orders"
        return "\n".join([title, *lines, f"{mean}; lines nearer than {figure(self.resolution)} {unit} are one"])

    def plot(self, **options: Any) -> Any:
        """Amplitudes, as a matplotlib figure; see ``kinode.views.plots.load_plots.plot_spectrum``."""
        return hook("plot_spectrum")(self, **options)


@dataclass(frozen=True)
class Resonance:
    """A natural frequency beside the lines of a load; ``margin`` is that of the nearest, a share of the frequency."""

    joint: str
    part: str
    of: str
    natural: float  # Hz
    within: float
    nearest: SpectralLine | None
    strongest: SpectralLine | None
    margin: float  # positive: the line is above; zero: the shaft ran through it

    @property
    def excited(self) -> bool:
        """Whether a line is within the margin that was asked for."""
        return self.nearest is not None and abs(self.margin) <= self.within

    def __str__(self) -> str:
        where = f"{self.joint}: natural frequency {figure(self.natural)} Hz ({figure(60.0 * self.natural)} rpm)"
        if self.nearest is None:
            return f"{where}: not excited, the {self.part} {self.of} does not change, or too slowly"
        line, unit = self.nearest, UNITS[self.of]
        order = "" if line.order is None else f", order {figure(line.order)}"
        words = f"nearest line {line.text} Hz{order}, {figure(line.amplitude)} {unit}"
        apart = (
            f"{100.0 * abs(self.margin):.1f} % {'above' if self.margin > 0 else 'below'}" if self.margin else "on it"
        )
        verdict = "EXCITED" if self.excited else "not excited"
        return f"{where}: {verdict}; {words}, {apart} (asked for: {100.0 * self.within:g} %)"


# -- computing -------------------------------------------------------------------------------------
def compute_spectrum(run: Trajectory, joint: Any, part: str, of: str, over: str, axes: Any, hold: Any) -> Spectrum:
    """The spectrum of a joint's reaction."""
    if of not in UNITS:
        raise ArgumentError(f"of: force or moment, not {of!r}")
    if over not in ("time", "turns"):
        raise ArgumentError(f"over: time or turns, not {over!r}")
    record = find_joint(run, joint)
    wrench = reaction(run, record.name, part, None, None, axes, whole=False, hold=hold)
    every = wrench.force if of == "force" else wrench.moment
    shaft = find_shaft(run, record.name, "spectrum") if over == "turns" or record.has_bearings else None
    times, values = _once(run.t, every)
    check_times(times, values, record.name)
    if over == "time":
        t, samples = _even(times, values)
        amplitude, mean = _amplitudes(samples, windowed=True)
        x, resolution = np.fft.rfftfreq(len(t), float(t[1] - t[0])), LOBE / float(np.ptp(t))
        rate = float(np.abs(shaft.speed).mean()) / (2.0 * math.pi) if shaft is not None and shaft.steady else None
        lines = [SpectralLine(f, f, a, None if rate is None else f / rate) for f, a in _peaks(x, amplitude, values)]
    else:
        assert shaft is not None
        samples, turns = _over_turns(shaft, every)
        windowed = turns >= ENOUGH
        amplitude, mean = _amplitudes(samples, windowed=windowed)
        x, resolution = np.arange(len(amplitude)) / turns, (LOBE if windowed else 1.0) / turns
        low, high = (float(f(np.abs(shaft.speed))) / (2.0 * math.pi) for f in (np.min, np.max))
        pairs = _peaks(x, amplitude, values) if windowed else _steps(x, amplitude, values)
        lines = [SpectralLine(k * low, k * high, a, k) for k, a in pairs]
    return Spectrum(record.name, part, of, over, x, amplitude, mean, tuple(lines), resolution, wrench.frame)


def check_times(t: Array, values: Array, joint: str) -> None:
    """Refuse runs that keep too few times to tell the load between them.

    Every other time is foretold from those between; a smooth load is then wrong by sixteen times what it is wrong by
    between all of them.
    """
    from scipy.interpolate import CubicSpline

    if len(t) < FEW:
        raise ArgumentError(f"spectrum: the run keeps {len(t)} times; simulate with times= a thousand or more")
    size, scatter = np.abs(values).max(), values - values.mean(axis=0)
    if not np.isfinite(size):
        raise ArgumentError(f"spectrum: the load of {joint} is not finite throughout")
    rough = CubicSpline(t[::2], values[::2])(t[1:-1:2]) - values[1:-1:2]
    error, rms = (float(np.sqrt((x**2).mean())) for x in (rough, scatter))
    if error > COARSE * rms and rms > 1e-9 * size:
        message = f"the run keeps too few times to tell the load of {joint} between them"
        raise ArgumentError(f"spectrum: {message}; simulate with times={8 * len(t)} or more")


def _amplitudes(values: Array, *, windowed: bool) -> tuple[Array, Array]:
    """Amplitudes of samples at even steps, and their mean."""
    phase = 2.0 * math.pi * (np.arange(len(values)) + 0.5) / len(values)
    window: Array = np.array(WINDOW) @ np.cos(np.outer(range(len(WINDOW)), phase)) if windowed else np.ones(len(values))
    mean = window @ values / window.sum()
    A = np.fft.rfft((values - mean) * window[:, None], axis=0) * (2.0 / window.sum())
    return _half_axes(A), mean


def _over_turns(shaft: Shaft, values: Array) -> tuple[Array, int]:
    """Samples of the last whole turns, evenly spread over them, and the number of turns."""
    from scipy.interpolate import CubicSpline

    if not shaft.turns_on:
        raise ArgumentError(f"over: {shaft.joint} does not turn one way throughout the run; take over='time'")
    x = np.abs(shaft.angle - shaft.angle[-1])[::-1] / (2.0 * math.pi)  # turns before the end
    x, values = _once(x, values[::-1])
    turns = math.floor(float(x[-1]) + 1e-9)
    if turns < 1:
        made = figure(float(x[-1]))
        raise ArgumentError(f"over: {shaft.joint} makes {made} of a turn in the run; one at least is needed")
    each = 2 ** math.ceil(math.log2(max(2.0 * len(x) / float(x[-1]), 16.0)))
    return np.asarray(CubicSpline(x, values)(np.arange(turns * each) / each)), turns


def _once(x: Array, values: Array) -> tuple[Array, Array]:
    """The last of the samples at each place: where something happens at once there are two."""
    kept = np.append(np.diff(x) > 0.0, True)
    return (x, values) if kept.all() else (x[kept], values[kept])


def _even(t: Array, values: Array) -> tuple[Array, Array]:
    """The same at even times."""
    steps = np.diff(t)
    if np.ptp(steps) <= 1e-6 * steps.mean():
        return t, values
    from scipy.interpolate import CubicSpline

    even = np.linspace(t[0], t[-1], min(4 * len(t), 2**18))
    return even, CubicSpline(t, values)(even)


def _half_axes(A: Array) -> Array:
    """The longer half axis of the ellipse Re(A exp(i phi)), for each row."""
    a, b = A.real, A.imag
    one, two, mixed = (a * a).sum(axis=1), (b * b).sum(axis=1), (a * b).sum(axis=1)
    return np.asarray(np.sqrt(0.5 * (one + two + np.sqrt((one - two) ** 2 + 4.0 * mixed**2))))


def _floor(amplitude: Array, values: Array) -> float:
    """What a line has to exceed: a share of the strongest, and rounding of the load."""
    return max(LEAST * float(amplitude.max(initial=0.0)), 1e-9 * float(np.abs(values).max(initial=0.0)))


def _peaks(x: Array, amplitude: Array, values: Array) -> list[tuple[float, float]]:
    """Frequency and amplitude of each line, the strongest first; what the window cannot tell from the mean is none."""
    inner = np.arange(LOBE, len(x) - 1)
    a = amplitude
    top = inner[(a[inner] > a[inner - 1]) & (a[inner] >= a[inner + 1]) & (a[inner] > _floor(a, values))]
    found = []
    for k in top:
        low, mid, high = np.log(np.maximum(a[k - 1 : k + 2], 1e-300))
        bend = low - 2.0 * mid + high
        shift = 0.5 * (low - high) / bend if bend < 0 else 0.0
        found.append((float(x[k] + shift * x[1]), float(np.exp(mid - 0.25 * (low - high) * shift))))
    return sorted(found, key=lambda line: -line[1])


def _steps(x: Array, amplitude: Array, values: Array) -> list[tuple[float, float]]:
    """The same without a window: every step is a line."""
    found = [(float(k), float(a)) for k, a in zip(x, amplitude) if a > _floor(amplitude, values)]
    return sorted(found, key=lambda line: -line[1])


# -- resonance -------------------------------------------------------------------------------------
def compute_resonance(
    run: Trajectory, joint: Any, frequency: Any, part: str, of: str, within: float, axes: Any, hold: Any
) -> Resonance:
    """Whether a joint's load excites a natural frequency.

    A shaft whose speed changes is looked at by its orders, each of which runs through a range of frequencies.
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
        over = "turns" if shaft.turns_on and not shaft.steady and _turned(shaft) >= ENOUGH else "time"
    spectrum = compute_spectrum(run, record.name, part, of, over, axes, hold)
    if over == "time":
        _check_reach(run, spectrum, natural)
    nearest = min(spectrum.lines, key=lambda line: abs(_margin(line, natural)), default=None)
    margin = math.inf if nearest is None else _margin(nearest, natural)
    strongest = spectrum.lines[0] if spectrum.lines else None
    return Resonance(record.name, part, of, natural, within, nearest, strongest, margin)


def _turned(shaft: Shaft) -> float:
    return float(abs(shaft.angle[-1] - shaft.angle[0])) / (2.0 * math.pi)


def _margin(line: SpectralLine, natural: float) -> float:
    if line.low <= natural <= line.high:
        return 0.0
    return ((line.low if line.low > natural else line.high) - natural) / natural


def _check_reach(run: Trajectory, spectrum: Spectrum, natural: float) -> None:
    """Refuse frequencies that the run cannot tell of."""
    span, top = float(np.ptp(run.t)), float(spectrum.abscissa[-1])
    if natural < 2.0 * spectrum.resolution:
        need = figure(2.0 * LOBE / natural)
        raise ArgumentError(
            f"frequency: a run of {figure(span)} s tells little of {figure(natural)} Hz; simulate {need} s"
        )
    if natural > top:
        raise ArgumentError(f"frequency: the run's times tell of frequencies up to {figure(top)} Hz; keep more of them")


def read_frequency(value: Any) -> float:
    """A natural frequency in Hz, from text with its unit: a bare number could be Hz as well as rad/s."""
    quantity = parse_quantity(value) if isinstance(value, str) else None
    if quantity is None:
        raise ArgumentError(f"frequency: say the unit, '50 Hz', '3000 rpm' or '314 rad/s', not {value!r}")
    if quantity.cycles:
        found = check_dimension(quantity, "frequency", field="frequency")
    else:
        found = check_dimension(quantity, "angular_velocity", field="frequency") / (2.0 * math.pi)
        if not any(word in quantity.unit_text for word in ("rpm", "rad", "rev", "deg", "°", "turn")):
            raise ArgumentError(f"frequency: {value!r} is cycles or radians? Write Hz, rpm or rad/s")
    if not found > 0:
        raise ArgumentError(f"frequency: a frequency above zero is expected, not {value!r}")
    return found
