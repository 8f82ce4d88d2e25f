// Places of a model at its start, and the sides of a new joint.

import type { PlaceData, PlacesHeader } from "../../messages";
import type { RunHeader, Vec3 } from "../../data/run_document";

export type PlaceKind = PlaceData["kind"];
export type StillHeader = RunHeader & PlacesHeader;

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
