// The camera: where it looks, what it is fixed to, and how hands and keys move it. What it begins with follows from the
// kind of model: plane or not, where up is, what it is seen from.
// Its state is kept in the axes of its reference (the world, the moving mass center, a body or a frame).

import { OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import type { NamedFrame, Quat, RunHeader, Vec3 } from "../data/run_document";
import { type Framing, type ViewName, fitView, massCenter, viewAxes } from "./math/framing";
import type { PoseReader } from "./math/poses";
import { IDENTITY, add, conjugate, dot, multiply, normalized, rotate, scale, subtract, turnAbout, unit } from "./math/vectors";

export type Projection = "orthographic" | "perspective";

/** What the camera is fixed to: nothing, the place of the model or of a body, a body or frame with its rotation. */
export interface Reference {
  kind: "world" | "model" | "follow" | "ride" | "frame";
  name: string;
}

export interface ViewChoice {
  view?: ViewName;
  projection?: Projection;
  reference?: Reference;
  fit?: boolean;
}

export interface CameraState {
  view: ViewName | "free";
  projection: Projection;
  reference: Reference;
  target: Vec3; // in the axes of the reference
  quaternion: Quat; // camera to reference
  height: number; // of the picture at the target, m
}

const TANGENT = Math.tan((17.5 * Math.PI) / 180); // of half the angle of view
const MARGIN = 1.22; // room around the model
const STEEPEST = 0.9995;

/** What the run asks to be seen from. */
function firstReference(header: RunHeader): Reference | null {
  const name = header.seenFrom ?? "";
  if (header.bodies.some((body) => body.name === name)) return { kind: "ride", name };
  return header.frames.some((frame) => frame.name === name) ? { kind: "frame", name } : null;
}

/** What the first view of a model follows from. */
function kindOf(header: RunHeader): string {
  const near = (axis: Vec3): number[] => axis.map((x) => Math.round(1e3 * x) + 0);
  return JSON.stringify([near(header.up), header.plane && [near(header.plane.toward), near(header.plane.up)], firstReference(header)]);
}

export class CameraRig {
  state: CameraState;
  readonly perspective = new PerspectiveCamera((2 * Math.atan(TANGENT) * 180) / Math.PI, 1, 0.01, 100);
  readonly orthographic = new OrthographicCamera(-1, 1, 1, -1, -100, 100);
  width = 1;
  heightPixels = 1;
  /** A person has turned the camera, has chosen how the model is seen, or works with the hands in what is seen: that stays. */
  turned = false;
  /** Where the camera is, in the world. */
  quaternion: Quat = IDENTITY;
  target: Vec3 = [0, 0, 0];
  private header: RunHeader;
  private framing: () => Framing; // found when a view is fitted
  private origin: Vec3 = [0, 0, 0];
  private turn: Quat = IDENTITY;
  private toward: Vec3 = [0, 0, 1]; // from the target to the camera, in the world
  private readonly seen = new Vector3();

  constructor(header: RunHeader, framing: Framing, poses: PoseReader) {
    this.header = header;
    this.framing = () => framing;
    this.state = this.firstState();
    this.fitFirst(poses);
  }

  private firstState(): CameraState {
    const { header } = this;
    return {
      view: header.plane ? "plane" : "iso",
      projection: header.plane ? "orthographic" : "perspective",
      reference: firstReference(header) ?? { kind: this.framing().travels ? "model" : "world", name: "" },
      target: [0, 0, 0], quaternion: IDENTITY, height: 1,
    };
  }

  private fitFirst(poses: PoseReader): void {
    this.setView({ view: this.state.view as ViewName }, poses);
    this.turned = false;
  }

  get camera(): PerspectiveCamera | OrthographicCamera {
    return this.state.projection === "perspective" ? this.perspective : this.orthographic;
  }

  get aspect(): number {
    return this.width / Math.max(1, this.heightPixels);
  }

  /** Meters for a pixel at the target. */
  get pixel(): number {
    return this.state.height / Math.max(1, this.heightPixels);
  }

  /** A changed model; true where it is of another kind and nobody has turned the camera: the view is chosen anew. */
  setHeader(header: RunHeader, framing: () => Framing, poses: PoseReader): boolean {
    const anew = !this.turned && kindOf(header) !== kindOf(this.header);
    this.header = header;
    this.framing = framing;
    if (anew) {
      this.state = this.firstState();
      this.fitFirst(poses);
      return true;
    }
    const { kind, name } = this.state.reference;
    const known = kind === "frame" ? this.frame(name) !== undefined : kind === "world" || kind === "model" || this.body(name) >= 0;
    if (!known) this.state.reference = { kind: "world", name: "" };
    return false;
  }

  setSize(width: number, height: number): void {
    this.width = width;
    this.heightPixels = height;
  }

  /** Another view, projection or reference; what is not named stays. */
  setView(choice: ViewChoice, poses: PoseReader): void {
    const { state } = this;
    if (choice.view || choice.projection || choice.reference) this.turned = true;
    if (choice.projection) state.projection = choice.projection;
    if (choice.reference) this.refer(choice.reference, poses);
    if (choice.view) {
      state.view = choice.view;
      const axes = viewAxes(choice.view, this.header.up, this.header.plane);
      state.quaternion = this.turns ? axes : multiply(conjugate(this.turn), axes);
    }
    if (choice.view || choice.fit) this.fit(poses);
  }

  /** Shows the whole model. */
  fit(poses: PoseReader): void {
    this.findReference(poses);
    const moving = this.state.reference.kind !== "world";
    const points = moving ? this.framing().pointsAt(poses) : this.framing().points;
    const local = points.map((p) => rotate(conjugate(this.turn), subtract(p, this.origin)));
    const tangent = this.state.projection === "perspective" ? TANGENT : 0;
    const room = 1 - Math.min(0.3, 70 / Math.max(140, Math.min(this.width, this.heightPixels))); // toolbar, scale bar
    const fit = fitView(local, this.state.quaternion, this.aspect, 0.3 * this.header.size, tangent);
    this.state.target = fit.target;
    this.state.height = (fit.height * MARGIN) / Math.max(0.6, room + 0.12);
  }

  /** Turns around the target: angles in radians, about the model's upward direction and the screen's horizontal. */
  orbit(aside: number, upward: number): void {
    const up = unit(rotate(conjugate(this.upTurn), this.header.up));
    const { state } = this;
    state.view = "free";
    this.turned = true;
    let q = multiply(turnAbout(up, -aside), state.quaternion);
    const tilted = multiply(q, turnAbout([1, 0, 0], -upward));
    const steep = dot(rotate(tilted, [0, 0, 1]), up);
    const upright = dot(rotate(tilted, [0, 1, 0]), up);
    if ((Math.abs(steep) < STEEPEST && upright > 0) || Math.abs(steep) < Math.abs(dot(rotate(q, [0, 0, 1]), up))) q = tilted;
    state.quaternion = normalized(q);
  }

  /** Moves the target by pixels on the screen. */
  pan(dx: number, dy: number): void {
    const shift = rotate(this.state.quaternion, [-dx * this.pixel, dy * this.pixel, 0]);
    this.state.target = add(this.state.target, shift);
  }

  /** Nearer by a factor, about a point on the screen given from its middle in pixels. */
  zoom(factor: number, x = 0, y = 0): void {
    const most = 1e3 * this.header.size;
    const height = Math.min(most, Math.max(1e-4 * this.header.size, this.state.height / factor));
    const real = this.state.height / height;
    const shift = (1 - 1 / real) * this.pixel;
    this.state.target = add(this.state.target, rotate(this.state.quaternion, [x * shift, -y * shift, 0]));
    this.state.height = height;
  }

  /** Puts the camera where the state and the poses want it. */
  update(poses: PoseReader): void {
    this.findReference(poses);
    const { state } = this;
    this.quaternion = normalized(multiply(this.turn, state.quaternion));
    this.target = add(this.origin, rotate(this.turn, state.target));
    this.toward = rotate(this.quaternion, [0, 0, 1]);
    const { toward } = this;
    const distance = state.height / (2 * TANGENT);
    const reach = Math.max(4 * this.header.size, 2 * state.height);
    const camera = this.camera;
    const place = add(this.target, scale(toward, distance));
    camera.position.set(...place);
    camera.quaternion.set(this.quaternion[1], this.quaternion[2], this.quaternion[3], this.quaternion[0]);
    if (camera instanceof PerspectiveCamera) {
      camera.aspect = this.aspect;
      camera.near = Math.max(distance - 3 * reach, 0.02 * distance);
      camera.far = distance + 6 * reach;
    } else {
      const half = state.height / 2;
      camera.left = -half * this.aspect;
      camera.right = half * this.aspect;
      camera.top = half;
      camera.bottom = -half;
      camera.near = distance - 6 * reach;
      camera.far = distance + 6 * reach;
    }
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }

  /** Where a point of the world is on the screen, in CSS pixels from the upper left corner. */
  project(world: Vec3): { x: number; y: number; visible: boolean } {
    this.seen.set(...world).project(this.camera);
    const x = ((this.seen.x + 1) / 2) * this.width;
    const y = ((1 - this.seen.y) / 2) * this.heightPixels;
    const visible = Math.abs(this.seen.z) <= 1 && x >= 0 && y >= 0 && x <= this.width && y <= this.heightPixels;
    return { x, y, visible };
  }

  /** Meters for a pixel at a point. */
  pixelAt(world: Vec3): number {
    if (this.state.projection === "orthographic") return this.pixel;
    const { toward, target } = this;
    const nearer = (world[0] - target[0]) * toward[0] + (world[1] - target[1]) * toward[1] + (world[2] - target[2]) * toward[2];
    const distance = this.state.height / (2 * TANGENT);
    return this.pixel * Math.max(0.05, 1 - nearer / distance);
  }

  private get turns(): boolean {
    return this.state.reference.kind === "frame";
  }

  private get upTurn(): Quat {
    return this.turns ? IDENTITY : this.turn;
  }

  private body(name: string): number {
    return this.header.bodies.findIndex((body) => body.name === name);
  }

  private frame(name: string): NamedFrame | undefined {
    return this.header.frames.find((frame) => frame.name === name);
  }

  /** Changes the reference; the picture stays as it is, unless it is seen from a frame. */
  private refer(reference: Reference, poses: PoseReader): void {
    this.findReference(poses);
    const target = add(this.origin, rotate(this.turn, this.state.target));
    const quaternion = multiply(this.turn, this.state.quaternion);
    this.state.reference = reference;
    this.findReference(poses);
    const back = conjugate(this.turn);
    this.state.quaternion = multiply(back, quaternion);
    this.state.target = rotate(back, subtract(target, this.origin));
    if (reference.kind === "follow" || reference.kind === "model") this.state.target = [0, 0, 0];
    if (reference.kind === "frame") {
      this.state.quaternion = viewAxes(this.header.plane ? "plane" : "iso", this.header.up, this.header.plane);
      this.fit(poses);
    }
  }

  private findReference(poses: PoseReader): void {
    const { kind, name } = this.state.reference;
    this.origin = [0, 0, 0];
    this.turn = IDENTITY;
    const row = this.body(name);
    if (kind === "model") this.origin = massCenter(this.header, poses);
    else if (kind === "follow" && row >= 0) this.origin = poses.point(row, this.header.bodies[row]!.com);
    else if (kind === "ride" && row >= 0) {
      this.origin = poses.position(row);
      this.turn = poses.quaternion(row);
    } else if (kind === "frame") {
      const frame = this.frame(name);
      if (!frame) return;
      this.origin = poses.point(frame.body, frame.at);
      this.turn = multiply(poses.quaternion(frame.body), frame.quaternion);
    }
    if (!this.origin.every(Number.isFinite)) this.origin = this.header.center;
  }
}
