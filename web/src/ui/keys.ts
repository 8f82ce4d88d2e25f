// The keyboard: play, step, speed, events, panels. Letters are listed by "?".

import type { Player } from "../player";
import { addHelp } from "./help";
import { foldStrips, goToEvent, leap, openSearch, showHelp, stepFrame, stepSpeed, toggleLoop, toggleSeeThrough, toggleTheme } from "./key_actions";

export interface KeyAction {
  keys: string[]; // as the browser names them; "Shift+" before keys that are no letters or signs
  words: string;
  act(player: Player): void;
}

export const KEY_ACTIONS: KeyAction[] = [
  { keys: [" ", "k"], words: "play, pause", act: (player) => player.clock.toggle() },
  { keys: ["ArrowLeft", ","], words: "one picture back", act: (player) => stepFrame(player, -1) },
  { keys: ["ArrowRight", "."], words: "one picture ahead", act: (player) => stepFrame(player, 1) },
  { keys: ["Shift+ArrowLeft"], words: "ten pictures back", act: (player) => stepFrame(player, -10) },
  { keys: ["Shift+ArrowRight"], words: "ten pictures ahead", act: (player) => stepFrame(player, 10) },
  { keys: ["PageDown", "j"], words: "a tenth of the run back", act: (player) => leap(player, -1) },
  { keys: ["PageUp", "l"], words: "a tenth of the run ahead", act: (player) => leap(player, 1) },
  { keys: ["Home"], words: "to the start", act: (player) => player.clock.seek(player.clock.from) },
  { keys: ["End"], words: "to the end", act: (player) => player.clock.seek(player.clock.to) },
  { keys: ["p"], words: "previous event", act: (player) => goToEvent(player, -1) },
  { keys: ["n"], words: "next event", act: (player) => goToEvent(player, 1) },
  { keys: ["["], words: "slower", act: (player) => stepSpeed(player, -1) },
  { keys: ["]"], words: "faster", act: (player) => stepSpeed(player, 1) },
  { keys: ["r"], words: "loop", act: (player) => toggleLoop(player) },
  { keys: ["m"], words: "modes of components", act: (player) => foldStrips(player) },
  { keys: ["x"], words: "see through bodies", act: (player) => toggleSeeThrough(player) },
  { keys: ["/"], words: "search a quantity to plot", act: (player) => openSearch(player) },
  { keys: ["t"], words: "light or dark", act: (player) => toggleTheme(player) },
  { keys: ["?"], words: "this list", act: (player) => showHelp(player) },
];

/** The name of a key as KEY_ACTIONS has it. */
export function keyName(event: Pick<KeyboardEvent, "key" | "shiftKey">): string {
  return event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
}

export function addKeys(player: Player): () => void {
  addHelp(KEY_ACTIONS);
  const listen = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("input, textarea, select, [role=combobox], [contenteditable]")) return;
    if (event.key === " " && target.closest("button, summary, a")) return;
    const action = KEY_ACTIONS.find((each) => each.keys.includes(keyName(event)));
    if (action === undefined) return;
    event.preventDefault();
    action.act(player);
  };
  return listenKeys(player.root, listen);
}

/** Keys of an element; a page that is the element alone needs no click before they work. */
export function listenKeys(root: HTMLElement, listen: (event: KeyboardEvent) => void): () => void {
  const listenOutside = (event: KeyboardEvent): void => {
    if (event.target === document.body && root.getBoundingClientRect().height >= 0.9 * innerHeight) listen(event);
  };
  root.addEventListener("keydown", listen);
  document.addEventListener("keydown", listenOutside);
  return () => {
    root.removeEventListener("keydown", listen);
    document.removeEventListener("keydown", listenOutside);
  };
}
