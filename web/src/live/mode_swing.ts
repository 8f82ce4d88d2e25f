// A mode in 3D: the bodies swing through one period again and again, about the pose at the cursor, which stays as a ghost.

import type { Player } from "../player";
import type { Stage } from "../scene/stage";
import { type ModeRecord, stillRun, swingRun } from "./mode_data";

const LASTS = 1.6; // s, a period as it is shown

export class ModeSwing {
  private readonly context: Pick<Player, "clock" | "main" | "runs"> & { stage?: unknown };
  private request = 0;
  private began = 0;
  private mode: ModeRecord | null = null;

  constructor(player: Pick<Player, "clock" | "main" | "runs"> & { stage?: unknown }) {
    this.context = player;
  }

  get shown(): ModeRecord | null {
    return this.mode;
  }

  private get stage(): Stage | null {
    const stage = this.context.stage as Stage | undefined;
    return stage?.view ? stage : null;
  }

  /** Shows a mode; false where nothing moves. */
  begin(mode: ModeRecord): boolean {
    const { stage } = this;
    if (stage === null || mode.poses === null) return false;
    const { clock, main } = this.context;
    clock.pause();
    this.mode = mode;
    stage.taken = true;
    const swing = swingRun(main, mode.poses, LASTS);
    stage.view!.drawing.setRuns([
      { document: swing, role: "main", label: "mode" },
      { document: stillRun(main, clock.t, LASTS), role: "pinned", label: "state" },
    ]);
    cancelAnimationFrame(this.request);
    if (this.began === 0) this.began = performance.now();
    this.request = requestAnimationFrame(this.advance);
    return true;
  }

  end(): void {
    if (this.mode === null) return;
    cancelAnimationFrame(this.request);
    this.mode = null;
    this.began = 0;
    const { stage } = this;
    if (stage === null) return;
    stage.taken = false;
    stage.setRuns();
    stage.renderNow(this.context.clock.t);
  }

  private readonly advance = (now: number): void => {
    if (this.mode === null) return;
    this.stage?.renderNow((Math.max(0, now - this.began) / 1000) % LASTS);
    this.request = requestAnimationFrame(this.advance);
  };
}
