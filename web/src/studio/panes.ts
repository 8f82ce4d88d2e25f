// Where the parts of the page stand: beside one another with dividers that are dragged, or behind tabs where the page is narrow.

import { make } from "../ui/elements";

export interface PaneSizes {
  palette: number; // pixels
  side: number;
  run: number; // share of the height
}

const FIRST: PaneSizes = { palette: 216, side: 380, run: 0.45 };
const STORE = "kinode-studio-panes";
const NARROW = 900; // pixels

type DividerName = keyof PaneSizes;

/** Sizes that were chosen before, each within what makes sense. */
export function readSizes(text: string | null): PaneSizes {
  try {
    const given = JSON.parse(text ?? "{}") as Partial<PaneSizes>;
    return limitSizes({ ...FIRST, ...Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === "number" && isFinite(value))) } as PaneSizes, Infinity);
  } catch {
    return { ...FIRST };
  }
}

export function limitSizes({ palette, side, run }: PaneSizes, width: number): PaneSizes {
  const within = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));
  return { palette: within(palette, 0, Math.min(420, 0.4 * width)), side: within(side, 240, Math.max(240, 0.6 * width)), run: within(run, 0, 0.85) };
}

export class Panes {
  readonly element = make("div", { class: "panes" });
  readonly tabs = make("div", { class: "tabs pane-tabs", role: "tablist", "aria-label": "Parts of the studio" });
  private sizes: PaneSizes;
  private shown = "Canvas";
  private readonly parts = new Map<string, HTMLElement>();
  private readonly resized: () => void;
  private readonly observer: ResizeObserver;

  /** Parts by the names of their tabs; those of the side share one place. */
  constructor(parts: Record<"Palette" | "Canvas" | "Run", HTMLElement>, side: HTMLElement, sideNames: string[], resized: () => void) {
    this.resized = resized;
    this.sizes = readSizes(recall());
    for (const [name, part] of Object.entries(parts)) {
      part.classList.add("pane", `pane-${name.toLowerCase()}`);
      this.parts.set(name, part);
    }
    side.classList.add("pane", "pane-side");
    for (const name of sideNames) this.parts.set(name, side);
    this.element.append(
      parts.Palette, this.divider("palette", "vertical", "Width of the palette"), parts.Canvas, this.divider("run", "horizontal", "Height of the run"), parts.Run,
      this.divider("side", "vertical", "Width of the inspector"), side,
    );
    for (const name of this.parts.keys()) this.tabs.append(this.tab(name));
    this.tabs.addEventListener("keydown", (event) => this.moveTab(event));
    this.observer = new ResizeObserver(() => this.lay());
    this.observer.observe(this.element);
    this.lay();
  }

  get narrow(): boolean {
    return this.element.classList.contains("narrow");
  }

  /** Brings a part into view; on a wide page all are, unless they were folded. */
  show(name: string): void {
    if (!this.parts.has(name)) return;
    this.shown = name;
    if (name === "Palette" && this.sizes.palette < 80) this.sizes.palette = FIRST.palette;
    if (name === "Run" && this.sizes.run < 0.1) this.sizes.run = FIRST.run;
    this.lay();
  }

  /** Called when a tab is chosen that belongs to the side. */
  onTab: (name: string) => void = () => {};

  destroy(): void {
    this.observer.disconnect();
  }

  private lay(): void {
    const width = this.element.clientWidth || innerWidth;
    const narrow = width < NARROW;
    this.element.classList.toggle("narrow", narrow);
    this.tabs.hidden = !narrow;
    const { palette, side, run } = limitSizes(this.sizes, width);
    this.element.style.setProperty("--palette", `${Math.round(palette)}px`);
    this.element.style.setProperty("--side", `${Math.round(side)}px`);
    this.element.style.setProperty("--run", `${(100 * run).toFixed(2)}%`);
    for (const part of new Set(this.parts.values())) part.classList.toggle("behind", narrow && part !== this.parts.get(this.shown));
    for (const tab of this.tabs.querySelectorAll("button")) {
      const chosen = tab.dataset["pane"] === this.shown;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    for (const divider of this.element.querySelectorAll<HTMLElement>(".divider")) {
      const value = { palette: (100 * palette) / width, side: (100 * side) / width, run: 100 * run }[divider.dataset["divider"] as DividerName];
      divider.setAttribute("aria-valuenow", String(Math.round(value)));
    }
    this.resized();
  }

  private tab(name: string): HTMLElement {
    const tab = make("button", { type: "button", role: "tab", "data-pane": name, tabindex: "-1" }, name);
    tab.addEventListener("click", () => {
      this.show(name);
      this.onTab(name);
    });
    return tab;
  }

  private moveTab(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const names = [...this.parts.keys()];
    const next = names[(names.indexOf(this.shown) + step + names.length) % names.length]!;
    this.tabs.querySelector<HTMLElement>(`[data-pane="${next}"]`)!.click();
    this.tabs.querySelector<HTMLElement>(`[data-pane="${next}"]`)!.focus();
  }

  private divider(name: DividerName, orientation: "vertical" | "horizontal", words: string): HTMLElement {
    const divider = make("div", {
      class: `divider divider-${name}`, "data-divider": name, role: "separator", tabindex: "0", "aria-orientation": orientation, "aria-label": words,
      "aria-valuemin": "0", "aria-valuemax": "100",
    });
    divider.addEventListener("pointerdown", (event) => this.drag(divider, name, event));
    divider.addEventListener("dblclick", () => this.setSize(name, FIRST[name]));
    divider.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const grows = name === "palette" ? step : -step;
      this.setSize(name, this.sizes[name] + grows * (name === "run" ? 0.04 : 24));
    });
    return divider;
  }

  private drag(divider: HTMLElement, name: DividerName, down: PointerEvent): void {
    down.preventDefault();
    divider.setPointerCapture(down.pointerId);
    const first = limitSizes(this.sizes, this.element.clientWidth)[name];
    const move = (event: PointerEvent): void => {
      const right = event.clientX - down.clientX;
      const below = event.clientY - down.clientY;
      this.setSize(name, name === "palette" ? first + right : name === "side" ? first - right : first - below / this.element.clientHeight);
    };
    const end = (): void => {
      divider.removeEventListener("pointermove", move);
      divider.removeEventListener("pointerup", end);
      divider.removeEventListener("pointercancel", end);
    };
    divider.addEventListener("pointermove", move);
    divider.addEventListener("pointerup", end);
    divider.addEventListener("pointercancel", end);
  }

  private setSize(name: DividerName, value: number): void {
    this.sizes = limitSizes({ ...this.sizes, [name]: value }, this.element.clientWidth);
    keep(JSON.stringify(this.sizes));
    this.lay();
  }
}

function recall(): string | null {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null; // the browser keeps nothing
  }
}

function keep(text: string): void {
  try {
    localStorage.setItem(STORE, text);
  } catch {
    // the browser keeps nothing
  }
}
