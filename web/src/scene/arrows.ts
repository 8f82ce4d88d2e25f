// Loads of joints as arrows: force with one head, moment with two, the run's peak 15 % of the model's size.
// Components that are not unique are an arrow of their own, which is striped.

import {
  type BufferGeometry, Color, ConeGeometry, CylinderGeometry, Group, Mesh, type ShaderMaterial,
} from "three";
import type { JointData, RunDocument, Vec3 } from "../data/run_document";
import type { LoadPart } from "../panel";
import type { CameraRig } from "./camera_rig";
import { arrowMaterial, uniform } from "./gl/materials";
import { LoadReader, hasPart, sixAt, splitUnique } from "./math/load_words";
import type { PoseReader } from "./math/poses";
import { add, length, scale } from "./math/vectors";
import { SlotTexture, drawnCount, joinGeometries, repeatGeometry, withSlots } from "./gl/slots";

export const PEAK_SHARE = 0.15; // length of the greatest arrow, of the model's size
const CAPACITY = 400; // arrows of one quantity
const LEAST = 2e-3; // of the peak: shorter ones are not drawn
const SHORTEST = 2; // pixels: nobody sees a shorter one

export type Quantity = "force" | "moment";
const QUANTITIES: Quantity[] = ["force", "moment"];
const WHITE = new Color("#ffffff");

/** Who loads a joint, as the joint panel shows it. */
export interface ShownCauses {
  joint: string;
  names: string[];
  colors: string[]; // CSS
  array: string; // in the document: (names, 6, n) in world axes
}

/** An arrow as drawn, for pointing at it. */
export interface DrawnArrow {
  joint: JointData;
  quantity: Quantity;
  start: Vec3;
  tip: Vec3;
  cause: string; // "" for the load itself
}

function arrowGeometry(heads: number): BufferGeometry {
  const parts: [BufferGeometry, number][] = [[new CylinderGeometry(1, 1, 1, 6, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5), 0]];
  for (let k = 0; k < heads; k++) parts.push([new ConeGeometry(1, 1, 8, 1).rotateX(Math.PI / 2).translate(0, 0, 0.5), 1 + k]);
  return joinGeometries(parts, "zone");
}

/** Arrows of one quantity in one draw call. */
class ArrowSet {
  readonly mesh: Mesh;
  readonly material: ShaderMaterial;
  private readonly geometry: BufferGeometry;
  private readonly slots = new SlotTexture(CAPACITY);
  private readonly perCopy: number;
  private count = 0;

  constructor(heads: number) {
    const shape = arrowGeometry(heads);
    this.perCopy = drawnCount(shape);
    this.geometry = repeatGeometry(shape, CAPACITY);
    shape.dispose();
    this.material = withSlots(arrowMaterial(heads), this.slots);
    this.mesh = new Mesh(this.geometry, this.material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 20;
    this.mesh.raycast = () => {};
  }

  begin(): void {
    this.count = 0;
  }

  add(start: Vec3, along: Vec3, color: Color, hatched: boolean): void {
    if (this.count >= CAPACITY) return;
    const { data } = this.slots;
    const at = 16 * this.count++;
    for (let k = 0; k < 3; k++) {
      data[at + k] = start[k]!;
      data[at + 4 + k] = along[k]!;
    }
    data[at + 8] = color.r;
    data[at + 9] = color.g;
    data[at + 10] = color.b;
    data[at + 11] = hatched ? 1 : 0;
  }

  end(thick: number): void {
    this.geometry.setDrawRange(0, this.count * this.perCopy);
    this.mesh.visible = this.count > 0;
    uniform<number>(this.material, "thick").value = thick;
    this.slots.texture.needsUpdate = this.count > 0;
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
    this.slots.texture.dispose();
  }
}

export class LoadArrows {
  readonly group = new Group();
  readonly drawn: DrawnArrow[] = [];
  shown = { force: true, moment: true };
  causes: ShownCauses | null = null;
  reader!: LoadReader;
  private readonly sets = { force: new ArrowSet(1), moment: new ArrowSet(2) };
  private readonly colors = { force: new Color(), moment: new Color() };
  private peaks = { force: 0, moment: 0 };
  private readonly least = { force: 0, moment: 0 }; // loads that are drawn
  private readonly six = new Float64Array(6);
  private causeColors: Color[] = [];
  private size = 1;

  constructor() {
    this.group.add(this.sets.force.mesh, this.sets.moment.mesh);
  }

  setDocument(document: RunDocument): void {
    this.reader = new LoadReader(document);
    this.peaks = this.reader.peaks();
    this.size = document.header.size;
  }

  /** The loads whose arrows have the greatest length. */
  scaleOf(): { force: number; moment: number } {
    return this.peaks;
  }

  setColors(force: string, moment: string): void {
    this.colors.force.set(force);
    this.colors.moment.set(moment);
  }

  setCauses(causes: ShownCauses | null): void {
    this.causes = causes;
    this.causeColors = (causes?.colors ?? []).map((color) => new Color(color));
  }

  place(poses: PoseReader, rig: CameraRig, part: LoadPart, chosen: string): void {
    this.drawn.length = 0;
    const thick = Math.min(0.0055 * this.size, 2.6 * rig.pixel);
    const least = Math.max(LEAST, (SHORTEST * rig.pixel) / (PEAK_SHARE * this.size));
    this.least.force = least * this.peaks.force;
    this.least.moment = least * this.peaks.moment;
    for (const quantity of QUANTITIES) this.sets[quantity].begin();
    if (hasPart(this.reader.document, part)) {
      for (const joint of this.reader.document.header.joints) {
        if (this.reader.readInto(this.six, joint, part, poses.moment)) this.addJoint(joint, poses, part, joint.name === chosen);
      }
    }
    for (const quantity of QUANTITIES) this.sets[quantity].end(thick);
  }

  dispose(): void {
    this.sets.force.dispose();
    this.sets.moment.dispose();
  }

  /** The load of a joint that `six` holds. */
  private addJoint(joint: JointData, poses: PoseReader, part: LoadPart, chosen: boolean): void {
    const { six } = this;
    let at: Vec3 | null = null;
    for (const quantity of QUANTITIES) {
      if (!this.shown[quantity] || !(this.peaks[quantity] > 0)) continue;
      const from = quantity === "force" ? 0 : 3;
      const causes = this.causes?.joint === joint.name;
      if (!causes && !(Math.hypot(six[from]!, six[from + 1]!, six[from + 2]!) > this.least[quantity])) continue;
      at ??= poses.place(joint.child);
      const meters = (PEAK_SHARE * this.size) / this.peaks[quantity];
      if (causes) this.addCauses(quantity, joint, poses, at, meters, part);
      else this.addLoad(quantity, joint, poses, at, [six[from]!, six[from + 1]!, six[from + 2]!], chosen);
    }
  }

  private addLoad(quantity: Quantity, joint: JointData, poses: PoseReader, at: Vec3, load: Vec3, chosen: boolean): void {
    const meters = (PEAK_SHARE * this.size) / this.peaks[quantity];
    const color = chosen ? this.colors[quantity].clone().lerp(WHITE, 0.25) : this.colors[quantity];
    const put = (vector: Vec3, hatched: boolean): void => {
      if (!(length(vector) > this.least[quantity])) return;
      const along = scale(vector, meters);
      this.sets[quantity].add(at, along, color, hatched);
      this.drawn.push({ joint, quantity, start: at, tip: add(at, along), cause: "" });
    };
    const first = quantity === "force" ? 0 : 3;
    if (joint.unique[first] && joint.unique[first + 1] && joint.unique[first + 2]) return put(load, false);
    const { sure, shared } = splitUnique(joint, poses, load, first);
    put(sure, false);
    put(shared, true);
  }

  /** The shares of a load one after the other, tip to tail, in the colors of the joint panel. */
  private addCauses(quantity: Quantity, joint: JointData, poses: PoseReader, at: Vec3, meters: number, part: LoadPart): void {
    const { document } = this.reader;
    const array = document.floats(this.causes!.array);
    const from = quantity === "force" ? 0 : 3;
    let start = at;
    this.causes!.names.forEach((name, k) => {
      if (part === "kinetic" && name === "static") return;
      const six = sixAt(array, k, document.count, poses.moment);
      const vector: Vec3 = [six[from]!, six[from + 1]!, six[from + 2]!];
      if (!(length(vector) > this.least[quantity])) return;
      const along = scale(vector, meters);
      this.sets[quantity].add(start, along, this.causeColors[k] ?? this.colors[quantity], false);
      const tip = add(start, along);
      this.drawn.push({ joint, quantity, start, tip, cause: name });
      start = tip;
    });
  }
}
