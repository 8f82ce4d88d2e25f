// Numbers and units as people read them.

/** A number with some digits, in plain notation where that is short. */
export function formatNumber(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  return text
    .replace(/(\.\d*?)0+(?=$|e)/, "$1")
    .replace(/\.(?=$|e)/, "")
    .replace(/e\+?(-?\d+)$/, "e$1")
    .replace(/-/g, "−");
}

/** A value with the prefix that suits it: 194 kN. */
export function withPrefix(value: number, unit: string, digits = 3): string {
  const size = Math.abs(value);
  const prefixes: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
  const [factor, prefix] = size === 0 || !Number.isFinite(size) ? [1, ""] : (prefixes.find(([least]) => size >= 0.9995 * least) ?? [1e-6, "µ"]);
  return `${formatNumber(value / factor, digits)} ${prefix}${unit}`;
}

/** A unit in type: N*m as N·m, m/s^2 as m/s². */
export function prettyUnit(unit: string): string {
  const powers: Record<string, string> = { "2": "²", "3": "³", "4": "⁴", "-1": "⁻¹", "-2": "⁻²" };
  return unit.replace(/\*/g, "·").replace(/\^(-?\d)/g, (_, power: string) => powers[power] ?? `^${power}`);
}

/** Other units that a person may want for a quantity: factor by which the SI value is multiplied. */
export const OTHER_UNITS: Record<string, [string, number][]> = {
  rad: [["deg", 180 / Math.PI], ["turns", 1 / (2 * Math.PI)]],
  "rad/s": [["rpm", 30 / Math.PI], ["deg/s", 180 / Math.PI]],
  "rad/s^2": [["deg/s^2", 180 / Math.PI]],
  m: [["mm", 1000]],
  N: [["kN", 1e-3]],
  "N*m": [["kN*m", 1e-3]],
  W: [["kW", 1e-3]],
  K: [],
};
