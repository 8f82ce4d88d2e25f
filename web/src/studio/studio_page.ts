// The studio's page: one document, and the parts that show it.

import { LiveConnection, socketAddress } from "../live/connection";
import { make } from "../ui/elements";
import { StudioDocument } from "./document";

/** What tests and programs that drive the page find as window.kinodeStudio. */
export interface StudioPage {
  readonly connection: LiveConnection;
  readonly document: StudioDocument;
}

/** Starts the studio in its element. */
export function startStudio(host: HTMLElement): StudioPage {
  const connection = new LiveConnection(() => new WebSocket(socketAddress(location)));
  const page: StudioPage = { connection, document: new StudioDocument(connection) };
  const words = make("p", { role: "status" }, "The model is being read.");
  host.append(words);
  page.document.listen(({ kind }) => kind === "opened" && (words.textContent = page.document.text));
  connection.onState((state) => state === "open" && void page.document.open(true));
  (globalThis as { kinodeStudio?: StudioPage }).kinodeStudio = page;
  return page;
}
