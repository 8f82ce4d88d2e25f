// What a message says of the state of the document.

import type { DocumentState } from "./studio_types";

export function stateOf(message: object): Partial<DocumentState> {
  const given = message as Partial<DocumentState>;
  return {
    ...(typeof given.dirty === "boolean" ? { dirty: given.dirty } : {}),
    ...(typeof given.canUndo === "boolean" ? { canUndo: given.canUndo } : {}),
    ...(typeof given.canRedo === "boolean" ? { canRedo: given.canRedo } : {}),
    ...(given.file !== undefined ? { file: given.file } : {}),
  };
}
