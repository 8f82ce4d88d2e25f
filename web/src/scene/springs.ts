// Springs as coils and dampers as cylinder and rod, which stretch between their two places; other elements as lines.

import { Color, Curve, Group, IcosahedronGeometry, TubeGeometry, Vector3, type ShaderMaterial } from "three";
import type { ElementData, RunHeader, Vec3 } from "../data/run_document";
import { type Affine, Instances, between } from "./gl/instances";
import { litMaterial } from "./gl/materials";
import type { PoseReader } from "./math/poses";
import { across, add, cross, length, scale, subtract, unit } from "./math/vectors";
import type { Detail, SolidGeometries } from "./solids";

const TURNS = 9;
const COIL = 0.022; // radius of a coil, of the model's size
const ROD = 0.006; // radius of a rod
const HOUSING = 0.5; // length of a damper's cylinder, of the first length

class Helix extends Curve<Vector3> {
  private readonly ratio: number;

  constructor(ratio: number) {
    super();
    this.ratio = ratio;
  }

  override getPoint(s: number, target = new Vector3()): Vector3 {
    const lead = 0.07; // straight ends on the axis
    const inner = Math.min(1, Math.max(0, (s - lead) / (1 - 2 * lead)));
    const out = Math.min(1, Math.min(s, 1 - s) / lead);
    const angle = 2 * Math.PI * TURNS * inner;
    return target.set(out * Math.cos(angle), out * Math.sin(angle), (s - 0.5) * this.ratio);
  }
}

/** A coil of radius 1 and length 1 whose wire looks round at the given ratio of length to radius. */
function coilGeometry(ratio: number, detail: Detail): TubeGeometry {
  const [along, around] = detail === "fine" ? [14, 5] : [10, 4];
  const tube = new TubeGeometry(new Helix(ratio), TURNS * along, 0.13, around, false);
  tube.scale(1, 1, 1 / ratio);
  return tube;
}

export class ElementDrawings {
  readonly group = new Group();
  private readonly material: ShaderMaterial = litMaterial();
  private coils: Instances | null = null;
  private readonly detail: Detail;
  private readonly knob = new IcosahedronGeometry(1, 1); // small: few triangles look round
  private readonly rods: Instances;
  private readonly balls: Instances;
  private readonly lengths = new Map<string, number>();
  private drawn: ElementData[] = [];
  private size = 1;
  private readonly paint = { coil: new Color(), housing: new Color(), rod: new Color() };

  constructor(geometries: SolidGeometries) {
    this.detail = geometries.detail;
    this.rods = new Instances(geometries.of.cylinder, this.material);
    this.balls = new Instances(this.knob, this.material);
    this.group.add(this.rods.group, this.balls.group);
  }

  setHeader(header: RunHeader, poses: PoseReader): void {
    this.drawn = header.elements.filter((element) => element.b !== null);
    this.size = header.size;
    this.lengths.clear();
    for (const element of this.drawn) {
      this.lengths.set(element.name, length(subtract(poses.place(element.b!), poses.place(element.a))) || 0.1 * this.size);
    }
    const coils = this.drawn.filter((element) => element.symbol.startsWith("spring"));
    if (coils.length > 0 && this.coils === null) {
      const usual = coils.map((element) => this.lengths.get(element.name)!).sort((a, b) => a - b)[coils.length >> 1]!;
      this.coils = new Instances(coilGeometry(Math.max(2, usual / (COIL * this.size)), this.detail), this.material);
      this.group.add(this.coils.group);
    }
    if (this.coils) this.coils.count = coils.length;
    this.rods.count = this.drawn.reduce((sum, element) => sum + rodsOf(element), 0);
    this.balls.count = this.drawn.length * 2;
    this.paintAll();
  }

  setTheme(dark: boolean): void {
    this.paint.coil.set(dark ? "#aeb9c5" : "#5d6976");
    this.paint.housing.set(dark ? "#78848f" : "#8a95a1");
    this.paint.rod.set(dark ? "#cbd3dc" : "#49545f");
    this.paintAll();
  }

  place(poses: PoseReader): void {
    let coil = 0;
    let rod = 0;
    this.drawn.forEach((element, k) => {
      const a = poses.place(element.a);
      const b = poses.place(element.b!);
      const along = unit(subtract(b, a));
      const radius = Math.min(COIL * this.size, 0.16 * (this.lengths.get(element.name) ?? 1));
      if (element.symbol.startsWith("spring") && this.coils) this.coils.put(coil++, along3(a, b, radius));
      if (rodsOf(element) === 2) {
        const first = this.lengths.get(element.name) ?? 0;
        const slim = element.symbol === "spring_damper" ? 0.55 : 0.8;
        this.rods.put(rod++, between(a, add(a, along, HOUSING * first), slim * radius));
        this.rods.put(rod++, between(add(a, along, 0.25 * first), b, 0.25 * radius));
      } else if (rodsOf(element) === 1) this.rods.put(rod++, between(a, b, 0.5 * ROD * this.size));
      const ball = 0.3 * radius;
      for (const [j, end] of [a, b].entries()) this.balls.put(2 * k + j, [[ball, 0, 0], [0, ball, 0], [0, 0, ball], end]);
    });
  }

  dispose(): void {
    this.coils?.dispose();
    this.rods.dispose();
    this.balls.dispose();
    this.knob.dispose();
    this.material.dispose();
  }

  private paintAll(): void {
    if (this.coils) for (let k = 0; k < this.coils.count; k++) this.coils.tint(k, this.paint.coil);
    let rod = 0;
    for (const [k, element] of this.drawn.entries()) {
      for (let j = 0; j < rodsOf(element); j++) this.rods.tint(rod++, j === 0 ? this.paint.housing : this.paint.rod);
      this.balls.tint(2 * k, this.paint.rod);
      this.balls.tint(2 * k + 1, this.paint.rod);
    }
  }
}

/** A damper is a housing and a rod, a line one rod. */
function rodsOf(element: ElementData): number {
  if (element.symbol === "damper" || element.symbol === "spring_damper") return 2;
  return element.symbol === "line" ? 1 : 0;
}

function along3(a: Vec3, b: Vec3, radius: number): Affine {
  const d = subtract(b, a);
  const z = unit(d);
  const x = across(z);
  return [scale(x, radius), scale(cross(z, x), radius), d, scale(add(a, b), 0.5)];
}
