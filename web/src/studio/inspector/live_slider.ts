// A number of the file moved while the model runs: the run follows, the text stays until "Keep".

import type { LiveDesk } from "../../live/live_desk";
import { type NumberRange, SLIDER_STEPS, fieldText, firstRange, placeOf, valueAt, widened } from "../../live/number_range";
import { make, write } from "../../ui/elements";
import { prettyUnit } from "../../ui/numbers";

/** A value as the file may have it: in the unit that was typed there if that is SI or none, else in SI. */
export function keptText(value: number, si: string, given: string | null): string {
  const plain = fieldText(value, { unit: si, factor: 1 });
  const bare = given !== null && /^[-+\d.eE]+$/.test(given.trim());
  return bare || si === "" || si === "1" ? plain : `${plain} ${si}`;
}

export class LiveSlider {
  readonly element: HTMLElement;
  private readonly desk: LiveDesk;
  private readonly name: string;
  private readonly slider: HTMLInputElement;
  private readonly shown = make("output", { class: "slider-value" });
  private readonly keep = make("button", { type: "button", class: "keep" }, "Keep");
  private readonly reset = make("button", { type: "button", class: "keep" }, "Reset");
  private range: NumberRange;
  private readonly unit: string;
  private readonly end: () => void;

  constructor(desk: LiveDesk, name: string, keep: (value: number, unit: string) => void) {
    this.desk = desk;
    this.name = name;
    const parameter = desk.find(name)!;
    this.unit = parameter.unit;
    this.range = firstRange({ ...parameter, value: desk.fileValue(name) });
    this.slider = make("input", { type: "range", min: "0", max: String(SLIDER_STEPS), step: "1", "aria-label": `${name}, while it runs`, class: "live-slider" });
    this.element = make("div", { class: "slider-row" }, this.slider, this.shown, this.keep, this.reset);
    this.slider.addEventListener("input", (event) => desk.setValue(name, valueAt(Number(this.slider.value), this.range), event.timeStamp || performance.now()));
    this.keep.title = "Write this value into the model";
    this.keep.addEventListener("click", () => keep(desk.value(name), this.unit));
    this.reset.title = "As in the file";
    this.reset.addEventListener("click", () => desk.reset(name));
    this.end = desk.onNews(({ kind }) => (kind === "values" || kind === "model") && this.show());
    this.show();
  }

  private show(): void {
    if (this.desk.find(this.name) === undefined) return;
    const value = this.desk.value(this.name);
    this.range = widened(this.range, value);
    const place = String(placeOf(value, this.range));
    if (this.slider.value !== place) this.slider.value = place;
    const words = `${fieldText(value, { unit: this.unit, factor: 1 })} ${prettyUnit(this.unit)}`.trim();
    write(this.shown, words);
    write(this.slider, null, { "aria-valuetext": words });
    const changed = this.desk.isChanged(this.name);
    this.keep.hidden = this.reset.hidden = !changed;
  }

  destroy(): void {
    this.end();
  }
}
