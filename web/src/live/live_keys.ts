// Keys of a live page, beside those of the player.

import type { PlayerContext } from "../panel";
import { addHelp } from "../ui/help";
import { listenKeys } from "../ui/keys";
import type { LiveDesk } from "./live_desk";

interface LiveKey {
  keys: string[];
  words: string;
  act(context: PlayerContext, desk: LiveDesk): void;
}

const LIVE_KEYS: LiveKey[] = [
  { keys: ["i"], words: "pin this run to compare with", act: (context, desk) => context.say(desk.pin()) },
  {
    keys: ["u"], words: "take away the run kept last",
    act: (context, desk) => {
      const run = desk.compared[desk.compared.length - 1];
      if (run === undefined) return context.say("No run is kept.");
      desk.drop(run);
      context.say(`Taken away: ${run.label}`);
    },
  },
  {
    keys: ["b"], words: "change a state at the cursor and branch",
    act: (context) => {
      context.show("Numbers");
      context.root.dispatchEvent(new CustomEvent("kinode-branch"));
    },
  },
  { keys: ["g"], words: "drag joints, mass centers and places in 3D", act: (context) => void context.root.dispatchEvent(new CustomEvent("kinode-drag-tool")) },
];

export function addLiveKeys(context: PlayerContext, desk: LiveDesk): () => void {
  addHelp(LIVE_KEYS);
  const listen = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest?.("input, textarea, select, [role=combobox], [contenteditable], dialog")) return;
    const action = LIVE_KEYS.find((each) => each.keys.includes(event.key));
    if (action === undefined) return;
    event.preventDefault();
    action.act(context, desk);
  };
  return listenKeys(context.root, listen);
}
