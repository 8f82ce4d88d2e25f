// What an extended file does not let be done here, done after its text is taken over.

import { LiveError } from "../../live/connection";
import type { Gesture } from "../studio_types";

/** The gesture again, after the text of the extended file was taken over, as one step; null where that is not what is in the way. */
export function withBase(error: unknown, gesture: Gesture | null): Gesture | null {
  if (!(error instanceof LiveError) || error.type !== "InheritedPartError" || gesture === null) return null;
  return { do: "all", gestures: [{ do: "take_base" }, ...(gesture.do === "all" ? gesture.gestures : [gesture])] };
}
