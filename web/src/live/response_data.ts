// A response curve: a peak of the run over the range of a number, point by point as runs are done.

import type { CurvePush } from "../messages";
import type { RunHeader } from "../data/run_document";

export interface ResponsePoint {
  value: number;
  result: number;
}

export interface FailedPoint {
  value: number;
  message: string;
}

export class ResponseData {
  readonly name: string;
  readonly of: string;
  readonly low: number;
  readonly high: number;
  unit = "";
  done = false;
  stale = false; // other numbers have changed since
  private readonly found = new Map<number, number>();
  private readonly broken = new Map<number, string>();

  constructor(name: string, of: string, low: number, high: number) {
    this.name = name;
    this.of = of;
    this.low = low;
    this.high = high;
  }

  /** Takes a message; false if it belongs to another curve. */
  take({ name, of, values, results, failed, unit, complete }: CurvePush): boolean {
    if (name !== this.name || of !== this.of) return false;
    values.forEach((value, k) => {
      if (Number.isFinite(results[k])) this.found.set(value, results[k]!); // null: not a number
    });
    for (const { value, message } of failed) this.broken.set(value, message);
    this.unit = unit;
    this.done = complete;
    return true;
  }

  /** All points, by growing value. */
  get points(): ResponsePoint[] {
    return [...this.found].map(([value, result]) => ({ value, result })).sort((a, b) => a.value - b.value);
  }

  get failed(): FailedPoint[] {
    return [...this.broken].map(([value, message]) => ({ value, message })).sort((a, b) => a.value - b.value);
  }

  get least(): ResponsePoint | null {
    let best: ResponsePoint | null = null;
    for (const [value, result] of this.found) if (best === null || result < best.result) best = { value, result };
    return best;
  }

  /** The value between points, linear; NaN outside and across failed runs. */
  at(value: number): number {
    const { points } = this;
    const k = points.findIndex((each) => each.value >= value);
    if (k < 0) return NaN;
    const b = points[k]!;
    if (b.value === value || k === 0) return b.value === value ? b.result : NaN;
    const a = points[k - 1]!;
    return a.result + ((b.result - a.result) * (value - a.value)) / (b.value - a.value);
  }

  /** Stretches of the curve without a failed run in between. */
  get stretches(): ResponsePoint[][] {
    const broken = this.failed.map((each) => each.value);
    const all: ResponsePoint[][] = [];
    let last = NaN;
    for (const point of this.points) {
      if (all.length === 0 || broken.some((value) => value > last && value < point.value)) all.push([]);
      all[all.length - 1]!.push(point);
      last = point.value;
    }
    return all;
  }
}

/** A place on a curve that a click means: the nearest point within reach, else the place itself. */
export function snapTo(points: readonly { value: number }[], value: number, reach: number): number {
  let best = value;
  let least = reach;
  for (const point of points) {
    const distance = Math.abs(point.value - value);
    if (distance <= least) {
      least = distance;
      best = point.value;
    }
  }
  return best;
}

export interface ResponseChoice {
  of: string; // name and suffix, as the server knows it
  words: string;
  group: string;
  unit: string;
}

const SUFFIX_WORDS: Record<string, string> = { peak: "greatest magnitude", least: "least", mean: "mean", rms: "root mean square", final: "at the end" };

/** What a response curve can show: peaks of loads, extremes of coordinates and states. `of` are the server's own names. */
export function responseChoices(header: RunHeader, of: readonly string[]): ResponseChoice[] {
  const unitOf = (name: string): string => {
    const series = header.series.find((each) => each.name === name);
    return series?.unit ?? header.series.find((each) => name.startsWith(`${each.name}.`))?.unit ?? "";
  };
  const coordinates = new Set(header.series.filter((each) => each.group === "coordinates").flatMap((each) => [each.name, ...each.parts.map((part) => `${each.name}.${part}`)]));
  return of.map((text) => {
    const [name = "", suffix = "peak"] = text.split("|");
    const load = /^(.*)\.reaction\.(force|moment)$/.exec(name);
    if (load !== null) return { of: text, words: `${load[1]}: peak ${load[2]}`, group: "Loads of joints", unit: load[2] === "force" ? "N" : "N*m" };
    return { of: text, words: `${name}: ${SUFFIX_WORDS[suffix] ?? suffix}`, group: coordinates.has(name) ? "Coordinates" : "States", unit: unitOf(name) };
  });
}

/** What the server would offer, from the header alone. */
export function ownResponses(header: RunHeader): string[] {
  const loads = header.joints.filter((joint) => joint.load >= 0).flatMap(({ name }) => [`${name}.reaction.force|peak`, `${name}.reaction.moment|peak`]);
  const states = header.series.filter(({ group }) => group === "coordinates" || group === "states")
    .flatMap(({ name, parts }) => (parts.length === 0 ? [name] : parts.map((part) => `${name}.${part}`)));
  return [...loads, ...states.flatMap((name) => [`${name}|peak`, `${name}|final`])];
}
