// The circuit diagram: values on its links at the cursor, power as moving dots, nets that light up.

import type { DiagramData, RunDocument } from "../data/run_document";
import type { Panel, PlayerContext, Selection } from "../panel";
import { button, make } from "../ui/elements";
import { keyOf, litWith, prepareItems, type DiagramItem } from "./diagram_items";
import { DiagramWindow } from "./diagram_window";
import { DotLayer } from "./dot_layer";
import { plottable } from "./link_reader";
import { dotWorth, energyText, referencePower } from "./power_flow";
import { StickerLayer, type StickerMode } from "./sticker_layer";
import { boxRows, spoken, ValueBox, type Target } from "./value_box";

const ZOOM = 1.3;

class DiagramView implements Panel {
  readonly element = make("div", { class: "diagram-view" });
  readonly title = "Circuit";
  private readonly context: PlayerContext;
  private readonly sheet = make("div", { class: "diagram-sheet", role: "group", "aria-label": "Circuit diagram: arrow keys go from part to part" });
  private readonly worth = make("span", { class: "worth" });
  private readonly keys = make("div", { class: "diagram-keys" });
  private readonly box = new ValueBox();
  private readonly stickers = new StickerLayer();
  private readonly dots = new DotLayer(make("canvas", { "aria-hidden": "true" }));
  private readonly window: DiagramWindow;
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");
  private readonly ends: (() => void)[] = [];
  private svg: SVGSVGElement | null = null;
  private items: DiagramItem[] = [];
  private data: DiagramData | null = null;
  private mode: StickerMode = "values";
  private hovered: DiagramItem | null = null;
  private place: [number, number] = [0, 0];
  private last = 0;
  private color = "";

  constructor(context: PlayerContext) {
    this.context = context;
    this.window = new DiagramWindow(this.sheet, () => this.windowChanged());
    this.element.append(this.tools(), this.sheet, this.keys);
    this.sheet.append(this.dots.canvas, this.stickers.svg, this.box.element);
    this.sheet.addEventListener("pointermove", this.pointed);
    this.sheet.addEventListener("pointerleave", () => this.hover(null));
    this.sheet.addEventListener("click", this.clicked);
    this.sheet.addEventListener("focusin", this.focused);
    this.sheet.addEventListener("focusout", () => this.hover(null));
    this.sheet.addEventListener("keydown", this.pressed);
    this.last = context.clock.t;
    this.ends.push(context.clock.onTime((t) => this.moved(t)), context.clock.onState(() => this.update()));
    this.setRuns();
  }

  setRuns(): void {
    const data = this.context.main.header.diagram;
    if (data === null) return;
    if (data.svg !== this.data?.svg) this.build(data);
    else this.data = data;
    this.showRun();
  }

  /** The values of the present run, if they are seen. */
  private showRun(): void {
    if (this.data === null || this.element.hidden) return;
    const powers = this.data.links.flatMap((link) => link.powers);
    this.dots.reference = referencePower(this.context.main, powers);
    this.update();
  }

  selectionChanged(): void {
    this.mark();
  }

  themeChanged(): void {
    this.color = "";
    this.update();
  }

  resized(): void {
    this.window.resized();
    this.showRun();
  }

  destroy(): void {
    for (const end of this.ends) end();
  }

  // -- making ---------------------------------------------------------------------------------------
  private tools(): HTMLElement {
    const values = make("select", { "aria-label": "Values on links" });
    for (const [mode, words] of [["values", "values"], ["power", "power"], ["none", "nothing"]] as const) {
      values.append(make("option", { value: mode }, words));
    }
    values.addEventListener("change", () => {
      this.mode = values.value as StickerMode;
      this.stickers.setLinks(this.data?.links ?? [], this.data?.components ?? [], this.mode);
      this.update();
    });
    const dots = make("input", { type: "checkbox" });
    dots.checked = true;
    dots.addEventListener("change", () => {
      this.dots.shown = dots.checked;
      this.update();
    });
    const zoom = make("span", { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("−", "Smaller", () => this.window.zoom(1 / ZOOM)), button("+", "Larger", () => this.window.zoom(ZOOM)),
      button("Fit", "Whole diagram", () => this.window.fit()));
    this.worth.title = "Dots that pass, times this energy, are the energy that flows through a link; their sums are those of the energy audit.";
    return make("div", { class: "diagram-tools", role: "toolbar", "aria-label": "Circuit" }, zoom,
      make("label", {}, "On links:", values), make("label", {}, dots, "power as dots"), this.worth);
  }

  /** A new picture; zoom, pan and choices stay. */
  private build(data: DiagramData): void {
    const first = this.data === null;
    this.data = data;
    this.window.extent = data.extent;
    const holder = new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement;
    const svg = document.importNode(holder, true) as unknown as SVGSVGElement;
    svg.setAttribute("role", "group");
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    this.svg?.remove();
    this.svg = svg;
    this.hovered = null;
    this.items = prepareItems(svg, data);
    this.stickers.setLinks(data.links, data.components, this.mode);
    this.sheet.prepend(svg);
    this.dots.setLinks(data.links);
    this.explainLines(data);
    if (first) this.window.fit();
    else this.windowChanged();
    this.mark();
  }

  private explainLines(data: DiagramData): void {
    const words = { vector: "vector link: v, ω | F, M", energy: "energy link", information: "information" };
    const kinds = (["vector", "energy", "information"] as const).filter((kind) => data.links.some((link) => link.kind === kind));
    this.keys.replaceChildren(...kinds.map((kind) => make("span", {}, make("i", { class: kind }), words[kind])));
  }

  // -- showing --------------------------------------------------------------------------------------
  private get visible(): boolean {
    return this.sheet.clientWidth > 0;
  }

  private moved(t: number): void {
    const step = t - this.last;
    this.last = t;
    if (!this.visible) return;
    this.dots.moving = !this.calm.matches;
    const run = this.context.main;
    this.dots.advance(run, run.locate(t), step, this.context.clock.speed);
    this.update();
  }

  private update(): void {
    if (!this.visible || this.data === null) return;
    const run: RunDocument = this.context.main;
    const cursor = run.locate(this.context.clock.t);
    this.stickers.update(run, cursor);
    if (this.color === "") this.color = getComputedStyle(this.element).getPropertyValue("--dot").trim() || "#d97706";
    const still = this.calm.matches || !this.context.clock.playing;
    this.dots.draw(run, cursor, this.window.view, this.color, still);
    const worth = energyText(dotWorth(this.dots.reference, this.context.clock.speed));
    const text = this.dots.reference > 0 ? `one dot: ${worth}` : "no power flows";
    if (this.worth.textContent !== text) this.worth.textContent = text;
    this.worth.hidden = !this.dots.shown;
    this.fillBox();
  }

  private windowChanged(): void {
    if (this.svg === null || !this.visible) return;
    const { x, y, scale } = this.window.view;
    const box = `${x} ${y} ${this.sheet.clientWidth / scale} ${this.sheet.clientHeight / scale}`;
    for (const svg of [this.svg, this.stickers.svg]) {
      svg.setAttribute("viewBox", box);
      svg.setAttribute("preserveAspectRatio", "xMinYMin meet");
    }
    this.update();
  }

  private fillBox(): void {
    if (this.hovered === null || this.data === null) return this.box.hide();
    const rows = boxRows(this.hovered.target, this.data, this.context.runs, this.context.clock.t);
    this.box.show(this.hovered.target, rows, this.context.runs);
    this.box.place(...this.place, this.sheet.clientWidth, this.sheet.clientHeight);
  }

  // -- pointing and choosing --------------------------------------------------------------------------
  private itemAt(event: Event): DiagramItem | null {
    const element = (event.target as Element).closest("g.link[data-name], g.component[data-name]");
    return this.items.find((item) => item.element === element) ?? null;
  }

  private hover(item: DiagramItem | null): void {
    if (item !== this.hovered) {
      this.hovered = item;
      const lit = item === null || this.data === null ? new Set<string>() : litWith(item.target, this.data);
      for (const each of this.items) each.element.classList.toggle("lit", lit.has(keyOf(each.target)));
    }
    this.fillBox();
  }

  private readonly pointed = (event: PointerEvent): void => {
    const box = this.sheet.getBoundingClientRect();
    this.place = [event.clientX - box.left, event.clientY - box.top];
    this.hover(event.buttons === 0 ? this.itemAt(event) : null);
  };

  private readonly focused = (event: FocusEvent): void => {
    const item = this.itemAt(event);
    if (item === null || this.data === null || !item.element.matches(":focus-visible")) return;
    this.window.reveal(item.at);
    this.place = this.window.pixels(item.at);
    this.hover(item);
    const rows = boxRows(item.target, this.data, this.context.runs, this.context.clock.t);
    item.element.setAttribute("aria-label", spoken(item.target, rows));
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    const item = this.itemAt(event);
    if (item === null) return;
    if (event.key === "Enter" || event.key === " ") this.choose(item.target);
    else {
      const step = ["ArrowRight", "ArrowDown"].includes(event.key) ? 1 : ["ArrowLeft", "ArrowUp"].includes(event.key) ? -1 : 0;
      if (step === 0) return;
      const next = this.items[(this.items.indexOf(item) + step + this.items.length) % this.items.length]!;
      item.element.setAttribute("tabindex", "-1");
      next.element.setAttribute("tabindex", "0");
      next.element.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };

  private readonly clicked = (event: MouseEvent): void => {
    const item = this.itemAt(event);
    if (item !== null && !this.window.dragged) this.choose(item.target);
  };

  private choose(target: Target): void {
    const run = this.context.main;
    if ("link" in target) {
      this.context.select({ kind: "link", name: target.link.name });
      this.plot(plottable(run, target.link.values.length > 0
        ? target.link.values.map((value) => value.series)
        : target.link.powers.map((power) => power.series)));
      return;
    }
    const { name, owner, series } = target.component;
    const kind = kindOf(run, name);
    this.context.select({ kind: kind ?? "element", name: kind === null && run.header.joints.some((joint) => joint.name === owner) ? name : owner });
    if (kind !== "joint" && kind !== "body") this.plot(plottable(run, series));
  }

  private plot(names: string[]): void {
    if (names.length > 0) this.context.plot(names);
    else this.context.say("The run holds no values of it");
  }

  private mark(): void {
    for (const item of this.items) item.element.classList.toggle("selected", isChosen(item.target, this.context.selection));
  }
}

function kindOf(run: RunDocument, name: string): "joint" | "body" | null {
  if (run.header.joints.some((joint) => joint.name === name)) return "joint";
  return run.header.bodies.some((body) => body.name === name) ? "body" : null;
}

function isChosen(target: Target, selection: Selection): boolean {
  if ("link" in target) return selection.kind === "link" && selection.name === target.link.name;
  return selection.kind !== "link" && selection.kind !== "none" && selection.name === target.component.name;
}

/** The circuit diagram, beside the mechanism or in the place of it where there are no bodies. */
export function makeDiagramView(context: PlayerContext): Panel {
  return new DiagramView(context);
}
