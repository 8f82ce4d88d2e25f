// The one module: a page of its own or a report starts by itself, a notebook calls render, others call mount.

import { readPacket, runOf, unpack } from "./data/packet";
import type { RunDocument } from "./data/run_document";
import { startLive } from "./live/live_page";
import { render } from "./notebook";
import { mount } from "./player";
import { make } from "./ui/elements";

export { mount } from "./player";
export { readPacket, runOf, unpack } from "./data/packet";

export default { render };

/** Pages hold their runs in <script type="application/x-kinode-run"> inside or beside <div data-kinode-player>. */
export async function startPage(): Promise<void> {
  const liveHost = document.querySelector<HTMLElement>("[data-kinode-live]");
  if (liveHost !== null) startLive(liveHost);
  for (const host of document.querySelectorAll<HTMLElement>("[data-kinode-player]")) {
    try {
      const scripts = [...host.querySelectorAll('script[type="application/x-kinode-run"]')];
      const documents: RunDocument[] = [];
      for (const script of scripts) documents.push(runOf(readPacket(await unpack(script.textContent ?? ""))));
      if (documents.length === 0) continue;
      for (const script of scripts) script.remove();
      const theme = host.dataset["theme"];
      const player = mount(placeFor(host), documents, theme === "light" || theme === "dark" ? { theme } : {});
      (globalThis as { kinodePlayer?: unknown }).kinodePlayer ??= player;
    } catch (error) {
      host.append(make("p", { role: "alert" }, `The run cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    }
  }
}

/** Inside a page with styles of its own the player lives apart: neither sees the styles of the other. */
function placeFor(host: HTMLElement): HTMLElement {
  if (!host.hasAttribute("data-apart")) return host;
  const place = make("div", { style: "height: 100%" });
  host.attachShadow({ mode: "open" }).append(place);
  return place;
}

if (typeof document !== "undefined") {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => void startPage());
  else void startPage();
}
