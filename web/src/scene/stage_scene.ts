// Everything that is drawn, and its placing at a time: bodies first, marks and arrows over them.

import { Color, Scene } from "three";
import type { RunHeader, Vec3 } from "../data/run_document";
import type { LoadPart, ShownRun, Theme } from "../panel";
import { LoadArrows } from "./arrows";
import type { CameraRig } from "./camera_rig";
import { isSoftware } from "./gl/software";
import { GroundGrid } from "./ground_grid";
import { CenterMarks, FailureMark, FrameTriads } from "./marks";
import { type Framing, findFraming } from "./math/framing";
import { PoseReader } from "./math/poses";
import type { Shown } from "./overlay/toolbar";
import { SolidGeometries, SolidSet } from "./solids";
import { ElementDrawings } from "./springs";
import { JointSymbols, MANY } from "./symbols";
import { Trails } from "./trails";

const LATER = 4; // poses over the run that are drawn ahead of time

interface Ghost {
  solids: SolidSet;
  trails: Trails;
  poses: PoseReader;
}

export class StageScene {
  readonly scene = new Scene();
  readonly over = new Scene(); // drawn last, over the bodies
  readonly arrows = new LoadArrows();
  readonly symbols = new JointSymbols();
  readonly solids: SolidSet;
  poses: PoseReader;
  header: RunHeader;
  private readonly geometries: SolidGeometries;
  private readonly grid = new GroundGrid();
  private readonly elements: ElementDrawings;
  private readonly centers = new CenterMarks();
  private readonly triads = new FrameTriads();
  private readonly failure = new FailureMark();
  private readonly trails = new Trails();
  private ghosts: Ghost[] = [];
  private later: { solids: SolidSet; time: number }[] = [];
  private known: Framing | null = null;
  private dark = false;
  private run: ShownRun;
  private chosenBody = "";

  constructor(runs: readonly ShownRun[]) {
    const many = runs[0]!.document.header.bodies.length > MANY;
    this.geometries = new SolidGeometries(many ? "few" : isSoftware() ? "plain" : "fine");
    this.solids = new SolidSet(this.geometries, "solid");
    this.elements = new ElementDrawings(this.geometries);
    this.scene.add(this.grid.mesh, this.trails.group, this.solids.group, this.elements.group, this.symbols.supports);
    this.over.add(this.symbols.lines, this.symbols.group, this.centers.balls.group, this.triads.group, this.arrows.group, this.failure.ring.group);
    this.run = runs[0]!;
    this.poses = new PoseReader(this.run.document);
    this.header = this.run.document.header;
    this.setRuns(runs);
  }

  /** What the camera frames; found when it is asked for. */
  get framing(): Framing {
    if (this.known === null) {
      const reader = new PoseReader(this.run.document);
      this.known = findFraming(this.run.document, reader);
    }
    return this.known;
  }

  setRuns(runs: readonly ShownRun[]): void {
    this.run = runs[0]!;
    const { document } = this.run;
    this.header = document.header;
    this.known = null;
    this.poses = new PoseReader(document);
    this.poses.read(document.t[0] ?? 0);
    this.solids.setHeader(this.header, this.chosenBody);
    this.symbols.setHeader(this.header, this.poses);
    this.elements.setHeader(this.header, this.poses);
    this.centers.setHeader(this.header);
    this.triads.setHeader(this.header);
    this.trails.setDocument(document);
    this.arrows.setDocument(document);
    this.setGhosts(runs.slice(1));
    this.setLater();
  }

  /** The grid needs the framing, which costs more than the rest: not while a slider is dragged. */
  setGround(): void {
    this.grid.setHeader(this.header, this.framing.points);
  }

  setTheme(theme: Theme, force: string, moment: string): void {
    this.dark = theme === "dark";
    this.arrows.setColors(force, moment);
    for (const each of [this.solids, this.symbols, this.elements, this.grid]) each.setTheme(this.dark);
    for (const { solids } of [...this.ghosts, ...this.later]) solids.setTheme(this.dark);
  }

  setShown(shown: Shown): void {
    this.solids.group.visible = shown.bodies;
    this.solids.setSeeThrough(shown.seeThrough);
    this.symbols.group.visible = shown.joints;
    this.symbols.lines.visible = shown.axes;
    this.symbols.supports.visible = shown.supports;
    this.elements.group.visible = shown.elements;
    this.centers.balls.group.visible = shown.centers;
    this.triads.group.visible = shown.frames;
    this.trails.group.visible = shown.trails;
    this.arrows.shown = { force: shown.force, moment: shown.moment };
    for (const ghost of this.ghosts) {
      ghost.solids.group.visible = shown.compared;
      ghost.trails.group.visible = shown.compared && shown.trails;
    }
    if (shown.later && this.later.length === 0) this.makeLater();
  }

  choose(joint: string, body: string): void {
    this.symbols.choose(joint);
    if (body === this.chosenBody) return;
    this.chosenBody = body;
    this.solids.setHeader(this.header, body);
  }

  /** Moves everything to a time. */
  place(t: number, rig: CameraRig, shown: Shown, part: LoadPart): void {
    const { poses } = this;
    poses.read(t);
    rig.update(poses);
    this.solids.place(poses);
    this.symbols.place(poses, rig);
    if (shown.elements) this.elements.place(poses);
    if (shown.centers) this.centers.place(poses, rig, this.header.size);
    if (shown.frames) this.triads.place(poses, rig, this.header.size);
    this.trails.place(poses, rig);
    this.arrows.place(poses, rig, part);
    this.failure.place(this.run.document, poses, rig, t);
    for (const ghost of this.ghosts) {
      const begun = t >= ghost.poses.document.header.run.from - 1e-12; // a branch is not there before it leaves
      ghost.solids.group.visible = shown.compared && begun;
      ghost.trails.group.visible = shown.compared && shown.trails && begun;
      ghost.poses.read(t);
      ghost.solids.place(ghost.poses);
      ghost.trails.place(ghost.poses, rig);
    }
    for (const { solids, time } of this.later) solids.group.visible = shown.later && time > t;
    this.grid.place(rig);
    this.grid.mesh.visible &&= shown.grid;
  }

  /** Points of names and boxes of joints on the screen. */
  jointPoint(name: string): Vec3 | null {
    const joint = this.header.joints.find((each) => each.name === name);
    return joint ? this.poses.place(joint.child) : null;
  }

  dispose(): void {
    for (const each of [this.solids, this.symbols, this.elements, this.centers, this.triads, this.failure, this.trails, this.arrows, this.grid]) each.dispose();
    for (const ghost of this.ghosts) dropGhost(ghost);
    for (const { solids } of this.later) solids.dispose();
    this.geometries.dispose();
  }

  private setGhosts(runs: readonly ShownRun[]): void {
    while (this.ghosts.length > runs.length) {
      const ghost = this.ghosts.pop()!;
      this.scene.remove(ghost.solids.group, ghost.trails.group);
      dropGhost(ghost);
    }
    runs.forEach((run, k) => {
      const color = run.role === "branch" ? "#3b97e0" : run.role === "removed" ? "#d64545" : "#8d99a6";
      let ghost = this.ghosts[k];
      if (!ghost) {
        ghost = { solids: new SolidSet(this.geometries, "ghost", new Color(color), 0.34), trails: new Trails(color), poses: new PoseReader(run.document) };
        ghost.solids.setTheme(this.dark);
        this.scene.add(ghost.solids.group, ghost.trails.group);
        this.ghosts[k] = ghost;
      } else if (ghost.poses.document === run.document) return;
      ghost.poses = new PoseReader(run.document);
      ghost.solids.setHeader(run.document.header, "");
      ghost.trails.setDocument(run.document);
    });
  }

  private makeLater(): void {
    for (let k = 0; k < LATER; k++) {
      const solids = new SolidSet(this.geometries, "ghost", null, 0.2);
      solids.setTheme(this.dark);
      this.scene.add(solids.group);
      this.later.push({ solids, time: 0 });
    }
    this.setLater();
  }

  private setLater(): void {
    const { document } = this.run;
    const from = document.t[0] ?? 0;
    const to = document.t[document.count - 1] ?? 0;
    if (this.later.length === 0) return;
    const reader = new PoseReader(document);
    this.later.forEach((pose, k) => {
      pose.time = from + ((to - from) * (k + 1)) / LATER;
      reader.read(pose.time);
      pose.solids.setHeader(this.header, "");
      pose.solids.place(reader);
    });
  }
}

function dropGhost(ghost: Ghost): void {
  ghost.solids.dispose();
  ghost.trails.dispose();
}
