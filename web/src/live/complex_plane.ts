// Eigenvalues in the complex plane: crosses, the way they came, the root locus of a number; the right half grows.

import { make } from "../ui/elements";
import { formatNumber } from "../ui/numbers";
import type { Eigenvalue } from "./mode_data";
import { draw, roundTicks, titled } from "./svg";

export interface PlaneContent {
  values: Eigenvalue[];
  chosen: Eigenvalue | null;
  trail: Eigenvalue[][]; // older ones first
  locus: Eigenvalue[][]; // lines over the range of a number
}

const HEIGHT = 250;
const ROOM = 14;

/** A scale that shows small and large alike: asinh, linear within `unit`. */
export function stretch(value: number, unit: number): number {
  return Math.asinh(value / unit);
}

/** Where the scale turns from linear to logarithmic: the least eigenvalue that is not zero, or linear throughout. */
export function stretchUnit(values: readonly Eigenvalue[]): number {
  const sizes = values.map(({ re, im }) => Math.hypot(re, im)).filter((size) => size > 1e-9 && Number.isFinite(size));
  if (sizes.length === 0) return 1;
  const least = Math.min(...sizes);
  const most = Math.max(...sizes);
  return most / least > 30 ? Math.max(least, 1e-4 * most) : 10 * most;
}

export class ComplexPlane {
  readonly element = make("figure", { class: "complex-plane" });
  private readonly svg = draw("svg", { height: HEIGHT, role: "img" });
  private readonly choose: (value: Eigenvalue) => void;
  private content: PlaneContent = { values: [], chosen: null, trail: [], locus: [] };

  constructor(choose: (value: Eigenvalue) => void) {
    this.choose = choose;
    this.element.append(this.svg);
  }

  set(content: PlaneContent): void {
    this.content = content;
    this.draw();
  }

  draw(): void {
    const width = this.element.clientWidth;
    if (width < 40) return;
    const { values, trail, locus } = this.content;
    const all = [...values, ...trail.flat(), ...locus.flat()].filter(({ re, im }) => Number.isFinite(re) && Number.isFinite(im));
    const unit = stretchUnit(all);
    const s = (value: number): number => stretch(value, unit);
    const most = Math.max(1e-9, ...all.map(({ im }) => Math.abs(s(im))));
    const left = Math.min(-0.25 * most, ...all.map(({ re }) => s(re)));
    const right = Math.max(0.25 * Math.max(most, -left) * 0.6, ...all.map(({ re }) => s(re)));
    const span = right - left;
    const x = (re: number): number => ROOM + ((s(re) - left + 0.06 * span) / (1.12 * span)) * (width - 2 * ROOM);
    const y = (im: number): number => HEIGHT / 2 - (s(im) / (1.12 * most)) * (HEIGHT / 2 - ROOM);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.setAttribute("aria-label", `${values.length} eigenvalues in the complex plane; ${values.filter(({ re }) => re > 0).length} grow`);
    this.svg.replaceChildren(...this.ground(width, x, y, unit, all), ...this.ways(x, y), ...this.crosses(x, y));
  }

  private ground(width: number, x: (re: number) => number, y: (im: number) => number, unit: number, all: Eigenvalue[]): SVGElement[] {
    const parts: SVGElement[] = [
      draw("rect", { class: "grows", x: x(0), y: 0, width: Math.max(0, width - x(0)), height: HEIGHT }),
      draw("line", { class: "axis", x1: 0, x2: width, y1: y(0), y2: y(0) }), draw("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: HEIGHT }),
      draw("text", { class: "tick", x: width - 4, y: y(0) - 4, "text-anchor": "end" }, "Re, 1/s"),
      draw("text", { class: "tick", x: x(0) + 4, y: 11 }, "Im, rad/s"),
      draw("text", { class: "tick", x: width - 4, y: HEIGHT - 5, "text-anchor": "end" }, "grows"),
    ];
    const ticks = axisTicks(all.map(({ re }) => re), unit);
    let last = -Infinity;
    for (const tick of ticks) {
      const place = x(tick);
      if (place - last < 44 || Math.abs(place - x(0)) < 18 || place < 12 || place > width - 60) continue;
      last = place;
      parts.push(draw("line", { class: "grid", x1: place, x2: place, y1: 0, y2: HEIGHT }), draw("text", { class: "tick", x: place, y: y(0) + 12, "text-anchor": "middle" }, formatNumber(tick, 4)));
    }
    last = Infinity;
    for (const tick of axisTicks(all.map(({ im }) => Math.abs(im)), unit)) {
      const place = y(tick);
      if (tick <= 0 || last - place < 20 || y(0) - place < 16 || place < 20) continue;
      last = place;
      parts.push(draw("line", { class: "grid", x1: 0, x2: width, y1: place, y2: place }), draw("text", { class: "tick", x: x(0) + 4, y: place - 2 }, formatNumber(tick, 4)));
    }
    return parts;
  }

  private ways(x: (re: number) => number, y: (im: number) => number): SVGElement[] {
    const parts: SVGElement[] = [];
    for (const line of this.content.locus) {
      const points = line.filter(({ re, im }) => Number.isFinite(re) && Number.isFinite(im));
      parts.push(draw("polyline", { class: "locus", points: points.map(({ re, im }) => `${x(re).toFixed(1)},${y(im).toFixed(1)}`).join(" ") }));
      const end = points[points.length - 1];
      if (end !== undefined) parts.push(titled(draw("rect", { class: "locus-end", x: x(end.re) - 2.5, y: y(end.im) - 2.5, width: 5, height: 5 }), "the high end of the range"));
    }
    this.content.trail.forEach((values, k) => {
      for (const { re, im } of values) parts.push(draw("circle", { class: "trail", cx: x(re), cy: y(im), r: 1.6, opacity: 0.25 + (0.6 * k) / this.content.trail.length }));
    });
    return parts;
  }

  private crosses(x: (re: number) => number, y: (im: number) => number): SVGElement[] {
    const { values, chosen } = this.content;
    return values.map((value) => {
      const [a, b] = [x(value.re), y(value.im)];
      const is = chosen !== null && Math.abs(value.re - chosen.re) < 1e-6 * Math.hypot(value.re, value.im) + 1e-12 && Math.abs(Math.abs(value.im) - chosen.im) < 1e-6 * Math.hypot(value.re, value.im) + 1e-12;
      const group = draw("g", { class: `eigenvalue${value.re > 0 ? " bad" : ""}${is ? " chosen" : ""}` },
        draw("circle", { class: "reach", cx: a, cy: b, r: 9 }), draw("path", { d: `M${a - 4} ${b - 4}L${a + 4} ${b + 4}M${a + 4} ${b - 4}L${a - 4} ${b + 4}` }));
      titled(group, `${formatNumber(value.re)} ${value.im < 0 ? "−" : "+"} ${formatNumber(Math.abs(value.im))}i 1/s`);
      group.addEventListener("click", () => this.choose({ re: value.re, im: Math.abs(value.im) }));
      return group;
    });
  }
}

/** Round numbers along an axis that may be stretched: powers of ten, or multiples. */
function axisTicks(values: number[], unit: number): number[] {
  const most = Math.max(0, ...values.map(Math.abs).filter(Number.isFinite));
  if (most === 0) return [];
  const ticks: number[] = [];
  const decades = Math.ceil(Math.log10(most));
  if (unit > most) return roundTicks(Math.min(0, ...values.filter(Number.isFinite)), most, 5);
  for (let k = Math.floor(Math.log10(unit)); k <= decades; k++) ticks.push(10 ** k);
  return [...ticks.map((tick) => -tick).reverse(), ...ticks];
}
