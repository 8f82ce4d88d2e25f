// Work that is asked for often and done at most once for each picture of the screen.

export interface FrameTask {
  request(): void;
  /** Does it now if it was asked for. */
  flush(): void;
  cancel(): void;
}

export function makeFrameTask(work: () => void): FrameTask {
  let waiting = 0;
  const run = (): void => {
    waiting = 0;
    work();
  };
  return {
    request(): void {
      if (waiting === 0) waiting = requestAnimationFrame(run);
    },
    flush(): void {
      if (waiting === 0) return;
      cancelAnimationFrame(waiting);
      run();
    },
    cancel(): void {
      if (waiting !== 0) cancelAnimationFrame(waiting);
      waiting = 0;
    },
  };
}
