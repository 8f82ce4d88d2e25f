"""Pages on a machine slower than this one, to find tests that read a page before it has answered.

    KINODE_PAGE_LAG=150 python -m pytest -n 0 tests/studio/pages
    KINODE_PAGE_THROTTLE=6 python -m pytest -n 0 tests/studio/pages

With a lag, in ms, every picture that the page asks for, every timer and every answer of a server comes so much later,
in the same order: a test that looks once at what comes with any of these fails every time, not once in a thousand runs.
It costs no processor time.  With a throttle, Chromium's own, the page's program runs so many times slower.
"""

from __future__ import annotations

import os

LAG = float(os.environ.get("KINODE_PAGE_LAG", "0"))
THROTTLE = float(os.environ.get("KINODE_PAGE_THROTTLE", "1"))
LATER = """(() => {
  const lag = %s;
  const { setTimeout, clearTimeout, requestAnimationFrame, cancelAnimationFrame, fetch, WebSocket } = globalThis;
  const frames = new Map();
  let number = 0;
  globalThis.requestAnimationFrame = (work) => {
    const id = ++number;
    const draw = (now) => frames.delete(id) && work(now);
    const timer = setTimeout(() => {
      const frame = requestAnimationFrame(draw);
      frames.set(id, () => cancelAnimationFrame(frame));
    }, lag);
    frames.set(id, () => clearTimeout(timer));
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => {
    frames.get(id)?.();
    frames.delete(id);
  };
  globalThis.setTimeout = (work, pause = 0, ...given) => setTimeout(work, pause + lag, ...given);
  globalThis.fetch = async (...asked) => {
    await new Promise((go) => setTimeout(go, lag));
    return fetch(...asked);
  };
  const heard = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    ...heard,
    set(listener) {
      heard.set.call(this, (event) => setTimeout(() => listener.call(this, event), lag));
    },
  });
})();"""


def slow_down(page):
    """Slow a new page down as the environment asks; as it is otherwise."""
    if LAG > 0:
        page.context.add_init_script(LATER % LAG)
    if THROTTLE > 1:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})
    return page
