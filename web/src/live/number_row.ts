// One number: slider, field with unit, range, reset; under it the response curve.

import type { ParameterData } from "../data/run_document";
import type { PlayerContext } from "../panel";
import type { ShownUnit } from "../plots/unit_choice";
import { make, write } from "../ui/elements";
import { prettyUnit } from "../ui/numbers";
import type { LiveDesk } from "./live_desk";
import { NumberError, type NumberRange, SLIDER_STEPS, fieldText, firstRange, firstUnit, makeRange, numberUnits, placeOf, readNumber, valueAt, widened } from "./number_range";
import { type ResponseTopic, ResponseView } from "./response_view";

export class NumberRow {
  readonly element: HTMLElement;
  readonly parameter: ParameterData;
  private readonly context: PlayerContext;
  private readonly desk: LiveDesk;
  private readonly topic: ResponseTopic;
  private range: NumberRange;
  private unit: ShownUnit;
  private readonly slider: HTMLInputElement | null;
  private readonly field = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", class: "number-field" });
  private readonly ends: { low: HTMLInputElement; high: HTMLInputElement };
  private readonly reset = make("button", { type: "button", class: "icon-button", title: "As in the file" }, "↺");
  private readonly curve = make("button", { type: "button", class: "icon-button", title: "Response curve: a peak of the run over this range", "aria-expanded": "false" }, "∿");
  private readonly wrong = make("p", { class: "row-error", role: "alert", hidden: "" });
  private response: ResponseView | null = null;

  constructor(context: PlayerContext, desk: LiveDesk, topic: ResponseTopic, parameter: ParameterData, shortName: string) {
    this.context = context;
    this.desk = desk;
    this.topic = topic;
    this.parameter = parameter;
    this.range = this.firstRange();
    this.unit = firstUnit(parameter.unit);
    const { name } = parameter;
    const structural = parameter.structural !== "";
    this.slider = structural ? null : make("input", { type: "range", min: "0", max: String(SLIDER_STEPS), step: "1", "aria-label": name, class: "number-slider" });
    this.ends = { low: this.endField("low", "Least of the range of"), high: this.endField("high", "Greatest of the range of") };
    this.field.setAttribute("aria-label", `${name}, ${prettyUnit(this.unit.unit) || "number"}`);
    for (const each of [this.reset, this.curve]) each.setAttribute("aria-label", `${each.title}: ${name}`);
    const label = make("span", { class: "row-name", title: [name, parameter.words].filter((text) => text !== "").join(": ") }, shortName);
    const head = make("div", { class: "row-head" }, label, this.field, this.unitChoice(), this.reset);
    this.element = make("div", { class: "number-row", "data-number": name }, head);
    if (this.slider !== null) {
      head.append(this.curve);
      this.element.append(make("div", { class: "row-slide" }, this.ends.low, this.slider, this.ends.high));
    } else {
      head.append(this.applyButton());
      this.element.append(make("p", { class: "row-note" }, `compiles anew: ${parameter.structural}`));
    }
    this.element.append(this.wrong);
    this.listen();
    this.show();
  }

  get name(): string {
    return this.parameter.name;
  }

  get isOpen(): boolean {
    return this.response !== null;
  }

  /** The number in force, into slider and field; what is being typed stays. */
  show(): void {
    const value = this.desk.value(this.name);
    this.range = widened(this.range, value);
    if (this.slider !== null) {
      const place = String(placeOf(value, this.range));
      if (this.slider.value !== place) this.slider.value = place;
      write(this.slider, null, { "aria-valuetext": `${fieldText(value, this.unit)} ${prettyUnit(this.unit.unit)}` });
    }
    writeField(this.field, fieldText(value, this.unit));
    for (const end of ["low", "high"] as const) writeField(this.ends[end], fieldText(this.range[end], this.unit));
    const changed = this.desk.isChanged(this.name);
    this.element.classList.toggle("changed", changed);
    this.reset.disabled = !changed;
  }

  refuse(message: string): void {
    this.wrong.textContent = message;
    this.wrong.hidden = message === "";
    this.field.setAttribute("aria-invalid", String(message !== ""));
  }

  openCurve(open: boolean): void {
    if (this.slider === null || open === (this.response !== null)) return;
    this.curve.setAttribute("aria-expanded", String(open));
    if (open) {
      this.response = new ResponseView(this.context, this.desk, this.topic, this.name, () => this.range);
      this.element.append(this.response.element);
    } else {
      this.response!.destroy();
      this.response = null;
    }
  }

  resized(): void {
    this.response?.redraw();
  }

  destroy(): void {
    this.response?.destroy();
    this.response = null;
  }

  private firstRange(): NumberRange {
    return firstRange({ ...this.parameter, value: this.desk.fileValue(this.name) }, this.context.main.header.size);
  }

  private listen(): void {
    this.slider?.addEventListener("input", (event) => {
      const value = valueAt(Number(this.slider!.value), this.range);
      this.refuse("");
      this.desk.setValue(this.name, value, event.timeStamp > 0 ? event.timeStamp : performance.now());
    });
    this.field.addEventListener("change", () => this.take());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.take();
      else if (event.key === "Escape") this.leaveField();
      else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && this.slider !== null) this.nudge(event.key === "ArrowUp" ? 1 : -1, event);
    });
    this.reset.addEventListener("click", () => {
      this.refuse("");
      this.range = this.firstRange();
      this.desk.reset(this.name);
    });
    this.curve.addEventListener("click", () => this.openCurve(this.response === null));
    for (const end of ["low", "high"] as const) this.ends[end].addEventListener("change", () => this.takeEnd(end));
  }

  private take(): void {
    try {
      const value = readNumber(this.field.value, this.parameter.unit, this.unit);
      this.refuse("");
      if (value !== this.desk.value(this.name)) this.desk.setValue(this.name, value);
      this.field.value = fieldText(value, this.unit);
    } catch (error) {
      this.refuse(error instanceof NumberError ? error.message : String(error));
    }
  }

  private leaveField(): void {
    this.field.value = fieldText(this.desk.value(this.name), this.unit);
    this.refuse("");
    this.field.blur();
  }

  /** A hundredth of the range up or down from the field. */
  private nudge(direction: 1 | -1, event: KeyboardEvent): void {
    event.preventDefault();
    const place = placeOf(this.desk.value(this.name), this.range) + direction * (SLIDER_STEPS / 100);
    const value = valueAt(place, this.range);
    this.desk.setValue(this.name, value);
    this.field.value = fieldText(value, this.unit);
  }

  private takeEnd(end: "low" | "high"): void {
    try {
      const value = readNumber(this.ends[end].value, this.parameter.unit, this.unit);
      const low = end === "low" ? value : this.range.low;
      const high = end === "high" ? value : this.range.high;
      if (!(high > low)) throw new NumberError("The range must grow from left to right.");
      this.range = makeRange(low, high);
      this.refuse("");
      this.show();
      this.response?.rangeChanged();
    } catch (error) {
      this.refuse(error instanceof NumberError ? error.message : String(error));
      this.ends[end].value = fieldText(this.range[end], this.unit);
    }
  }

  private endField(end: "low" | "high", words: string): HTMLInputElement {
    return make("input", { type: "text", inputmode: "decimal", autocomplete: "off", class: `range-end ${end}`, "aria-label": `${words} ${this.parameter.name}` });
  }

  private applyButton(): HTMLElement {
    const apply = make("button", { type: "button", class: "tool" }, "Apply");
    apply.setAttribute("aria-label", `Apply ${this.name}, compiles anew`);
    apply.addEventListener("click", () => this.take());
    return apply;
  }

  private unitChoice(): HTMLElement {
    const units = numberUnits(this.parameter.unit);
    if (units.length === 1) return make("span", { class: "row-unit muted" }, prettyUnit(this.unit.unit === "1" ? "" : this.unit.unit));
    const select = make("select", { class: "row-unit", "aria-label": `Unit of ${this.name}` },
      ...units.map(({ unit }) => make("option", { value: unit }, prettyUnit(unit))));
    select.value = this.unit.unit;
    select.addEventListener("change", () => {
      this.unit = units.find((each) => each.unit === select.value) ?? this.unit;
      this.show();
    });
    return select;
  }
}

/** What is being typed stays. */
function writeField(field: HTMLInputElement, text: string): void {
  if (field.value !== text && !isFocused(field)) field.value = text;
}

function isFocused(element: HTMLElement): boolean {
  const root = element.getRootNode();
  return (root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null) === element;
}
