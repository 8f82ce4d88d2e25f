// The list of keys and gestures, in a dialog.

import { make } from "./elements";

export interface HelpEntry {
  keys: string[];
  words: string;
}

const NAMES: Record<string, string> = {
  " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", "Shift+ArrowLeft": "Shift ←", "Shift+ArrowRight": "Shift →",
  PageUp: "Page up", PageDown: "Page down",
};

const GESTURES: HelpEntry[] = [
  { keys: ["drag"], words: "in the time bar or a plot: move the time" },
  { keys: ["wheel", "pinch"], words: "in a plot: zoom; with Shift: move the view" },
  { keys: ["Shift drag"], words: "in a plot: move the view" },
  { keys: ["Ctrl drag"], words: "in a plot: zoom to a stretch" },
  { keys: ["double click"], words: "in a plot: the whole run" },
  { keys: ["+", "−", "0"], words: "on a plot with the focus: zoom in, out, the whole run" },
];

const entries: HelpEntry[] = [];

/** Parts of the player add what they understand; the dialog lists it. */
export function addHelp(more: HelpEntry[]): void {
  for (const entry of more) if (!entries.some((known) => known.words === entry.words)) entries.push(entry);
}

export function openHelp(root: HTMLElement): void {
  const open = root.querySelector<HTMLDialogElement>("dialog.help");
  if (open !== null) {
    open.close();
    return;
  }
  const row = (entry: HelpEntry): HTMLElement => make("tr", {},
    make("td", {}, ...entry.keys.flatMap((key, k) => [...(k > 0 ? [" "] : []), make("kbd", {}, NAMES[key] ?? key)])), make("td", {}, entry.words));
  const close = make("button", { type: "button", class: "tool" }, "Close");
  const dialog = make("dialog", { class: "help", "aria-label": "Keys and gestures" }, make("h2", {}, "Keys and gestures"),
    make("table", {}, make("tbody", {}, ...[...entries, ...GESTURES].map(row))), close);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "?") dialog.close();
  });
  root.append(dialog);
  dialog.showModal();
}
