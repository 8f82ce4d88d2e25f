// The whole route of a drawing, found in a worker; the newest drawing wins.

import RouteWorker from "./route_worker?worker&inline";
import { Router } from "./router";
import type { RouteAnswer, RoutePlan } from "./route_types";

export class RouteService {
  private worker: Worker | null = null;
  private busy = false;
  private waiting: RoutePlan | null = null;
  private number = 0;
  private readonly done: (answer: RouteAnswer) => void;

  constructor(done: (answer: RouteAnswer) => void) {
    this.done = done;
    try {
      this.worker = new RouteWorker();
      this.worker.addEventListener("message", this.answered);
      this.worker.addEventListener("error", this.failed);
    } catch {
      this.worker = null;
    }
  }

  /** Asks for the lines of a drawing; one that waits is replaced. */
  request(plan: RoutePlan): void {
    this.number++;
    this.waiting = plan;
    this.next();
  }

  /** What is under way will not be told. */
  cancel(): void {
    this.number++;
    this.waiting = null;
  }

  destroy(): void {
    this.cancel();
    this.worker?.terminate();
  }

  private next(): void {
    if (this.busy || this.waiting === null) return;
    const plan = this.waiting;
    const number = this.number;
    this.waiting = null;
    if (this.worker === null) {
      setTimeout(() => number === this.number && this.done(new Router(plan).route()), 0);
      return;
    }
    this.busy = true;
    this.worker.postMessage({ number, plan });
  }

  private readonly answered = (event: MessageEvent<{ number: number; answer: RouteAnswer }>): void => {
    this.busy = false;
    if (event.data.number === this.number) this.done(event.data.answer);
    this.next();
  };

  /** A worker that cannot start: the page routes by itself. */
  private readonly failed = (): void => {
    this.worker = null;
    this.busy = false;
  };
}
