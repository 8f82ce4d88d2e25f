// The stage of the player: the 3D view, or the diagram of a model without bodies, or a sentence where there is no WebGL.

import type { Vec3 } from "../data/run_document";
import type { Panel, PlayerContext, Selection } from "../panel";
import { make } from "../ui/elements";
import type { ViewChoice } from "./camera_rig";
import { NOTHING, type Pick } from "./picking";
import { makeStillView } from "./still_view";
import { StageView } from "./stage_view";

/** What others may do with the stage. */
export interface Stage extends Panel {
  /** The 3D view, or null where a model has no bodies or the browser no WebGL. */
  readonly view: StageView | null;
  readonly canvas: HTMLCanvasElement | null;
  /** Something else than the run is shown: a mode that swings. */
  taken: boolean;
  /** Where a point of the world is, in CSS pixels from the upper left corner of the canvas. */
  projectPoint(world: Vec3): { x: number; y: number; visible: boolean };
  setView(choice: ViewChoice): void;
  /** Draws the picture of a time at once. */
  renderNow(t: number): void;
  /** Fewer pixels while numbers move, where the processor draws. */
  setQuick(on: boolean): void;
  /** A picture of the present time in a size of its own, names included. */
  snapshot(width: number, height: number): Promise<Blob>;
  /** What is at a place of the canvas. */
  pickAt(x: number, y: number): Pick;
}

class StagePanel implements Stage {
  readonly element = make("section", { "aria-label": "3D" });
  readonly title = "3D";
  view: StageView | null = null;
  taken = false;
  private still: Panel | null = null;
  private readonly context: PlayerContext;

  constructor(context: PlayerContext) {
    this.context = context;
    this.build();
  }

  get canvas(): HTMLCanvasElement | null {
    return this.view?.canvas ?? null;
  }

  projectPoint(world: Vec3): { x: number; y: number; visible: boolean } {
    return this.view?.projectPoint(world) ?? { x: NaN, y: NaN, visible: false };
  }

  setView(choice: ViewChoice): void {
    this.view?.setView(choice);
  }

  renderNow(t: number): void {
    this.view?.renderNow(t);
  }

  setQuick(on: boolean): void {
    this.view?.setQuick(on);
  }

  drawNow(): void {
    if (!this.taken) this.view?.renderNow(this.context.clock.t);
  }

  wantedSeries(): string[] | null {
    return this.view === null ? null : [];
  }

  snapshot(width: number, height: number): Promise<Blob> {
    if (this.view === null) return Promise.reject(new Error("there is no 3D picture of this model"));
    return this.view.snapshot(width, height);
  }

  pickAt(x: number, y: number): Pick {
    return this.view?.pickAt(x, y) ?? NOTHING;
  }

  setRuns(): void {
    if (this.hasBodies !== (this.view !== null) && !this.noWebGL) this.build();
    else (this.view ?? this.still)?.setRuns();
  }

  selectionChanged(): void {
    (this.view ?? this.still)?.selectionChanged?.();
  }

  light(lit: Selection | null): void {
    this.view?.selectionChanged(lit);
  }

  themeChanged(): void {
    (this.view ?? this.still)?.themeChanged?.();
  }

  resized(): void {
    (this.view ?? this.still)?.resized?.();
  }

  destroy(): void {
    this.view?.destroy();
    this.still?.destroy();
    this.view = null;
    this.still = null;
  }

  private noWebGL = false;

  private get hasBodies(): boolean {
    return this.context.main.header.bodies.length > 0 && this.context.main.count > 0;
  }

  private build(): void {
    this.destroy();
    this.element.replaceChildren();
    if (!this.hasBodies) this.still = makeStillView(this.context, "");
    else {
      try {
        this.view = new StageView(this.context);
      } catch (error) {
        this.noWebGL = true;
        const why = error instanceof Error ? error.message : String(error);
        this.still = makeStillView(this.context, `This browser shows no 3D (${why}). Plots, loads and tables work as usual.`);
      }
    }
    this.element.append((this.view ?? this.still!).element);
  }
}

export function makeStage(context: PlayerContext): Stage {
  return new StagePanel(context);
}
