// The player in a notebook: what anywidget calls. The model holds the runs as packets, the height, the theme, a table.

import { readPacket, runOf } from "./data/packet";
import type { RunDocument } from "./data/run_document";
import { mount } from "./player";
import type { ShownRun } from "./panel";
import { make } from "./ui/elements";

/** What is used of a widget's model. */
export interface WidgetModel {
  get(name: string): unknown;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
}

/** Bytes as front ends hand them over: DataView (Jupyter), or an array of bytes, at any place of a larger buffer. */
export function bytesOf(value: unknown): ArrayBuffer {
  if (value instanceof ArrayBuffer) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice().buffer;
  throw new Error("the data of the run did not arrive");
}

async function inflate(packed: ArrayBuffer): Promise<ArrayBuffer> {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

async function runsOf(model: WidgetModel): Promise<RunDocument[]> {
  const packets = model.get("runs");
  if (!Array.isArray(packets) || packets.length === 0) throw new Error("there is no run");
  return Promise.all(packets.map(async (packet) => runOf(readPacket(await inflate(bytesOf(packet))))));
}

/** Shows the widget; the function that it returns removes the player and gives back its WebGL context. */
export async function render({ model, el }: { model: WidgetModel; el: HTMLElement }): Promise<() => void> {
  try {
    const theme = model.get("theme");
    const options = { height: String(model.get("height") || "560px"), autoplay: false };
    const player = mount(el, await runsOf(model), theme === "light" || theme === "dark" ? { ...options, theme } : options);
    const table = String(model.get("table") ?? "");
    if (table !== "") {
      const below = make("div", { class: "kinode-tables" });
      below.innerHTML = table; // written by kinode, every text in it escaped
      el.append(below);
    }
    const changed = (): void => {
      void runsOf(model).then((documents) => {
        player.setRuns(documents.map((document, k): ShownRun => ({
          document, role: k === 0 ? "main" : "pinned", label: document.header.label || document.header.name,
        })));
      });
    };
    model.on("change:runs", changed);
    return () => {
      model.off("change:runs", changed);
      player.destroy();
    };
  } catch (error) {
    el.append(make("p", { role: "alert" }, `The run cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    return () => el.replaceChildren();
  }
}
