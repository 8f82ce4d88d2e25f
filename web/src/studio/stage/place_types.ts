// What the server says of a model at its start (src/kinode/studio/placing).

import type { Place, RunHeader, Vec3 } from "../../data/run_document";
import type { Cure } from "../studio_types";

/** A number of the text that places something. */
export interface PlaceEntry {
  text: string;
  value: number | null; // SI
  unit: string;
  parameter: string; // by which it follows; "" if it is a number of its own
  off: string; // why it stays; "" if it can be moved
}

export type PlaceKind = "frame" | "center" | "joint";

/** A frame, a mass center or a joint with the numbers that place it, in the body's axes. */
export interface PlaceData extends Place {
  kind: PlaceKind;
  name: string;
  path: (string | number)[]; // of its position in the text
  given: boolean; // whether the position is written
  turnPath: (string | number)[];
  off: string;
  turnOff: string;
  entries: PlaceEntry[];
  turns: PlaceEntry[]; // rpy
  /** Of a joint, in its own axes; `off` says why it cannot be turned. */
  axis?: { text: string; value: Vec3 | null; off: string };
}

/** A joint whose two sides do not meet. */
export interface GapData {
  joint: string;
  a: Vec3;
  b: Vec3;
  length: number;
  words: string;
}

export interface StillHeader extends RunHeader {
  places: PlaceData[];
  gaps: GapData[];
  loose: string[];
  words: string;
  at: number; // the version of the text
}

export interface MobilityData {
  counts: [string, string][];
  sentences: string[];
  badges: Record<string, string>;
  loose: string[];
  gaps: GapData[];
  cures: Cure[]; // what frees a locked loop
  text: string;
}

/** One side of a new joint, as the gesture "join" takes it; `words` and `world` are for the page. */
export interface JoinSide {
  frame?: string;
  body?: string;
  at?: Vec3;
}

export interface PickedPlace {
  side: JoinSide;
  body: string; // "world" or a body
  words: string;
  point: Vec3; // in the world
  normal: Vec3 | null; // in the body's axes
}
