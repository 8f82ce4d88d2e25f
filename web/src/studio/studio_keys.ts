// Keys of the whole page. Parts have keys of their own, which act where the focus is.

import { type HelpEntry, addHelp } from "../ui/help";

export interface PageActions {
  undo(): void;
  redo(): void;
  save(): void;
  help(): void;
  gallery(): void;
  nextPane(step: 1 | -1): void;
}

const HELP: HelpEntry[] = [
  { keys: ["Ctrl Z"], words: "undo, wherever it was done" },
  { keys: ["Ctrl Shift Z", "Ctrl Y"], words: "redo" },
  { keys: ["Ctrl S"], words: "save" },
  { keys: ["Ctrl O"], words: "examples, recent files, a new model" },
  { keys: ["F6", "Shift F6"], words: "next, previous part of the page" },
  { keys: ["Ctrl Space"], words: "in the text: what may stand here" },
  { keys: ["?"], words: "this list" },
];

/** The page's action of a key, null if it has none. Inside a field, undo is that of the field until it is left. */
export function pageAction(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">, inField: boolean): keyof PageActions | "previousPane" | null {
  const control = (event.ctrlKey || event.metaKey) && !event.altKey;
  const key = event.key.toLowerCase();
  if (event.key === "F6") return event.shiftKey ? "previousPane" : "nextPane";
  if (control && key === "s") return "save";
  if (control && key === "o") return "gallery";
  if (inField) return null;
  if (control && key === "z") return event.shiftKey ? "redo" : "undo";
  if (control && key === "y") return "redo";
  if (!control && !event.altKey && event.key === "?") return "help";
  return null;
}

export function addPageKeys(actions: PageActions): () => void {
  addHelp(HELP);
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (target.closest?.("dialog") != null) return;
    const field = target.closest?.("input, textarea, select, [contenteditable=true]") ?? null;
    const action = pageAction(event, field !== null);
    if (action === null || (action === "help" && target.closest?.(".kinode-player") != null)) return;
    event.preventDefault();
    if (action === "nextPane") actions.nextPane(1);
    else if (action === "previousPane") actions.nextPane(-1);
    else actions[action]();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}
