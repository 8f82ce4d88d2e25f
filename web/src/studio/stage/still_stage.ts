// The 3D picture of a model at its start: the player's stage with one picture in the place of a run.

import { Clock } from "../../clock";
import type { Packet } from "../../data/packet";
import { type NumberArray, RunDocument, type Vec3 } from "../../data/run_document";
import type { LoadPart, PlayerContext, Selection, ShownRun, Theme } from "../../panel";
import { addStyles } from "../../player";
import { StageView } from "../../scene/stage_view";
import { make } from "../../ui/elements";
import type { StillHeader } from "./place_types";

const GREY = "#aeb7c1";

/** What the stage tells of. */
export interface StillListener {
  chosen(name: string): void;
  say(words: string, kind?: "note" | "error"): void;
}

export class StillStage implements PlayerContext {
  readonly root = make("div", { class: "kinode-player place-root" });
  readonly clock = new Clock();
  readonly live = null;
  theme: Theme;
  selection: Selection = { kind: "none", name: "" };
  loadPart: LoadPart = "total";
  runs: ShownRun[] = [];
  view: StageView | null = null;
  private readonly listener: StillListener;
  private arrays: Map<string, NumberArray> = new Map();
  private tints: ReadonlyMap<string, string> | null = null;
  private gone: RunDocument | null = null;

  constructor(theme: Theme, listener: StillListener) {
    this.theme = theme;
    this.listener = listener;
    this.root.dataset["theme"] = theme;
    this.clock.setSpan(0, 0);
  }

  get main(): RunDocument {
    return this.runs[0]!.document;
  }

  get header(): StillHeader | null {
    return this.runs.length === 0 ? null : (this.main.header as StillHeader);
  }

  /** Shows a scene; bodies of another model are fitted into the picture. */
  setScene({ header, arrays }: Packet): void {
    this.arrays = arrays;
    this.take(new RunDocument(this.tinted(header as StillHeader), arrays));
  }

  /** Shows the same bodies elsewhere. */
  showPoses(poses: NumberArray): void {
    if (this.header === null) return;
    this.take(new RunDocument(this.header, new Map([...this.arrays, ["poses", poses]])));
  }

  /** Colors of bodies by name, in the place of their own; the others are grey. Null: all have their own. */
  setTints(tints: ReadonlyMap<string, string> | null): void {
    this.tints = tints;
    if (this.header !== null) this.take(new RunDocument(this.tinted(this.header), this.arrays));
  }

  /** Bodies that are not in the model, drawn as ghosts. */
  setGone(gone: RunDocument | null): void {
    this.gone = gone;
    if (this.runs.length > 0) this.take(this.main);
  }

  clear(): void {
    this.view?.destroy();
    this.view = null;
    this.runs = [];
  }

  select(selection: Selection): void {
    this.setSelection(selection);
    this.listener.chosen(selection.name);
  }

  setSelection(selection: Selection): void {
    if (selection.kind === this.selection.kind && selection.name === this.selection.name) return;
    this.selection = selection;
    this.view?.selectionChanged();
  }

  setLoadPart(part: LoadPart): void {
    this.loadPart = part;
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.root.dataset["theme"] = theme;
    this.view?.themeChanged();
  }

  fitted(): void {
    this.view?.resized();
  }

  plot(): void {}

  show(): void {}

  say(words: string, kind: "note" | "error" = "note"): void {
    this.listener.say(words, kind);
  }

  /** A place on the screen of a point of a body; the world is row -1. */
  pointOf(row: number, at: Vec3): Vec3 {
    return this.view!.drawing.poses.point(row, at);
  }

  destroy(): void {
    this.clear();
  }

  private tinted(header: StillHeader): StillHeader {
    const { tints } = this;
    return { ...header, bodies: header.bodies.map(({ tint: _, ...body }) => ({ ...body, ...(tints === null ? {} : { tint: tints.get(body.name) ?? GREY }) })) };
  }

  private take(document: RunDocument): void {
    const first = this.view === null;
    this.runs = [{ document, role: "main", label: "" }, ...(this.gone === null ? [] : [{ document: this.gone, role: "removed" as const, label: "" }])];
    if (first) {
      addStyles(this.root);
      this.view = new StageView(this);
      this.root.prepend(this.view.element);
      this.view.resized();
      this.view.selectionChanged();
    } else this.view!.setRuns();
  }
}
