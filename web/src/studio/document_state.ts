// What listeners of the document are told, and what a message says of its state.

import type { DocumentState, TextEdit } from "./studio_types";

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

export function stateOf(message: object): Partial<DocumentState> {
  const given = message as Partial<DocumentState>;
  return {
    ...(typeof given.dirty === "boolean" ? { dirty: given.dirty } : {}),
    ...(typeof given.canUndo === "boolean" ? { canUndo: given.canUndo } : {}),
    ...(typeof given.canRedo === "boolean" ? { canRedo: given.canRedo } : {}),
    ...(given.file !== undefined ? { file: given.file } : {}),
  };
}
