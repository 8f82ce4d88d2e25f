// The one time cursor. Every view listens to it; nobody keeps a time of its own.

import { flushFrameTasks } from "./ui/frame_task";

export type TimeListener = (t: number) => void;

export const LEAST_SPEED = 1e-3;
export const MOST_SPEED = 100;
const FIRST_LASTS = 5; // s: how long a run lasts at first

export class Clock {
  from = 0;
  to = 1;
  speed = 1;
  loop = true;
  private time = 0;
  private running = false;
  private last: number | null = null;
  private request = 0;
  private readonly times = new Set<TimeListener>();
  private readonly states = new Set<() => void>();

  /** A new span; the time stays where it is if it can. The first speed makes a run last some five seconds. */
  setSpan(from: number, to: number, first = false): void {
    this.from = from;
    this.to = to;
    if (first) {
      const wanted = (to - from) / FIRST_LASTS;
      this.speed = Math.min(MOST_SPEED, Math.max(LEAST_SPEED, roundSpeed(wanted)));
      this.time = from;
    }
    this.seek(this.time);
    this.tell();
  }

  get t(): number {
    return this.time;
  }

  get playing(): boolean {
    return this.running;
  }

  seek(t: number): void {
    this.time = Math.min(this.to, Math.max(this.from, t));
    for (const listener of this.times) listener(this.time);
  }

  setSpeed(speed: number): void {
    this.speed = Math.min(MOST_SPEED, Math.max(LEAST_SPEED, speed));
    this.tell();
  }

  play(): void {
    if (this.running || this.to <= this.from) return;
    if (this.time >= this.to) this.seek(this.from);
    this.running = true;
    this.last = null;
    this.request = requestAnimationFrame(this.advance);
    this.tell();
  }

  pause(): void {
    if (!this.running) return;
    this.running = false;
    cancelAnimationFrame(this.request);
    this.tell();
  }

  toggle(): void {
    if (this.running) this.pause();
    else this.play();
  }

  /** Calls back at every change of the time. Returns how to stop that. */
  onTime(listener: TimeListener): () => void {
    this.times.add(listener);
    return () => this.times.delete(listener);
  }

  /** Calls back when playing, speed, span or loop change. */
  onState(listener: () => void): () => void {
    this.states.add(listener);
    return () => this.states.delete(listener);
  }

  tell(): void {
    for (const listener of this.states) listener();
  }

  private readonly advance = (now: number): void => {
    if (!this.running) return;
    const passed = this.last === null ? 0 : Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    let t = this.time + passed * this.speed;
    if (t >= this.to) {
      if (this.loop) t = this.from + ((t - this.from) % (this.to - this.from));
      else {
        this.seek(this.to);
        this.pause();
        return;
      }
    }
    this.seek(t);
    flushFrameTasks();
    this.request = requestAnimationFrame(this.advance);
  };
}

/** The nearest of 1, 2, 5 times a power of ten. */
export function roundSpeed(speed: number): number {
  if (!(speed > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(speed));
  const share = speed / power;
  return (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10) * power;
}
