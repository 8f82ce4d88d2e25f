// Pulling a body through the freedoms of the mechanism; the pulled position becomes the start, or springs back.

import type { GapData } from "../../messages";
import type { Vec3 } from "../../data/run_document";
import { type Answer } from "../../live/connection";
import { errorWords } from "../../live/live_desk";
import { Newest } from "../../live/newest";
import { conjugate, rotate, subtract } from "../../scene/math/vectors";
import type { StudioContext } from "../studio_types";
import { meetPlane } from "./gizmo_math";
import type { StillStage } from "./still_stage";

interface PullQuestion {
  body: string;
  at: Vec3;
  goal: Vec3;
  anew: boolean;
}

export interface PullHost {
  readonly context: StudioContext;
  readonly stage: StillStage;
  hint(words: string): void;
  /** Something was pulled away from the start. */
  pulled(away: boolean): void;
  gaps(gaps: readonly GapData[]): void;
  /** Shows the start again. */
  reload(): void;
}

const KEY_PIXELS = 6;

export class PullTool {
  away = false;
  private held: { body: string; at: Vec3; point: Vec3 } | null = null;
  private readonly host: PullHost;
  private readonly lane: Newest<PullQuestion, Answer<"place_pull">>;

  constructor(host: PullHost) {
    this.host = host;
    this.lane = new Newest<PullQuestion, Answer<"place_pull">>({
      send: (question) => host.context.document.ask("place_pull", { ...question }),
      done: (answer) => this.answered(answer),
      failed: (error) => {
        this.held = null;
        host.context.say(errorWords(error), "error");
      },
    });
  }

  /** Takes hold of the body under the pointer; false where there is none. */
  grab(x: number, y: number): boolean {
    const { view, header } = this.host.stage;
    const surface = view?.surfaceAt(x, y) ?? null;
    if (view === null || header === null || surface === null) return false;
    const row = header.bodies.findIndex((body) => body.name === surface.body);
    const { poses } = view.drawing;
    this.held = { body: surface.body, at: rotate(conjugate(poses.quaternion(row)), subtract(surface.point, poses.position(row))), point: surface.point };
    this.host.context.select([surface.body], "3D");
    return true;
  }

  /** Where the pointer is, at the depth of the point that is held. */
  to(x: number, y: number): void {
    const { view } = this.host.stage;
    if (this.held === null || view === null) return;
    const { from, along } = view.sightAt(x, y);
    const goal = meetPlane(from, along, this.held.point, rotate(view.rig.quaternion, [0, 0, 1]));
    if (goal !== null) this.ask(this.held.body, this.held.at, goal);
  }

  drop(): void {
    this.held = null;
  }

  get holds(): boolean {
    return this.held !== null;
  }

  /** Pulls the mass center of a body by keys, in the plane of the screen. */
  nudge(body: string, right: number, up: number): void {
    const { view, header } = this.host.stage;
    const row = header?.bodies.findIndex((each) => each.name === body) ?? -1;
    if (view === null || header === null || row < 0) return;
    const at = header.bodies[row]!.com;
    const point = view.drawing.poses.point(row, at);
    const pixel = KEY_PIXELS * view.rig.pixelAt(point);
    const by = rotate(view.rig.quaternion, [right * pixel, up * pixel, 0]);
    this.ask(body, at, [point[0] + by[0], point[1] + by[1], point[2] + by[2]]);
  }

  private ask(body: string, at: Vec3, goal: Vec3): void {
    this.lane.ask({ body, at, goal, anew: !this.away });
    this.away = true;
  }

  /** Writes the pulled position into the text. */
  async startHere(): Promise<void> {
    const { context } = this.host;
    try {
      const { gesture, words } = await context.document.ask("place_start");
      if ((await context.act(gesture)) === null) return;
      context.say(["The model starts here.", words].filter((each) => each !== "").join(" "));
    } catch (error) {
      context.say(errorWords(error), "error");
      return;
    }
    this.forget();
    this.host.reload();
  }

  back(): void {
    this.forget();
    this.host.reload();
  }

  forget(): void {
    this.away = false;
    this.held = null;
    this.host.pulled(false);
  }

  private answered({ header, arrays }: Answer<"place_pull">): void {
    if (!this.away) return;
    const poses = arrays.get("poses");
    if (poses !== undefined) this.host.stage.showPoses(poses);
    this.host.gaps(header.gaps);
    const shown = Object.entries(header.values).slice(0, 6).map(([name, q]) => `${name} ${q.map((value) => Number(value.toPrecision(3))).join(", ")}`);
    this.host.hint([header.words, shown.join("; ")].filter((each) => each !== "").join(": "));
    this.host.pulled(true);
  }
}
