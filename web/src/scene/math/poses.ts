// Where bodies are at a time: linear and spherical interpolation between stored pictures, never across an event.

import type { NumberArray, Place, Quat, RunDocument, Vec3 } from "../../data/run_document";
import { IDENTITY, multiply } from "./vectors";

const SUDDEN = new Set(["mode", "jump"]); // kinds of events at which loads and rates may jump

export interface Moment {
  index: number;
  share: number; // of the way to the next picture
}

/** For each stretch between stored times the event inside it, or NaN. */
export function findBreaks(times: NumberArray, events: readonly { time: number; kind: string }[]): Float64Array {
  const breaks = new Float64Array(Math.max(0, times.length - 1)).fill(NaN);
  const close = 1e-9 * Math.abs((times[times.length - 1] ?? 0) - (times[0] ?? 0));
  for (const { time, kind } of events) {
    if (!SUDDEN.has(kind)) continue;
    let low = 0;
    let high = times.length - 1;
    if (high < 1 || !(time > times[0]! + close) || !(time < times[high]! - close)) continue;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle]! <= time) low = middle;
      else high = middle;
    }
    if (time - times[low]! > close && times[high]! - time > close) breaks[low] = time;
  }
  return breaks;
}

/** Poses of one run at the time last read. Rows are bodies, then moving frames. */
export class PoseReader {
  readonly document: RunDocument;
  readonly rows: number;
  readonly p: Float64Array; // rows x 3
  readonly q: Float64Array; // rows x 4
  readonly r: Float64Array; // rows x 9, columns of the rotation
  time = NaN;
  moment: Moment = { index: 0, share: 0 };
  private readonly breaks: Float64Array;

  constructor(document: RunDocument) {
    this.document = document;
    const n = document.count;
    this.rows = n > 0 ? Math.floor(document.poses.length / (7 * n)) : 0;
    this.p = new Float64Array(3 * this.rows);
    this.q = new Float64Array(4 * this.rows);
    this.r = new Float64Array(9 * this.rows);
    for (let k = 0; k < this.rows; k++) {
      this.q[4 * k] = 1;
      for (let c = 0; c < 3; c++) this.r[9 * k + 4 * c] = 1;
    }
    this.breaks = findBreaks(document.t, document.header.events);
  }

  /** The picture before a time and the share of the way to the next; an event in between is a step. */
  locate(t: number): Moment {
    const found = this.document.locate(t);
    const event = this.breaks[found.index];
    if (event !== undefined && !Number.isNaN(event) && found.share > 0) found.share = t < event ? 0 : 1;
    return found;
  }

  read(t: number): void {
    if (t === this.time) return;
    this.time = t;
    this.moment = this.locate(t);
    const { index, share } = this.moment;
    const { p, q } = this;
    const poses = this.document.poses;
    const n = this.document.count;
    const next = share > 0 ? 1 : 0;
    for (let row = 0; row < this.rows; row++) {
      let at = row * 7 * n + index;
      for (let k = 0; k < 3; k++, at += n) {
        const a = poses[at]!;
        p[3 * row + k] = a + share * (poses[at + next]! - a);
      }
      slerpInto(q, 4 * row, poses, at, n, next, share);
      matrixInto(this.r, 9 * row, q, 4 * row);
    }
  }

  position(row: number): Vec3 {
    return row < 0 ? [0, 0, 0] : [this.p[3 * row] ?? NaN, this.p[3 * row + 1] ?? NaN, this.p[3 * row + 2] ?? NaN];
  }

  quaternion(row: number): Quat {
    return row < 0
      ? IDENTITY
      : [this.q[4 * row] ?? 1, this.q[4 * row + 1] ?? 0, this.q[4 * row + 2] ?? 0, this.q[4 * row + 3] ?? 0];
  }

  /** A point of a body in the world; the world itself is body -1. */
  point(row: number, local: Vec3): Vec3 {
    if (row < 0) return local;
    const { p, r } = this;
    const m = 9 * row;
    const [x, y, z] = local;
    return [
      p[3 * row]! + r[m]! * x + r[m + 3]! * y + r[m + 6]! * z,
      p[3 * row + 1]! + r[m + 1]! * x + r[m + 4]! * y + r[m + 7]! * z,
      p[3 * row + 2]! + r[m + 2]! * x + r[m + 5]! * y + r[m + 8]! * z,
    ];
  }

  turn(place: Place): Quat {
    return multiply(this.quaternion(place.body), place.quaternion);
  }

  place(place: Place): Vec3 {
    return this.point(place.body, place.at);
  }
}

/** Spherical interpolation of the quaternion stored at `at`, `at + n` ...; the shorter way. */
function slerpInto(
  out: Float64Array, to: number, poses: Float32Array, at: number, n: number, next: number, share: number,
): void {
  const w = poses[at]!, x = poses[at + n]!, y = poses[at + 2 * n]!, z = poses[at + 3 * n]!;
  let a = 1;
  let b = 0;
  let w2 = w, x2 = x, y2 = y, z2 = z;
  if (next > 0) {
    w2 = poses[at + 1]!; x2 = poses[at + n + 1]!; y2 = poses[at + 2 * n + 1]!; z2 = poses[at + 3 * n + 1]!;
    const cosine = w * w2 + x * x2 + y * y2 + z * z2;
    const angle = Math.acos(Math.min(1, Math.abs(cosine)));
    a = angle > 1e-3 ? Math.sin((1 - share) * angle) / Math.sin(angle) : 1 - share;
    b = (angle > 1e-3 ? Math.sin(share * angle) / Math.sin(angle) : share) * (cosine < 0 ? -1 : 1);
  }
  const qw = a * w + b * w2, qx = a * x + b * x2, qy = a * y + b * y2, qz = a * z + b * z2;
  const size = Math.sqrt(qw * qw + qx * qx + qy * qy + qz * qz) || 1;
  out[to] = qw / size;
  out[to + 1] = qx / size;
  out[to + 2] = qy / size;
  out[to + 3] = qz / size;
}

function matrixInto(r: Float64Array, to: number, q: Float64Array, from: number): void {
  const w = q[from]!, x = q[from + 1]!, y = q[from + 2]!, z = q[from + 3]!;
  r[to] = 1 - 2 * (y * y + z * z);
  r[to + 1] = 2 * (x * y + w * z);
  r[to + 2] = 2 * (x * z - w * y);
  r[to + 3] = 2 * (x * y - w * z);
  r[to + 4] = 1 - 2 * (x * x + z * z);
  r[to + 5] = 2 * (y * z + w * x);
  r[to + 6] = 2 * (x * z + w * y);
  r[to + 7] = 2 * (y * z - w * x);
  r[to + 8] = 1 - 2 * (x * x + y * y);
}
