// Elements of small drawings.

export type Attributes = Record<string, string | number>;

export function draw<K extends keyof SVGElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, typeof value === "number" ? String(Math.round(100 * value) / 100) : value);
  element.append(...children);
  return element;
}

/** A shape that says something when it is pointed at. */
export function titled<E extends SVGElement>(element: E, words: string): E {
  element.append(draw("title", {}, words));
  return element;
}

/** A line from values to pixels. */
export function scaleOf(low: number, high: number, from: number, to: number): (value: number) => number {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** Round numbers in a range: about so many of 1, 2, 5 times a power of ten. */
export function roundTicks(low: number, high: number, about: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return Number.isFinite(low) ? [low] : [];
  const rough = span / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= 0.999 * rough)!;
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}
