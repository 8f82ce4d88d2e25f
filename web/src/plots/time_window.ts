// The stretch of time that plots show: the whole run at first, less when zoomed. All plots of a panel share one.

import type { Clock } from "../clock";

const LEAST_SHARE = 1e-6; // of the run

export class TimeWindow {
  private readonly clock: Pick<Clock, "from" | "to">;
  private start = 0;
  private end = 0;
  private narrowed = false;
  private readonly listeners = new Set<() => void>();

  constructor(clock: Pick<Clock, "from" | "to">) {
    this.clock = clock;
  }

  get from(): number {
    return this.narrowed ? this.start : this.clock.from;
  }

  get to(): number {
    return this.narrowed ? this.end : this.clock.to;
  }

  get zoomed(): boolean {
    return this.narrowed;
  }

  /** Shows a stretch, kept inside the run; the whole run ends the zoom. */
  show(from: number, to: number): void {
    const whole = this.clock.to - this.clock.from;
    const width = Math.min(whole, Math.max(to - from, whole * LEAST_SHARE));
    let start = Math.max(this.clock.from, Math.min(from, this.clock.to - width));
    if (!Number.isFinite(start)) start = this.clock.from;
    this.narrowed = width < whole * (1 - 1e-9);
    this.start = start;
    this.end = start + width;
    this.tell();
  }

  /** Narrower by the factor, about a time that keeps its place. */
  zoom(factor: number, about: number): void {
    const width = (this.to - this.from) * factor;
    const share = (about - this.from) / (this.to - this.from || 1);
    this.show(about - share * width, about + (1 - share) * width);
  }

  /** Moves by a share of its width. */
  pan(share: number): void {
    const shift = share * (this.to - this.from);
    this.show(this.from + shift, this.to + shift);
  }

  reset(): void {
    this.narrowed = false;
    this.tell();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
