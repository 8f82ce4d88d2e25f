// Work that is asked for often and done at most once for each picture of the screen.

export interface FrameTask {
  request(): void;
  /** Does it now if it was asked for. */
  flush(): void;
  cancel(): void;
}

const waiting = new Set<() => void>();
let frame = 0;

/** Does now all that was asked for. The clock calls it after a step, so that all views show one time in one picture. */
export function flushFrameTasks(): void {
  cancelAnimationFrame(frame);
  frame = 0;
  const now = [...waiting];
  waiting.clear();
  for (const work of now) {
    try {
      work();
    } catch (error) {
      reportError(error); // the other views go on
    }
  }
}

/**
 * When all that was asked for is drawn, with what that asked for in its turn: after two pictures that left nothing to
 * do. For programs that drive the page and then read it.
 */
export async function allDrawn(): Promise<void> {
  for (let quiet = 0; quiet < 2; quiet = waiting.size === 0 ? quiet + 1 : 0) {
    await new Promise(requestAnimationFrame);
    await new Promise((go) => setTimeout(go, 0)); // after all work of that picture, also that of a changed size
  }
}

export function makeFrameTask(work: () => void): FrameTask {
  const run = (): void => work();
  return {
    request(): void {
      waiting.add(run);
      if (frame === 0) frame = requestAnimationFrame(flushFrameTasks);
    },
    flush(): void {
      if (waiting.delete(run)) run();
    },
    cancel(): void {
      waiting.delete(run);
    },
  };
}
