// What a run is for the player: a header of plain data and arrays of numbers.
// src/kinode/player/run_document.py writes it; docs/reference/player-data.md describes it.

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w, x, y, z
export type NumberArray = Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array | Uint32Array;

/** A solid or a line that a body is drawn with, in the body's axes. */
export interface Shape {
  kind: "box" | "cylinder" | "capsule" | "sphere" | "bar" | "plate" | "mesh";
  sizes: number[]; // box x y z, mesh those of the box around it; cylinder, capsule radius length (along z); sphere radius; bar, plate: thickness
  at: Vec3;
  quaternion: Quat;
  points?: Vec3[]; // corners of a bar (two or more) or plate
  corners?: number[]; // of a mesh: x y z of each corner, about "at"
  triangles?: number[]; // of a mesh: three corners of each
  mesh?: string; // tells meshes apart
  note?: string; // what a mesh leaves out
}

export interface NamedFrame {
  name: string; // "upper.tip"
  body: number; // index of the body; -1 is the world
  at: Vec3;
  quaternion: Quat;
}

export interface BodyData {
  name: string;
  color: number; // index into the palette
  tint?: string; // a color that the page gives
  mass: number;
  com: Vec3;
  shapes: Shape[];
  tip: Vec3 | null; // the point whose trail is drawn
}

/** One end of a joint or element. */
export interface Place {
  body: number; // -1 is the world
  at: Vec3;
  quaternion: Quat;
}

export interface PeakValue {
  value: number;
  time: number;
}

export interface JointData {
  name: string;
  kind: string; // revolute, prismatic, ... ; constraints have their kinds too
  symbol: string; // its kind, or "none" if it is not drawn; files of version 1 may have disc, square, ball, cross, ring
  parent: Place;
  child: Place;
  axis: Vec3 | null; // in the axes of the parent's place
  freedoms: number;
  shaft: boolean; // has bearings: a polar plot makes sense
  grounded: boolean;
  load: number; // row in loads; -1 if it carries none
  on: string; // the body that the load acts on
  point: string; // about which point, in words
  axes: string; // in which axes numbers are given, in words
  unique: boolean[]; // six flags, force then moment, in the joint's axes
  shared: string; // why some are not unique, and how they are shared; "" if all are
  leftOut: string[];
  peak: { force: PeakValue; moment: PeakValue } | null; // over all stored times of the run
  coordinates: string[]; // names of series: "elbow.q"
}

/** A spring, damper, force ... drawn between two places. */
export interface ElementData {
  name: string;
  kind: string;
  symbol: "spring" | "damper" | "spring_damper" | "line" | "force";
  a: Place;
  b: Place | null;
  series: string | null; // its force, if it is in the file
}

export interface SeriesInfo {
  name: string;
  unit: string; // SI
  words: string; // a short description, or ""
  group: "states" | "coordinates" | "loads" | "signals" | "powers" | "links" | "terms" | "kept";
  parts: string[]; // ["x", "y", "z"]; [] for a number
  units?: string[]; // of the parts, where they differ: those of a planar joint are m, m, rad
  row: number; // first row in the array "series"
}

export interface EventData {
  time: number;
  kind: string; // mode, jump, singular, guess, end
  component: string;
  message: string;
}

export type RunEnding = RunHeader["run"];
/** What a number may move. */
export type Geometry = Partial<Pick<RunHeader, "bodies" | "joints" | "elements" | "frames">>;

export interface StripData {
  name: string;
  stretches: [number, number, string][]; // from, to, word
  jumps: number[];
}

export interface TableData {
  title: string;
  head: string[];
  rows: string[][];
  numbers: number[]; // columns of numbers
}

export interface BadgeData {
  name: "audit" | "verify";
  ok: boolean | null; // null: could not be done
  verdict: string;
  notes: string[];
  tables: TableData[];
}

export type Point = [number, number];

/** A link of the circuit diagram: what connects ports. Places are those of the SVG. */
export interface LinkData {
  name: string; // as data-name in the SVG
  kind: "vector" | "energy" | "information";
  domain: string; // electrical, rotational ...; "" for other kinds
  ends: { component: string; port: string; at: Point }[];
  path: Point[][]; // lines of level and upright pieces
  values: { label: string; series: string; unit: string; of: string }[]; // potentials (of ""), flows (of a component)
  powers: PowerEnd[];
}

/** Power into the component at an end, "component:port": sign times a series, W. Several of one end add up. */
export interface PowerEnd {
  end: string;
  series: string;
  sign: number;
}

export interface DiagramComponent {
  name: string; // as data-name in the SVG
  owner: string; // the component of the model: the joint of elbow.damping
  role: string; // SB, KN, E, DC, part, signal
  kind: string;
  at: Point; // middle
  size: Point;
  series: string[];
  references: { at: Point; power: PowerEnd }[]; // where power leaves through a reference, as heat
}

export interface DiagramData {
  svg: string; // without styles and background
  extent: [number, number, number, number]; // left, top, width, height
  links: LinkData[];
  components: DiagramComponent[];
}

export interface EquationTerm {
  mathml: string; // without its sign
  series: string; // the value of the term, sign included; "" if it has none
  sign: string; // "+", "−" or ""
  side: "left" | "right";
}

export interface EquationData {
  name: string; // of the coordinate, or what the line says
  title: string; // of its group of lines; "" for equations of motion
  mathml: string; // the whole line; terms carry data-term="k"
  terms: EquationTerm[];
  unit: string;
}

/** What a symbol means: a quantity, with its value where that is constant. */
export interface SymbolData {
  mathml: string;
  name: string;
  unit: string;
  value: number | null;
}

export interface EquationsData {
  heading: string;
  lines: EquationData[];
  where: string; // further words
  symbols: SymbolData[];
  note: string; // why there are no lines, or not all; "" if there is nothing to say
}

/** Who loads a joint: array (contributors, 6, times) in world axes. */
export interface CausesData {
  joint: string;
  by: "body" | "cause";
  names: string[];
  array: string;
}

export interface BearingData {
  joint: string;
  name: string;
  rows: [string, string][]; // words and values, life included
}

export interface ParameterData {
  name: string;
  value: number;
  unit: string;
  words: string;
  low: number | null;
  high: number | null;
  structural: string; // why a change compiles anew; "" if it does not
  group: string; // "parameters", or the component
}

export interface RunHeader {
  format: "kinode-run";
  version: number;
  written: string; // "kinode 0.2"
  name: string;
  label: string; // what tells it from other runs: a file name, or the changed values
  digest: string; // of the model: runs of one model can be compared
  run: { status: string; message: string; from: number; to: number; component: string };
  size: number; // of the mechanism, m
  center: Vec3; // of the mechanism at the start
  up: Vec3;
  plane: { right: Vec3; up: Vec3; toward: Vec3 } | null; // of a plane mechanism
  seenFrom?: string; // a body or frame that stands still in the picture at first
  bodies: BodyData[];
  frames: NamedFrame[];
  joints: JointData[];
  elements: ElementData[];
  loadParts: ("total" | "static")[];
  loadNotes: string[];
  series: SeriesInfo[];
  liveOnly: string[];
  events: EventData[];
  strips: StripData[];
  badges: BadgeData[];
  diagram: DiagramData | null;
  equations: EquationsData | null;
  causes: CausesData[];
  bearings: BearingData[];
  parameters: ParameterData[];
  facts: [string, string][];
}

/** A run: its header, and the arrays t (n), poses (bodies, 7, n), loads.total ... (joints, 6, n), series (rows, n). */
export class RunDocument {
  readonly header: RunHeader;
  readonly t: Float64Array;
  readonly poses: Float32Array;
  readonly series: Float32Array;
  private readonly arrays: Map<string, NumberArray>;
  private readonly byName: Map<string, SeriesInfo>;

  constructor(header: RunHeader, arrays: Map<string, NumberArray>) {
    this.header = header;
    this.arrays = arrays;
    this.t = Float64Array.from(arrays.get("t") ?? []);
    this.poses = this.floats("poses");
    this.series = this.floats("series");
    this.byName = new Map(header.series.map((info) => [info.name, info]));
  }

  /** Number of stored pictures. */
  get count(): number {
    return this.t.length;
  }

  floats(name: string): Float32Array {
    const array = this.arrays.get(name);
    if (array === undefined) return new Float32Array(0);
    return array instanceof Float32Array ? array : Float32Array.from(array);
  }

  find(name: string): SeriesInfo | undefined {
    return this.byName.get(name);
  }

  /** One row of a series over time, without a copy. */
  row(index: number): Float32Array {
    return this.series.subarray(index * this.count, (index + 1) * this.count);
  }

  /** One component of a load over time: joint's row, part, component 0..5 (force, moment), world axes. */
  load(row: number, part: "total" | "static", component: number): Float32Array {
    const at = (row * 6 + component) * this.count;
    return this.floats(`loads.${part}`).subarray(at, at + this.count);
  }

  /** The last stored time not after t, and the share of the way to the next. */
  locate(t: number): { index: number; share: number } {
    const times = this.t;
    const last = times.length - 1;
    if (last < 1 || t <= times[0]!) return { index: 0, share: 0 };
    if (t >= times[last]!) return { index: last, share: 0 };
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle]! <= t) low = middle;
      else high = middle;
    }
    const span = times[high]! - times[low]!;
    return { index: low, share: span > 0 ? (t - times[low]!) / span : 0 };
  }

  /** A value of a row at a time, linear between stored times. */
  valueAt(row: Float32Array, t: number): number {
    const { index, share } = this.locate(t);
    const a = row[index] ?? NaN;
    if (share === 0) return a;
    return a + share * ((row[index + 1] ?? a) - a);
  }
}
