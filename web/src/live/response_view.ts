// The response curve under a slider: drawn in its range, clicked to set the number, the least one marked.

import type { PlayerContext } from "../panel";
import { button, make, write } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { formatNumber, prettyUnit, withPrefix } from "../ui/numbers";
import { type LiveDesk, errorWords } from "./live_desk";
import { Overtaken, type Push } from "./connection";
import { type NumberRange, fieldText, firstUnit, placeOf, SLIDER_STEPS, valueAt } from "./number_range";
import { ResponseData, type ResponseChoice, ownResponses, responseChoices, snapTo } from "./response_data";
import { draw, roundTicks, scaleOf, titled } from "./svg";

const HEIGHT = 96;
const SIDE = 8; // half a slider's thumb: curve and slider share their places
const POINTS = 33;
const REACH = 8; // pixels

/** The quantity that all curves show, chosen once for the page. */
export class ResponseTopic {
  of: string;
  private readonly listeners = new Set<() => void>();

  constructor(of: string) {
    this.of = of;
  }

  choose(of: string): void {
    this.of = of;
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export class ResponseView {
  readonly element = make("div", { class: "response" });
  data: ResponseData | null = null;
  private readonly context: PlayerContext;
  private readonly desk: LiveDesk;
  private readonly topic: ResponseTopic;
  private readonly name: string;
  private readonly range: () => NumberRange;
  private readonly svg = draw("svg", { class: "response-curve", role: "img", height: HEIGHT });
  private readonly words = make("output", { class: "response-words", "aria-live": "polite" });
  private readonly select = make("select", { "aria-label": "Quantity of the response curve" });
  private readonly leastButton: HTMLButtonElement;
  private readonly ends: (() => void)[] = [];
  private readonly now = draw("line", { class: "now", y1: 2, y2: HEIGHT - 2 });
  private width = 0; // as it was drawn last
  private readonly drawing = makeFrameTask(() => this.draw());
  private readonly moving = makeFrameTask(() => this.showNow());
  private waiting: ReturnType<typeof setTimeout> | null = null;
  private optionKey = "";
  private drawnRange: NumberRange | null = null;

  constructor(context: PlayerContext, desk: LiveDesk, topic: ResponseTopic, name: string, range: () => NumberRange) {
    this.context = context;
    this.desk = desk;
    this.topic = topic;
    this.name = name;
    this.range = range;
    this.leastButton = button("least", "Set the number that gives the least", () => this.goLeast());
    this.leastButton.classList.add("tool");
    this.element.append(make("div", { class: "response-head" }, this.select, this.leastButton), this.svg, this.words);
    this.select.addEventListener("change", () => topic.choose(this.select.value));
    this.svg.addEventListener("click", (event) => this.click(event));
    this.ends.push(desk.onPush((message) => this.push(message)), topic.onChange(() => this.ask()), desk.onNews((news) => {
      if (news.kind === "values") this.valuesChanged(news.name);
      else if (news.kind === "settled" && this.data?.stale === true) this.ask();
    }));
    this.ask();
  }

  /** The range of the slider has changed. */
  rangeChanged(): void {
    if (this.waiting !== null) clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(), 250);
  }

  redraw(): void {
    this.drawing.request();
  }

  destroy(): void {
    if (this.waiting !== null) clearTimeout(this.waiting);
    this.drawing.cancel();
    this.moving.cancel();
    for (const end of this.ends) end();
    if (this.data !== null && !this.data.done) void this.desk.ask("response_stop", { name: this.name }).catch(() => {});
    this.element.remove();
  }

  private ask(): void {
    this.waiting = null;
    this.showChoices();
    const { low, high } = this.range();
    const { of } = this.topic;
    const old = this.data;
    this.data = new ResponseData(this.name, of, low, high);
    if (of === "" || !(high > low)) return this.drawing.request();
    if (old !== null && old.of === of && old.low === low && old.high === high) this.previous = old;
    else this.previous = null;
    this.desk.ask("response", { name: this.name, low, high, of, points: POINTS }).catch((error: unknown) => {
      if (!(error instanceof Overtaken)) this.words.textContent = errorWords(error);
    });
    this.drawing.request();
  }

  private previous: ResponseData | null = null; // drawn faintly until the new one is there

  private push(message: Push): void {
    if (message.kind === "response" && this.data?.take(message) === true) this.drawing.request();
  }

  /** Another number was moved: the curve no longer holds. */
  private valuesChanged(name: string): void {
    if (this.data !== null && name !== this.name) this.data.stale = true;
    if (name === this.name) this.moving.request();
    else this.drawing.request();
  }

  private showChoices(): void {
    const choices = this.choices();
    if (!choices.some((choice) => choice.of === this.topic.of)) {
      const known = this.topic.of === "" ? choices[0]?.of ?? "" : this.topic.of;
      if (this.topic.of === "") this.topic.of = known;
      else choices.unshift({ of: known, words: known.replace("|", ": "), group: "Chosen", unit: "" });
    }
    const key = choices.map((choice) => choice.of).join("\n");
    if (key !== this.optionKey) {
      this.optionKey = key;
      const groups = new Map<string, ResponseChoice[]>();
      for (const choice of choices) groups.set(choice.group, [...(groups.get(choice.group) ?? []), choice]);
      this.select.replaceChildren(...[...groups].map(([group, all]) =>
        make("optgroup", { label: group }, ...all.map((choice) => make("option", { value: choice.of }, choice.words)))));
    }
    this.select.value = this.topic.of;
  }

  private choices(): ResponseChoice[] {
    const { header } = this.context.main;
    const offered = this.desk.live.responses;
    return responseChoices(header, offered.length > 0 ? offered : ownResponses(header));
  }

  private get unit(): string {
    if (this.data?.unit) return this.data.unit;
    return this.choices().find((choice) => choice.of === this.topic.of)?.unit ?? "";
  }

  private goLeast(): void {
    const least = this.data?.least ?? null;
    if (least === null) return;
    this.desk.setValue(this.name, least.value);
    const unit = firstUnit(this.desk.find(this.name)?.unit ?? "");
    this.context.say(`${this.name} ${fieldText(least.value, unit)} ${prettyUnit(unit.unit)}: the least of the range`);
  }

  private click(event: MouseEvent): void {
    const { data } = this;
    if (data === null) return;
    const box = this.svg.getBoundingClientRect();
    const range = this.range();
    const at = (x: number): number => valueAt((SLIDER_STEPS * (x - SIDE)) / Math.max(1, box.width - 2 * SIDE), range);
    const x = event.clientX - box.left;
    this.desk.setValue(this.name, snapTo(data.points, at(x), Math.abs(at(x + REACH) - at(x))));
  }

  // -- the drawing -----------------------------------------------------------------------------------
  private draw(): void {
    const width = this.svg.clientWidth || this.element.clientWidth;
    const { data } = this;
    if (width < 20 || data === null) return;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.width = width;
    const range = this.range();
    this.drawnRange = range;
    const x = (value: number): number => placeX(value, range, width);
    const shown = this.shown!;
    const results = shown.points.map((point) => point.result);
    const [low, high] = room(Math.min(...results), Math.max(...results));
    const y = scaleOf(low, high, HEIGHT - 14, 8);
    const parts: SVGElement[] = roundTicks(low, high, 3).flatMap((tick) => [
      draw("line", { class: "grid", x1: SIDE, x2: width - SIDE, y1: y(tick), y2: y(tick) }),
      draw("text", { class: "tick", x: width - SIDE, y: y(tick) - 2, "text-anchor": "end" }, withPrefix(tick, prettyUnit(this.unit), tickDigits(low, high))),
    ]);
    for (const stretch of shown.stretches) {
      parts.push(draw("polyline", { class: "line", points: stretch.map((p) => `${x(p.value).toFixed(1)},${y(p.result).toFixed(1)}`).join(" ") }));
    }
    for (const point of shown.points) parts.push(titled(draw("circle", { class: "point", cx: x(point.value), cy: y(point.result), r: 2.2 }), this.pointWords(point.value, point.result)));
    for (const each of shown.failed) parts.push(cross(x(each.value), HEIGHT - 8, `${this.valueWords(each.value)}: ${each.message}`));
    const { least } = shown;
    if (least !== null) parts.push(titled(draw("circle", { class: "least", cx: x(least.value), cy: y(least.result), r: 5 }), `least: ${this.pointWords(least.value, least.result)}`));
    this.svg.replaceChildren(...parts, this.now);
    this.svg.classList.toggle("stale", data.stale || shown !== data);
    this.leastButton.disabled = least === null;
    this.showNow();
  }

  /** The line at the present value, and what the curve says there: all that changes while the slider moves. */
  private showNow(): void {
    const { shown } = this;
    if (shown === null || this.width === 0) return;
    const range = this.range();
    if (range.low !== this.drawnRange?.low || range.high !== this.drawnRange.high) return this.drawing.request();
    const now = this.desk.value(this.name);
    const place = placeX(now, range, this.width).toFixed(1);
    write(this.now, null, { x1: place, x2: place });
    this.say(shown, now);
  }

  /** The curve that is drawn: the old one until the new one has a few points. */
  private get shown(): ResponseData | null {
    return this.data === null || this.data.points.length >= 3 || this.previous === null ? this.data : this.previous;
  }

  private say(shown: ResponseData, now: number): void {
    const { least, failed, points } = shown;
    const words = [
      points.length === 0 && failed.length === 0 ? "The runs are on their way." : `${points.length + failed.length} runs`,
      ...(least === null ? [] : [`least ${withPrefix(least.result, prettyUnit(this.unit))} at ${this.valueWords(least.value)}`]),
      ...(Number.isFinite(shown.at(now)) ? [`now ${withPrefix(shown.at(now), prettyUnit(this.unit))}`] : []),
      ...(failed.length > 0 ? [`✕ ${failed.length} failed (${failed[0]!.message})`] : []),
    ].join(" · ");
    write(this.words, words);
    write(this.svg, null, { "aria-label": `${this.topic.of} over ${this.name}: ${words}` });
  }

  private valueWords(value: number): string {
    const unit = firstUnit(this.desk.find(this.name)?.unit ?? "");
    return `${formatNumber(value * unit.factor)} ${prettyUnit(unit.unit)}`.trim();
  }

  private pointWords(value: number, result: number): string {
    return `${withPrefix(result, prettyUnit(this.unit))} at ${this.valueWords(value)}`;
  }
}

function placeX(value: number, range: NumberRange, width: number): number {
  return SIDE + (placeOf(value, range) / SLIDER_STEPS) * (width - 2 * SIDE);
}

function room(low: number, high: number): [number, number] {
  if (!(low <= high)) return [0, 1];
  const span = Math.max(high - low, 1e-3 * Math.max(Math.abs(low), Math.abs(high)), 1e-300);
  const middle = (low + high) / 2;
  return [middle - 0.58 * span, middle + 0.62 * span];
}

/** Digits that tell the lines of a range apart. */
function tickDigits(low: number, high: number): number {
  const size = Math.max(Math.abs(low), Math.abs(high));
  return Math.min(7, Math.max(3, 1 + Math.ceil(Math.log10(size / (high - low)) + 0.5)));
}

function cross(x: number, y: number, words: string): SVGElement {
  const path = `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x + 4} ${y - 4}L${x - 4} ${y + 4}`;
  return titled(draw("path", { class: "failed", d: path }), words);
}
