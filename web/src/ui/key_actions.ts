// What keys and buttons do alike.

import { eventWords, nextEvents, nextSpeed, sentences, stepTime } from "../panels/time_steps";
import type { PlayerContext } from "../panel";
import { openHelp } from "./help";
import { formatNumber } from "./numbers";

/** The picture that is some stored pictures away. */
export function stepFrame(context: PlayerContext, steps: number): void {
  context.clock.pause();
  context.clock.seek(stepTime(context.main.t, context.clock.t, steps));
}

/** A tenth of the run. */
export function leap(context: PlayerContext, direction: 1 | -1): void {
  const { clock } = context;
  clock.seek(clock.t + 0.1 * direction * (clock.to - clock.from));
}

export function stepSpeed(context: PlayerContext, direction: 1 | -1): void {
  context.clock.setSpeed(nextSpeed(context.clock.speed, direction));
  context.say(`Speed ${formatNumber(context.clock.speed)}`);
}

export function goToEvent(context: PlayerContext, direction: 1 | -1): void {
  const { clock } = context;
  const all = context.runs.flatMap((run) => run.document.header.events);
  const events = nextEvents(all, clock.t, direction, clock.to - clock.from);
  if (events.length === 0) return context.say(direction > 0 ? "No later event." : "No earlier event.");
  clock.pause();
  clock.seek(events[0]!.time);
  context.say(events.length === 1 ? `${formatNumber(events[0]!.time, 5)} s: ${eventWords(events[0]!)}` : sentences(events));
}

export function toggleLoop(context: PlayerContext): void {
  context.clock.loop = !context.clock.loop;
  context.clock.tell();
  context.say(context.clock.loop ? "Loop on" : "Loop off");
}

export function toggleTheme(context: PlayerContext): void {
  context.setTheme(context.theme === "dark" ? "light" : "dark");
}

export function foldStrips(context: PlayerContext): void {
  context.root.dispatchEvent(new CustomEvent("kinode-fold-strips"));
}

export function toggleSeeThrough(context: PlayerContext): void {
  context.root.dispatchEvent(new CustomEvent("kinode-see-through"));
}

export function openSearch(context: PlayerContext): void {
  context.show("Plots");
  context.root.dispatchEvent(new CustomEvent("kinode-search"));
}

export function showHelp(context: PlayerContext): void {
  openHelp(context.root);
}
