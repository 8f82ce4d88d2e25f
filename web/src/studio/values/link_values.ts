// Potentials and flows of the run on the links of the canvas, at the time of the player; on and off by a key.

import type { PortPlace, SketchLink } from "../../messages";
import type { LinkData, Point } from "../../data/run_document";
import { StickerLayer } from "../../diagram/sticker_layer";
import { draw } from "../../live/svg";
import type { Player } from "../../player";
import type { CanvasModel } from "../canvas/canvas_model";

const STORE = "kinode-studio-values";
const MANY = 40; // links: with more, values are shown when they are asked for
const PAUSE = 100; // ms between new numbers: faster than that nobody reads
const LAG = 250; // ms for lines to settle

/** The links of a run with the lines that they have on the canvas; those that the run does not have are left out. */
export function joinLinks(drawn: Iterable<SketchLink>, known: readonly LinkData[], path: (name: string) => Point[][], at: (place: PortPlace) => Point | null): LinkData[] {
  const byName = new Map(known.map((link) => [link.name, link]));
  const joined: LinkData[] = [];
  for (const { name, kind, ends: own } of drawn) {
    const link = byName.get(name);
    const places = new Set(own.map(({ component, port }) => `${component}:${port}`));
    if (link === undefined || link.kind !== kind || link.ends.length !== own.length || !link.ends.every(({ component, port }) => places.has(`${component}:${port}`))) continue;
    const ends = link.ends.map((end) => ({ ...end, at: at(end) }));
    if (ends.some((end) => end.at === null) || path(name).length === 0) continue;
    joined.push({ ...link, ends: ends as LinkData["ends"], path: path(name) });
  }
  return joined;
}

export class LinkValues {
  readonly element = draw("g", { class: "stickers", "aria-hidden": "true" });
  private readonly layer = new StickerLayer();
  private readonly model: CanvasModel;
  private readonly changed: (on: boolean) => void;
  private player: Player | null = null;
  private endTime: () => void = () => {};
  private links: LinkData[] = [];
  private chosen: boolean | null = recall(); // null: by the number of links
  private timer: ReturnType<typeof setTimeout> | null = null;
  private last = 0;

  constructor(model: CanvasModel, changed: (on: boolean) => void) {
    this.model = model;
    this.changed = changed;
    this.layer.svg.setAttribute("overflow", "visible");
    this.element.append(this.layer.svg);
  }

  get shown(): boolean {
    return this.player !== null && (this.chosen ?? this.model.links.size <= MANY);
  }

  toggle(): boolean {
    this.chosen = !this.shown;
    keep(this.chosen);
    this.place();
    return this.chosen;
  }

  /** The run that is shown; null if there is none. */
  setPlayer(player: Player | null): void {
    if (player !== this.player) {
      this.endTime();
      this.player = player;
      this.endTime = player?.clock.onTime(() => this.moved()) ?? ((): void => {});
      if (player !== null) player.alsoWanted = (): string[] => (this.shown ? this.links.flatMap((link) => link.values.map((value) => value.series)) : []);
    }
    this.place();
  }

  /** Lines have changed: values find their places when these have settled. */
  linesChanged(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.place(), LAG);
  }

  hide(): void {
    this.element.setAttribute("visibility", "hidden");
  }

  destroy(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.endTime();
  }

  private place(): void {
    this.changed(this.shown);
    this.element.setAttribute("visibility", this.shown ? "visible" : "hidden");
    if (!this.shown) return;
    const known = this.player!.main.header.diagram?.links ?? [];
    this.links = joinLinks(this.model.links.values(), known, (name) => this.model.lines.get(name)?.path ?? [], (place) => this.model.portAt(place));
    const boxes = [...this.model.boxes.values()].map((box) => ({ name: box.name, owner: box.owner, role: box.role, kind: box.kind, at: this.model.at(box.name), size: box.size, series: [], references: [] }));
    this.layer.setLinks(this.links, boxes, "values");
    this.update();
  }

  private moved(): void {
    if (!this.shown || performance.now() - this.last < PAUSE) return;
    this.update();
  }

  private update(): void {
    this.last = performance.now();
    const run = this.player!.main;
    this.layer.update(run, run.locate(this.player!.clock.t));
  }
}

function recall(): boolean | null {
  try {
    const kept = localStorage.getItem(STORE);
    return kept === null ? null : kept === "on";
  } catch {
    return null; // the browser keeps nothing
  }
}

function keep(on: boolean): void {
  try {
    localStorage.setItem(STORE, on ? "on" : "off");
  } catch {
    // the browser keeps nothing
  }
}
