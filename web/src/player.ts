// The player: one stage, panels beside it, the time bar below. mount() puts it into an element.

import { Clock } from "./clock";
import type { RunDocument } from "./data/run_document";
import diagramStyles from "./diagram/diagram.css?inline";
import type { LiveLink, LoadPart, Panel, PanelMaker, PlayerContext, Selection, ShownRun, Theme } from "./panel";
import type { FilmOrder } from "./out/film";
import { type FilmRequest, requestFilm } from "./out/film_request";
import outStyles from "./out/out.css?inline";
import { type SaveMenu, makeSaveMenu } from "./out/save_menu";
import liveStyles from "./live/live.css?inline";
import { PANELS, STAGE, TIME_BAR } from "./panel_table";
import equationStyles from "./panels/equations.css?inline";
import panelStyles from "./panels/panels.css?inline";
import styles from "./player.css?inline";
import plotStyles from "./plots/plots.css?inline";
import sceneStyles from "./scene/scene.css?inline";
import { make } from "./ui/elements";
import { allDrawn } from "./ui/frame_task";
import { addKeys } from "./ui/keys";
import chartStyles from "uplot/dist/uPlot.min.css?inline";

export interface PlayerOptions {
  theme?: Theme | "auto";
  live?: LiveLink | null;
  /** Names of panels to leave out. */
  without?: string[];
  /** Height in CSS units, for notebooks and reports. */
  height?: string;
  autoplay?: boolean;
}

export class Player implements PlayerContext {
  readonly root: HTMLElement;
  readonly clock = new Clock();
  readonly live: LiveLink | null;
  selection: Selection = { kind: "none", name: "" };
  loadPart: LoadPart = "total";
  theme: Theme = "light";
  stage!: Panel;
  bar!: Panel;
  panels = new Map<string, Panel>();
  private shown: ShownRun[];
  private tabs!: HTMLElement;
  private side!: HTMLElement;
  private head!: HTMLElement;
  private saveMenu!: SaveMenu;
  private open = "";
  private without: string[] = [];
  private readonly notice: HTMLElement;
  private readonly observer: ResizeObserver;
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly wantedTheme: Theme | "auto";
  private readonly endKeys: () => void;

  constructor(host: HTMLElement, runs: ShownRun[], options: PlayerOptions = {}) {
    this.shown = runs;
    this.live = options.live ?? null;
    this.wantedTheme = options.theme ?? "auto";
    this.root = make("div", { class: "kinode-player", role: "application", "aria-label": this.label(), tabindex: "0" });
    if (options.height) this.root.style.height = options.height;
    this.notice = make("div", { class: "notice", role: "status", "aria-live": "polite" });
    addStyles(host);
    host.append(this.root);
    this.findTheme();
    this.setSpan(true);
    this.build(options.without ?? []);
    this.endKeys = addKeys(this);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.root);
    this.scheme.addEventListener("change", this.themeChanged);
    if (options.autoplay ?? !matchMedia("(prefers-reduced-motion: reduce)").matches) this.clock.play();
  }

  get runs(): readonly ShownRun[] {
    return this.shown;
  }

  get main(): RunDocument {
    return this.shown[0]!.document;
  }

  /**
   * New runs in the place of the old ones; time, camera, zoom and choices stay. The stage comes first: the picture is
   * drawn while the panels follow.
   */
  setRuns(runs: ShownRun[]): void {
    this.shown = runs;
    this.setSpan(false);
    this.stage.setRuns();
    this.stage.drawNow?.();
    this.syncPanels();
    this.bar.setRuns();
    for (const panel of this.panels.values()) panel.setRuns();
  }

  /** The series that others than the panels read, who show the run elsewhere. */
  alsoWanted: () => string[] = () => [];

  /** The series that are read by what is seen now; null if that may be any. */
  get wantedSeries(): string[] | null {
    const shown = [this.stage, this.bar, this.panels.get(this.open)];
    const wanted = [this.alsoWanted(), ...shown.map((panel) => (panel === undefined ? [] : panel.wantedSeries?.() ?? null))];
    return wanted.includes(null) ? null : [...new Set((wanted as string[][]).flat())];
  }

  select(selection: Selection): void {
    this.selection = selection;
    for (const panel of this.everyPanel()) panel.selectionChanged?.();
    this.root.dispatchEvent(new CustomEvent("kinode-select", { detail: selection }));
    if (selection.kind === "joint" && this.panels.has("Joint")) this.show("Joint");
  }

  /** Shows something in 3D as if it were chosen, for as long as it is pointed at elsewhere. */
  light(lit: Selection | null): void {
    (this.stage as Panel & { light?(lit: Selection | null): void }).light?.(lit);
  }

  setLoadPart(part: LoadPart): void {
    this.loadPart = part;
    for (const panel of this.everyPanel()) panel.selectionChanged?.();
    this.clock.seek(this.clock.t);
  }

  plot(names: string[]): void {
    this.show("Plots");
    this.root.dispatchEvent(new CustomEvent("kinode-plot", { detail: names }));
  }

  say(text: string, kind: "note" | "error" = "note"): void {
    this.notice.textContent = text;
    this.notice.dataset["kind"] = kind;
    this.notice.classList.add("shown");
    setTimeout(() => this.notice.classList.remove("shown"), kind === "error" ? 8000 : 3000);
  }

  /** Opens one of the panels beside the stage. */
  show(name: string): void {
    if (!this.panels.has(name)) return;
    this.open = name;
    for (const [key, panel] of this.panels) panel.element.hidden = key !== name;
    for (const tab of this.tabs.querySelectorAll("button")) {
      const chosen = tab.dataset["panel"] === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.panels.get(name)!.resized?.();
  }

  get shownPanel(): string {
    return this.open;
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.root.dataset["theme"] = theme;
    if (this.stage) for (const panel of this.everyPanel()) panel.themeChanged?.();
  }

  /** When all that was asked for is drawn, for programs that drive the page: views follow with the next picture. */
  drawn(): Promise<void> {
    return allDrawn();
  }

  /** A film of the stage, for programs that drive the page. */
  film(order: Partial<FilmOrder>): FilmRequest {
    return requestFilm(this, this.stage, order);
  }

  destroy(): void {
    this.clock.pause();
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.themeChanged);
    this.endKeys();
    this.saveMenu.destroy();
    for (const panel of this.everyPanel()) panel.destroy();
    this.root.remove();
  }

  private build(without: string[]): void {
    this.tabs = make("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
    this.head = make("div", { class: "side-head" }, this.tabs);
    this.side = make("section", { class: "side" }, this.head);
    this.stage = STAGE(this);
    this.stage.element.classList.add("stage");
    this.bar = TIME_BAR(this);
    this.bar.element.classList.add("bar");
    this.without = without;
    this.syncPanels();
    this.tabs.addEventListener("keydown", (event) => this.moveTab(event));
    this.root.append(this.stage.element, this.side, this.bar.element, this.notice);
    this.saveMenu = makeSaveMenu(this);
    this.head.append(this.saveMenu.element);
    const first = this.panels.keys().next().value;
    if (first !== undefined) this.show(first);
    this.resized();
  }

  /** Panels that the runs want and that are not there yet; those that they no longer want go. */
  private syncPanels(): void {
    let before: HTMLElement | null = null;
    for (const [name, maker, wanted] of PANELS) {
      const there = this.panels.get(name);
      const want = !this.without.includes(name) && wanted(this);
      if (there === undefined && want) this.addPanel(name, maker, before);
      else if (there !== undefined && !want) this.removePanel(name, there);
      if (want) before = this.tabs.querySelector<HTMLElement>(`[data-panel="${name}"]`);
    }
  }

  private addPanel(name: string, maker: PanelMaker, before: HTMLElement | null): void {
    const panel = maker(this);
    panel.element.classList.add("panel");
    panel.element.setAttribute("role", "tabpanel");
    panel.element.setAttribute("aria-label", name);
    panel.element.hidden = true;
    this.panels.set(name, panel);
    const tab = make("button", { role: "tab", type: "button", "data-panel": name, tabindex: "-1" }, panel.title);
    tab.addEventListener("click", () => this.show(name));
    if (before === null) this.tabs.prepend(tab);
    else before.after(tab);
    this.side.append(panel.element);
  }

  private removePanel(name: string, panel: Panel): void {
    panel.destroy();
    panel.element.remove();
    this.panels.delete(name);
    this.tabs.querySelector(`[data-panel="${name}"]`)?.remove();
    const first = this.panels.keys().next().value;
    if (this.open === name && first !== undefined) this.show(first);
  }

  private moveTab(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.stopPropagation();
    const names = PANELS.map(([name]) => name).filter((name) => this.panels.has(name));
    const next = names[(names.indexOf(this.open) + step + names.length) % names.length]!;
    this.show(next);
    this.tabs.querySelector<HTMLElement>(`[data-panel="${next}"]`)?.focus();
  }

  private everyPanel(): Panel[] {
    return [this.stage, this.bar, ...this.panels.values()];
  }

  private setSpan(first: boolean): void {
    const spans = this.shown.map((run) => run.document.header.run);
    this.clock.setSpan(Math.min(...spans.map((s) => s.from)), Math.max(...spans.map((s) => s.to)), first);
  }

  private label(): string {
    return `Run of ${this.main.header.name}`;
  }

  private findTheme(): void {
    this.setTheme(this.wantedTheme === "auto" ? (this.scheme.matches ? "dark" : "light") : this.wantedTheme);
  }

  private readonly themeChanged = (): void => {
    if (this.wantedTheme === "auto") this.findTheme();
  };

  private resized(): void {
    const box = this.root.getBoundingClientRect();
    this.root.classList.toggle("narrow", box.width < 760);
    this.stage.resized?.();
    this.bar.resized?.();
    this.panels.get(this.open)?.resized?.();
  }
}

/** The styles, once in the document or shadow root of the host. */
export function addStyles(host: HTMLElement): void {
  const root = host.getRootNode();
  const target = root instanceof ShadowRoot ? root : document.head;
  if (target.querySelector("style[data-kinode]")) return;
  const sheets = [chartStyles, styles, sceneStyles, panelStyles, plotStyles, outStyles, diagramStyles, equationStyles, liveStyles];
  const all = sheets.join("\n");
  target.append(make("style", { "data-kinode": "" }, all));
}

export function mount(host: HTMLElement, documents: RunDocument[], options: PlayerOptions = {}): Player {
  const runs = documents.map((document, k): ShownRun => ({
    document,
    role: k === 0 ? "main" : "pinned",
    label: document.header.label || document.header.name,
  }));
  return new Player(host, runs, options);
}
