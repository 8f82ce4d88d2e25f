// Power as moving dots: equal speed everywhere, as many dots on a length as there is power.
// Dots sit on a fine lattice that moves along the line; each place has a threshold, and shows its dot while the power is
// above it. Thresholds are bit-reversed numbers, so that the dots that show are spread evenly at any power.

import type { PowerEnd, RunDocument } from "../data/run_document";

export const SPEED = 42; // units of the diagram for a second of watching
export const LATTICE = 3; // units between places of dots
const USUAL_SPACING = 13; // units between dots at the reference power
const PLACES = 1024;

/** The bits of 0..1023 in reverse, as a share of 1. */
export function threshold(index: number): number {
  let rest = index & (PLACES - 1);
  let turned = 0;
  for (let bit = 0; bit < 10; bit++) {
    turned = (turned << 1) | (rest & 1);
    rest >>= 1;
  }
  return turned / PLACES;
}

/** The share of lattice places that show a dot; 1 at the largest power that can be told apart. */
export function density(power: number, reference: number): number {
  if (!(reference > 0) || !Number.isFinite(power)) return 0;
  return Math.min(1, (Math.abs(power) / reference) * (LATTICE / USUAL_SPACING));
}

/** Distances from the start of a line at which dots are, and how strong each is (0 to 1: it is coming or going). */
export function dotsOn(length: number, phase: number, share: number, seed = 0): [number, number][] {
  const dots: [number, number][] = [];
  if (!(share > 0)) return dots;
  const first = Math.ceil(-phase / LATTICE);
  const last = Math.floor((length - phase) / LATTICE);
  const soft = Math.max(1 / PLACES, 0.15 * share);
  for (let i = first; i <= last; i++) {
    const above = share - threshold(i + seed);
    if (above > 0) dots.push([i * LATTICE + phase, Math.min(1, above / soft)]);
  }
  return dots;
}

/** Energy that one dot stands for, J, when a second of watching is `speed` seconds of the run. */
export function dotWorth(reference: number, speed: number): number {
  return (reference * USUAL_SPACING * speed) / SPEED;
}

/** The power that the spacing of dots is measured by: such that the largest still shows as single dots. */
export function referencePower(run: RunDocument, powers: PowerEnd[]): number {
  let reference = 0;
  for (const name of new Set(powers.map((power) => power.series))) {
    const info = run.find(name);
    if (info === undefined) continue;
    const row = run.row(info.row);
    let square = 0;
    let peak = 0;
    let count = 0;
    for (const value of row) {
      if (!Number.isFinite(value)) continue;
      square += value * value;
      peak = Math.max(peak, Math.abs(value));
      count++;
    }
    const usual = count > 0 ? Math.sqrt(square / count) : 0;
    reference = Math.max(reference, usual, (peak * LATTICE) / USUAL_SPACING);
  }
  return reference;
}

/** An energy with a prefix: 0.35 J, 12 kJ. */
export function energyText(joule: number): string {
  if (!(joule > 0)) return "0 J";
  const prefixes: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const [size, letter] = prefixes.find(([each]) => joule >= each) ?? [1e-12, "p"];
  return `${Number((joule / size).toPrecision(2))} ${letter}J`;
}
