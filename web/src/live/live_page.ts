// The page of a live server: the running half, alone.

import { LiveConnection, socketAddress } from "./connection";
import { RunPane } from "./run_pane";

/** Starts the live page in its element. Tests and programs that drive the page find it as window.kinodeLive. */
export function startLive(host: HTMLElement): RunPane {
  const connection = new LiveConnection(() => new WebSocket(socketAddress(location)));
  const { theme } = host.dataset;
  const page = new RunPane(host, connection, theme === "light" || theme === "dark" ? { theme } : {});
  (globalThis as { kinodeLive?: RunPane }).kinodeLive = page;
  return page;
}
