// Numbers of sliders: their range, the way along it, texts with units.

import type { ParameterData } from "../data/run_document";
import { type ShownUnit, unitsOf } from "../plots/unit_choice";
import { formatNumber, prettyUnit } from "../ui/numbers";

export interface NumberRange {
  low: number;
  high: number;
  log: boolean; // the slider moves by factors
}

export const SLIDER_STEPS = 1000;
const DECADES = 100; // quotient of bounds from which a slider moves by factors

const MORE_UNITS: Record<string, [string, number][]> = {
  kg: [["g", 1e3], ["t", 1e-3]],
  "kg*m^2": [["kg*cm^2", 1e4], ["g*cm^2", 1e7]],
  m: [["cm", 100], ["µm", 1e6]],
  "m/s": [["mm/s", 1e3], ["km/h", 3.6]],
  s: [["ms", 1e3]],
  "N/m": [["N/mm", 1e-3], ["kN/m", 1e-3]],
  "N*s/m": [["kN*s/m", 1e-3]],
  "N*m/rad": [["N*m/deg", Math.PI / 180], ["kN*m/rad", 1e-3]],
  "N*m*s/rad": [["N*m*s/deg", Math.PI / 180]],
  Ohm: [["mOhm", 1e3], ["kOhm", 1e-3]],
  H: [["mH", 1e3], ["µH", 1e6]],
  F: [["mF", 1e3], ["µF", 1e6], ["nF", 1e9]],
  Pa: [["bar", 1e-5]],
};
const SIMPLE: Record<string, string> = { "·": "*", "²": "^2", "³": "^3", "μ": "µ", "−": "-", Ω: "Ohm", "°": "deg" };

/** Units that a number can be given in, SI first. */
export function numberUnits(si: string): ShownUnit[] {
  const units = unitsOf(si);
  for (const [unit, factor] of MORE_UNITS[si] ?? []) if (!units.some((each) => each.unit === unit)) units.push({ unit, factor });
  return units;
}

/** Angles in degrees, the rest in SI. */
export function firstUnit(si: string): ShownUnit {
  return numberUnits(si).find((each) => each.unit === "deg") ?? { unit: si, factor: 1 };
}

/** The range of a slider: bounds of the model, or half the value around it; around zero a unit or a turn. */
export function firstRange(parameter: Pick<ParameterData, "value" | "unit" | "low" | "high">, size = 1): NumberRange {
  const { value, unit } = parameter;
  const around = value !== 0 ? 0.5 * Math.abs(value) : unit === "rad" ? Math.PI : unit === "m" ? 0.5 * (size || 1) : 1;
  const low = parameter.low ?? Math.min(value - around, parameter.high ?? Infinity);
  const high = parameter.high ?? Math.max(value + around, parameter.low ?? -Infinity);
  return makeRange(low, high);
}

export function makeRange(low: number, high: number): NumberRange {
  return { low, high, log: low > 0 && high / low >= DECADES };
}

/** The range made wider where a value was typed that lies outside. */
export function widened(range: NumberRange, value: number): NumberRange {
  if (value >= range.low && value <= range.high) return range;
  return makeRange(Math.min(range.low, value), Math.max(range.high, value));
}

/** Slider place, 0 to SLIDER_STEPS, of a value. */
export function placeOf(value: number, { low, high, log }: NumberRange): number {
  if (!(high > low)) return 0;
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.round(SLIDER_STEPS * Math.min(1, Math.max(0, share)));
}

/** The value at a slider place, rounded to what the range's fineness means. */
export function valueAt(place: number, { low, high, log }: NumberRange): number {
  const share = Math.min(1, Math.max(0, place / SLIDER_STEPS));
  if (share === 0) return low;
  if (share === 1) return high;
  if (log) return Number((low * (high / low) ** share).toPrecision(4));
  const step = 10 ** Math.floor(Math.log10((high - low) / SLIDER_STEPS));
  const value = Math.round((low + share * (high - low)) / step) * step;
  return Number(value.toPrecision(12));
}

/** A value in the unit that is shown, for a field: plain signs, no more digits than it needs. */
export function fieldText(value: number, unit: ShownUnit): string {
  if (!Number.isFinite(value)) return "";
  return formatNumber(value * unit.factor, 6).replace(/−/g, "-");
}

export class NumberError extends Error {}

/** Reads "30 deg", "1.5e3", "2,5": a number in the shown unit, or in the one that is written. SI comes back. */
export function readNumber(text: string, si: string, shown: ShownUnit): number {
  const plain = [...text.trim()].map((sign) => SIMPLE[sign] ?? sign).join("");
  const found = /^([+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(.*)$/.exec(plain);
  if (found === null) throw new NumberError(plain === "" ? "A number is missing." : `"${text.trim()}" is not a number.`);
  const value = Number(found[1]!.replace(",", "."));
  const named = found[2]!.replace(/\s+/g, "");
  if (named === "") return value / shown.factor;
  const unit = numberUnits(si).find((each) => each.unit === named || each.unit.replace(/\*/g, "") === named.replace(/\*/g, ""));
  if (unit === undefined) {
    const known = numberUnits(si).map((each) => prettyUnit(each.unit) || "none").join(", ");
    throw new NumberError(`The unit ${found[2]!.trim()} is not known here; known are: ${known}.`);
  }
  return value / unit.factor;
}
