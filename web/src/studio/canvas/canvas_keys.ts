// The keys of the canvas; the list of keys names them.

import type { HelpEntry } from "../../ui/help";
import { copyChosen, deleteChosen, duplicateChosen, findPart, nudge, renameChosen, searchParts } from "./canvas_commands";
import type { CanvasHost } from "./canvas_host";
import { saveToLibrary } from "../library/library_commands";
import { dissolveChosen, encloseChosen, openChosen } from "../subsystems/box_commands";
import { connectByKeys } from "./connect_commands";
import type { Point } from "./route_types";

/** What keys do beyond the host. */
export interface KeyHost extends CanvasHost {
  readonly focused: string | null;
  /** The next part in a direction; with `add` it is chosen too. */
  go(direction: Point, add: boolean): void;
  /** The next part in reading order; false where there is none. */
  goNext(by: 1 | -1): boolean;
  /** The next link of the focused part. */
  goLink(): void;
  escape(): void;
  toggleValues(): void;
}

interface CanvasKey extends HelpEntry {
  change?: boolean; // not in read-only mode
  act(host: KeyHost): unknown;
}

const ARROWS: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const CANVAS_KEYS: CanvasKey[] = [
  { keys: ["/"], words: "canvas: add a part by its name", change: true, act: (host) => searchParts(host, host.pointer, true) },
  { keys: ["c"], words: "canvas: connect the selected part", change: true, act: (host) => (host.focused === null ? host.context.say("Select a part to connect.") : connectByKeys(host, host.focused)) },
  { keys: ["F2"], words: "canvas: rename", change: true, act: (host) => renameChosen(host) },
  { keys: ["Delete"], words: "canvas: delete what is selected", change: true, act: (host) => deleteChosen(host) },
  { keys: ["Backspace"], words: "canvas: delete what is selected; with nothing selected, close the subsystem", act: (host) => backspace(host) },
  { keys: ["Ctrl+g"], words: "canvas: make a subsystem of what is selected", change: true, act: (host) => encloseChosen(host) },
  { keys: ["Ctrl+Shift+g"], words: "canvas: dissolve the selected subsystem", change: true, act: (host) => dissolveChosen(host) },
  { keys: ["s"], words: "canvas: save the selected subsystem, or parts as one, to the library", change: true, act: (host) => saveToLibrary(host) },
  { keys: ["Ctrl+d"], words: "canvas: duplicate", change: true, act: (host) => duplicateChosen(host) },
  { keys: ["Ctrl+c"], words: "canvas: copy as text", act: (host) => copyChosen(host) },
  { keys: ["Ctrl+x"], words: "canvas: cut", change: true, act: async (host) => (await copyChosen(host)) && deleteChosen(host) },
  { keys: ["Ctrl+a"], words: "canvas: select all", act: (host) => host.choose(host.model.boxes.keys()) },
  { keys: ["Ctrl+f"], words: "canvas: find a part or a node", act: (host) => findPart(host) },
  { keys: ["l"], words: "canvas: the next link of the selected part", act: (host) => host.goLink() },
  { keys: ["v"], words: "canvas: values of the run on the links, on or off", act: (host) => host.toggleValues() },
  { keys: ["Enter"], words: "canvas: open the selected subsystem, or the inspector", act: (host) => openChosen(host) },
  { keys: ["+", "="], words: "canvas: larger", act: (host) => host.window.zoom(1.3) },
  { keys: ["-", "−"], words: "canvas: smaller", act: (host) => host.window.zoom(1 / 1.3) },
  { keys: ["0"], words: "canvas: the whole circuit", act: (host) => host.window.fit() },
  { keys: ["Escape"], words: "canvas: end a gesture, select nothing", act: (host) => host.escape() },
];

export const CANVAS_HELP: HelpEntry[] = [
  ...CANVAS_KEYS.map(({ keys, words }) => ({ keys: keys.map((key) => key.replaceAll("+", " ").trim() || "+"), words })),
  { keys: ["Ctrl V"], words: "canvas: paste parts from text" },
  { keys: ["←", "→", "↑", "↓"], words: "canvas: the part beside; with Shift it is selected too" },
  { keys: ["Alt ←", "Alt →"], words: "canvas: move what is selected by a step of the grid" },
  { keys: ["Alt ↑"], words: "canvas: with nothing selected, close the subsystem" },
  { keys: ["Tab"], words: "canvas: the next part" },
  { keys: ["Space drag", "middle button"], words: "canvas: move the view" },
  { keys: ["drag"], words: "canvas: from a port: connect; a part: move it; a wire: bend it; elsewhere: select by a frame" },
];

/** Deletes what is selected; with nothing selected it leaves the subsystem that is open. */
function backspace(host: KeyHost): void {
  if (host.chosen.size === 0 && host.chosenLink === null) host.context.openBox(null);
  else if (host.context.readOnly) host.context.say("The model is read-only.");
  else void deleteChosen(host);
}

/** The name of a key as CANVAS_KEYS has it. */
export function canvasKeyName(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey">): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!event.ctrlKey && !event.metaKey) return key;
  return `Ctrl+${event.shiftKey ? "Shift+" : ""}${key}`;
}

/** Does what a key says; false: it is none of the canvas. */
export function pressCanvasKey(host: KeyHost, event: KeyboardEvent): boolean {
  const arrow = ARROWS[event.key];
  if (arrow !== undefined && !event.ctrlKey && !event.metaKey) {
    if (event.altKey && event.key === "ArrowUp" && host.chosen.size === 0) host.context.openBox(null);
    else if (event.altKey) nudge(host, arrow);
    else host.go(arrow, event.shiftKey);
    return true;
  }
  if (event.altKey) return false;
  if (event.key === "Tab") return host.goNext(event.shiftKey ? -1 : 1);
  const action = CANVAS_KEYS.find((each) => each.keys.includes(canvasKeyName(event)));
  if (action === undefined) return false;
  if (action.change === true && host.context.readOnly) host.context.say("The model is read-only.");
  else void action.act(host);
  return true;
}
