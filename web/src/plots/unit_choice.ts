// Units as a person chooses them: degrees, rpm, millimetres, kilonewtons. Values of the file are SI.

import { OTHER_UNITS, prettyUnit } from "../ui/numbers";

export interface ShownUnit {
  unit: string;
  factor: number; // the SI value is multiplied by it
}

const PREFIXED = new Set(["N", "N*m", "W", "J", "V", "A", "Pa"]);
const PREFIXES: [string, number][] = [["M", 1e6], ["k", 1e3], ["", 1], ["m", 1e-3]];

/** Units that a quantity can be shown in, SI first. */
export function unitsOf(si: string): ShownUnit[] {
  const units: ShownUnit[] = [{ unit: si, factor: 1 }];
  for (const [unit, factor] of OTHER_UNITS[si] ?? []) units.push({ unit, factor });
  if (PREFIXED.has(si))
    for (const [prefix, size] of PREFIXES)
      if (!units.some((each) => each.unit === prefix + si)) units.push({ unit: prefix + si, factor: 1 / size });
  return units;
}

/** The unit with the prefix that suits a peak: kN for 52000 N. */
export function suitableUnit(si: string, peak: number): ShownUnit {
  const size = Math.abs(peak);
  if (!PREFIXED.has(si) || !Number.isFinite(size) || size === 0 || (size >= 1e-2 && size < 1e4)) return { unit: si, factor: 1 };
  for (const [prefix, of] of PREFIXES) {
    if (size >= 10 * of || of < 1) return { unit: prefix + si, factor: 1 / of };
  }
  return { unit: si, factor: 1 };
}

/** The choices of a person, by SI unit; what was not chosen is SI, angles of positions in degrees. */
export class UnitChoices {
  private readonly chosen = new Map<string, ShownUnit>([["rad", { unit: "deg", factor: 180 / Math.PI }]]);
  private readonly listeners = new Set<() => void>();

  find(si: string, peak = NaN): ShownUnit {
    return this.chosen.get(si) ?? suitableUnit(si, peak);
  }

  choose(si: string, unit: string): void {
    const shown = unitsOf(si).find((each) => each.unit === unit);
    if (shown === undefined) return;
    this.chosen.set(si, shown);
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** The unit as an axis shows it; a number without unit says so. */
export function unitWords(unit: string): string {
  return unit === "" || unit === "1" ? "–" : prettyUnit(unit);
}
