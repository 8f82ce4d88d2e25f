// The keyboard: play, step, speed, events, views. Letters are listed by "?".

import type { Player } from "../player";

export interface KeyAction {
  keys: string[];
  words: string;
  act(player: Player): void;
}

export const KEY_ACTIONS: KeyAction[] = [
  { keys: [" ", "k"], words: "play, pause", act: (player) => player.clock.toggle() },
  { keys: ["Home"], words: "to the start", act: (player) => player.clock.seek(player.clock.from) },
  { keys: ["End"], words: "to the end", act: (player) => player.clock.seek(player.clock.to) },
];

export function addKeys(player: Player): () => void {
  const listen = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, [role=combobox]")) return;
    if (event.key === " " && target.closest("button, summary, a")) return;
    const action = KEY_ACTIONS.find((each) => each.keys.includes(event.key));
    if (action === undefined) return;
    event.preventDefault();
    action.act(player);
  };
  player.root.addEventListener("keydown", listen);
  return () => player.root.removeEventListener("keydown", listen);
}
