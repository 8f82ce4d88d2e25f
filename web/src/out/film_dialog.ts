// The dialog of films: format, size, pictures for a second, span, speed; then progress, and a way to stop.

import type { PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { FilmError, type FilmFormat, type FilmOrder, findCodec, makeFilm, refusal } from "./film";
import { RATES, SIZES, evenSize, findFault, pictureCount } from "./film_times";
import { fileName, saveFile } from "../plots/plot_files";
import { sizeWords } from "./size_words";
import { type PaintedView, drawStage } from "./stage_pictures";

/** A film of the stage as the camera stands now; time does not follow the clock while it is made. */
export function makeStageFilm(
  context: PlayerContext, view: PaintedView, order: FilmOrder, caption: boolean, progress: (share: number) => void, signal: AbortSignal,
): Promise<Blob> {
  context.clock.pause();
  const painter = view.painter(order.width, order.height, false);
  return makeFilm(order, (t, pen) => drawStage(context, painter, t, pen, caption), progress, signal).finally(() => painter.end());
}

interface Fields {
  format: HTMLSelectElement;
  size: HTMLSelectElement;
  rate: HTMLSelectElement;
  from: HTMLInputElement;
  to: HTMLInputElement;
  speed: HTMLInputElement;
  caption: HTMLInputElement;
}

export class FilmDialog {
  readonly element = make("dialog", { class: "film-dialog", "aria-label": "Save a film" });
  private readonly fields: Fields;
  private readonly words = make("p", { class: "film-words", role: "status", "aria-live": "polite" });
  private readonly bar = make("progress", { max: "1", value: "0", "aria-label": "Pictures made" });
  private readonly start = make("button", { type: "submit", class: "main" }, "Make the film");
  private readonly cancel = make("button", { type: "button" }, "Close");
  private readonly context: PlayerContext;
  private readonly view: () => PaintedView | null;
  private stop: AbortController | null = null;
  private checks = 0;

  constructor(context: PlayerContext, view: () => PaintedView | null) {
    this.context = context;
    this.view = view;
    this.fields = makeFields();
    const form = make("form", { method: "dialog" }, make("h2", {}, "Film"), ...this.rows(), this.words, this.bar,
      make("div", { class: "film-buttons" }, this.cancel, this.start));
    this.bar.hidden = true;
    this.element.append(form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.make();
    });
    form.addEventListener("input", () => void this.check());
    this.cancel.addEventListener("click", () => this.leave());
    this.element.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.leave();
    });
    for (const kind of ["keydown", "keyup"]) this.element.addEventListener(kind, (event) => event.stopPropagation());
  }

  open(format: FilmFormat): void {
    const { clock } = this.context;
    const { fields } = this;
    fields.format.value = format;
    for (const [field, value] of [[fields.from, clock.from], [fields.to, clock.to], [fields.speed, clock.speed]] as const) {
      field.value = String(Number(value.toPrecision(6)));
    }
    this.bar.hidden = true;
    if (!this.element.isConnected) this.context.root.append(this.element);
    this.element.showModal();
    void this.check();
  }

  destroy(): void {
    this.stop?.abort();
    this.element.remove();
  }

  private rows(): HTMLElement[] {
    const { format, size, rate, from, to, speed, caption } = this.fields;
    const row = (words: string, field: HTMLElement, after = ""): HTMLElement => make("label", {}, make("span", {}, words), field, make("span", { class: "muted" }, after));
    return [
      row("Format", format), row("Size", size), row("Pictures", rate, "in a second"), row("From", from, "s of the run"),
      row("To", to, "s of the run"), row("Speed", speed, "s of the run in a second"), row("Name and time", caption, "in the picture"),
    ];
  }

  private order(): FilmOrder {
    const { format, size, rate, from, to, speed } = this.fields;
    const number = (field: HTMLInputElement): number => (field.value.trim() === "" ? NaN : Number(field.value));
    const [width, height] = size.value === "stage" ? this.stageSize() : (size.value.split("x").map(Number) as [number, number]);
    return { format: format.value as FilmFormat, width, height, rate: Number(rate.value), from: number(from), to: number(to), speed: number(speed) };
  }

  private stageSize(): [number, number] {
    const box = this.context.root.querySelector(".stage")!.getBoundingClientRect();
    const ratio = Math.min(2, devicePixelRatio || 1);
    return evenSize(box.width * ratio, box.height * ratio);
  }

  private fault(order: FilmOrder): string {
    const { from, to } = this.context.clock;
    if (order.from < from - 1e-9 || order.to > to + 1e-9) return `The run is known from ${from} to ${to} s.`;
    return findFault(order);
  }

  private async check(): Promise<boolean> {
    const number = ++this.checks;
    const order = this.order();
    let fault = this.fault(order);
    if (fault === "" && (await findCodec(order)) === null) fault = refusal(order.format);
    if (number !== this.checks) return false; // the fields were changed meanwhile: what is said is of their last state
    this.start.disabled = fault !== "" || this.stop !== null;
    this.words.dataset["kind"] = fault === "" ? "note" : "error";
    const count = fault === "" ? pictureCount(order) : 0;
    if (this.stop === null) this.words.textContent = fault || `${count} pictures, ${Number((count / order.rate).toPrecision(3))} s`;
    return fault === "";
  }

  private leave(): void {
    if (this.stop === null) this.element.close();
    else this.stop.abort();
  }

  private async make(): Promise<void> {
    const view = this.view();
    if (view === null || this.stop !== null || !(await this.check())) return;
    const order = this.order();
    this.stop = new AbortController();
    this.busy(true);
    try {
      const progress = (share: number): void => {
        this.bar.value = share;
        this.words.textContent = `${Math.round(100 * share)} %`;
      };
      const film = await makeStageFilm(this.context, view, order, this.fields.caption.checked, progress, this.stop.signal);
      const name = fileName(this.context.main.header.name, order.format);
      saveFile(film, name, this.context.root);
      this.words.textContent = `${name}, ${sizeWords(film.size)}`;
    } catch (error) {
      const stopped = error instanceof DOMException && error.name === "AbortError";
      this.words.dataset["kind"] = stopped ? "note" : "error";
      this.words.textContent = stopped ? "Stopped: no film was written." : error instanceof FilmError ? error.message : `The film could not be made: ${String(error)}`;
    } finally {
      this.stop = null;
      this.busy(false);
    }
  }

  private busy(on: boolean): void {
    this.bar.hidden = !on;
    this.start.disabled = on;
    this.cancel.textContent = on ? "Stop" : "Close";
    for (const field of Object.values(this.fields)) (field as HTMLInputElement).disabled = on;
  }
}

function makeFields(): Fields {
  const choice = (options: [string, string][], chosen: string): HTMLSelectElement => {
    const select = make("select", {}, ...options.map(([value, words]) => make("option", { value }, words)));
    select.value = chosen;
    return select;
  };
  const number = (): HTMLInputElement => make("input", { type: "number", step: "any", required: "" });
  const caption = make("input", { type: "checkbox" });
  caption.checked = true;
  return {
    format: choice([["webm", "WebM"], ["mp4", "MP4 (H.264)"]], "webm"),
    size: choice([["stage", "as shown"], ...SIZES.map(([w, h]): [string, string] => [`${w}x${h}`, `${w} × ${h}`])], "1280x720"),
    rate: choice(RATES.map((rate): [string, string] => [String(rate), String(rate)]), "30"),
    from: number(), to: number(), speed: number(), caption,
  };
}
