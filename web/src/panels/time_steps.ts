// Steps of time: from picture to picture, from event to event; steps of speed; ticks of the bar.

import { LEAST_SPEED, MOST_SPEED, roundSpeed } from "../clock";
import type { EventData } from "../data/run_document";
import { firstFrom } from "../plots/decimate";
import { formatNumber } from "../ui/numbers";

/** The stored time that is some pictures away; times that occur twice (at events) are one picture. */
export function stepTime(times: ArrayLike<number>, t: number, steps: number): number {
  if (times.length === 0) return t;
  const close = 1e-9 * (times[times.length - 1]! - times[0]!);
  let time = t;
  for (let k = Math.abs(steps); k > 0; k--) {
    const at = steps > 0 ? firstFrom(times, time + close) : firstFrom(times, time - close) - 1;
    const next = times[Math.max(0, Math.min(times.length - 1, at))]!;
    if (steps > 0 ? next <= time : next >= time) break;
    time = next;
  }
  return time;
}

/** Events at the next time after t (or before it); none if there is no such time. */
export function nextEvents(events: readonly EventData[], t: number, direction: 1 | -1, span: number): EventData[] {
  const close = 1e-9 * span;
  const beyond = events.filter((event) => (direction > 0 ? event.time > t + close : event.time < t - close));
  if (beyond.length === 0) return [];
  const time = beyond.reduce((best, event) => (direction > 0 ? Math.min(best, event.time) : Math.max(best, event.time)), beyond[0]!.time);
  return beyond.filter((event) => Math.abs(event.time - time) <= close);
}

/** The next speed of 1, 2, 5 times a power of ten. */
export function nextSpeed(speed: number, direction: 1 | -1): number {
  const at = roundSpeed(speed);
  const share = at / 10 ** Math.round(Math.log10(at / roundShare(at)));
  const factor = direction > 0 ? (share === 2 ? 2.5 : 2) : share === 5 ? 2.5 : 2;
  const next = direction > 0 ? at * factor : at / factor;
  return Math.min(MOST_SPEED, Math.max(LEAST_SPEED, Number(next.toPrecision(3))));
}

/** The 1, 2 or 5 of a speed. */
function roundShare(speed: number): number {
  const share = speed / 10 ** Math.floor(Math.log10(speed) + 1e-9);
  return share > 3.5 ? 5 : share > 1.5 ? 2 : 1;
}

/** All speeds, for a list. */
export function allSpeeds(): number[] {
  const speeds = [LEAST_SPEED];
  while (speeds[speeds.length - 1]! < MOST_SPEED) speeds.push(nextSpeed(speeds[speeds.length - 1]!, 1));
  return speeds;
}

export interface Tick {
  time: number;
  events: EventData[];
}

/** Events as ticks of the bar: those that would cover each other are one. */
export function findTicks(events: readonly EventData[], from: number, to: number, most: number): Tick[] {
  const near = (to - from) / Math.max(1, most);
  const ticks: Tick[] = [];
  for (const event of [...events].sort((a, b) => a.time - b.time)) {
    const last = ticks[ticks.length - 1];
    if (last !== undefined && event.time - last.time <= near) last.events.push(event);
    else ticks.push({ time: event.time, events: [event] });
  }
  return ticks;
}

const MOST_SENTENCES = 4;

/** The sentences of events, with their times. */
export function sentences(events: readonly EventData[]): string {
  const first = events.slice(0, MOST_SENTENCES).map((event) => `${formatNumber(event.time, 5)} s: ${eventWords(event)}`);
  if (events.length > MOST_SENTENCES) first.push(`and ${events.length - MOST_SENTENCES} more until ${formatNumber(events[events.length - 1]!.time, 5)} s`);
  return first.join("\n");
}

/** What happens, without the time that some messages begin with. */
export function eventWords(given: EventData): string {
  const event = { ...given, message: given.message.replace(/^at t = \S+ s,? */, "") };
  if (event.message === "") return `${event.component} ${event.kind}`.trim();
  return event.component !== "" && !event.message.includes(event.component) ? `${event.component}: ${event.message}` : event.message;
}

/** A time with as many decimals as a run of this length deserves. */
export function formatTime(t: number, span: number): string {
  const decimals = span > 0 ? Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(span)))) : 3;
  return t.toFixed(decimals).replace("-", "−");
}

/** Whether a run ended before it was done. */
export function hasFailed(status: string): boolean {
  return status !== "done" && status !== "condition";
}
