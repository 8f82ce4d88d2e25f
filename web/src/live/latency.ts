// How long it takes from an input event to the picture: measured always, shown nowhere, read by tests.

const MOST = 600;

export class LatencyMeter {
  /** Milliseconds of each answer that was shown, in order. */
  readonly all: number[] = [];
  /** Parts of the last one: until the answer came, until it was drawn. */
  last = { answer: NaN, shown: NaN };
  pictures = 0;

  get lastLatency(): number {
    return this.last.shown;
  }

  get median(): number {
    const sorted = [...this.all].sort((a, b) => a - b);
    return sorted.length === 0 ? NaN : sorted[sorted.length >> 1]!;
  }

  reset(): void {
    this.all.length = 0;
    this.pictures = 0;
  }

  /** The answer to an input of that time has been drawn; the picture is shown when the browser has taken it. */
  drawn(input: number, answered: number): void {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = (): void => {
        channel.port1.close();
        const shown = performance.now() - input;
        this.last = { answer: answered - input, shown };
        this.pictures++;
        this.all.push(shown);
        if (this.all.length > MOST) this.all.shift();
      };
      channel.port2.postMessage(0);
    });
  }
}
