// What listeners of the document are told, and what a message says of its state.

import type { DocumentState } from "../messages";
import type { TextEdit } from "./studio_types";

/** What listeners are told. Edits are code points of `before`. */
export type DocumentNews =
  | { kind: "text"; before: string; edits: readonly TextEdit[]; own: boolean }
  | { kind: "opened"; mine: string | null; other: boolean } // mine: the text this page had, where the server has another; other: another model
  | { kind: "state" }
  | { kind: "sketch" }
  | { kind: "box" } // another subsystem was opened, or closed
  | { kind: "standing" }
  | { kind: "remarks" }
  | { kind: "disk"; words: string; conflict: boolean; trouble: boolean };

/** The state alone, of a message that has more. */
export function stateOf({ version, dirty, canUndo, canRedo, file, conflict }: DocumentState): DocumentState {
  return { version, dirty, canUndo, canRedo, file, conflict };
}
