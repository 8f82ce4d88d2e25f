// The library as the server has it: asked for when a model is opened, and kept up to date.

import type { Library } from "../../messages";
import type { LiveConnection } from "../../live/connection";
import type { StudioDocument } from "../document";

export class LibraryLink {
  private readonly document: StudioDocument;
  private readonly changed: () => void;

  constructor(document: StudioDocument, connection: Pick<LiveConnection, "onPush">, changed: () => void) {
    this.document = document;
    this.changed = changed;
    connection.onPush((message) => {
      if (message.kind === "library") this.take(message);
    });
    document.listen((news) => {
      if (news.kind === "opened") void this.ask();
    });
  }

  async ask(): Promise<void> {
    try {
      this.take(await this.document.ask("library"));
    } catch {
      // the palette is as it was; the next change of a file brings the library
    }
  }

  private take({ parts, folder }: Library): void {
    this.document.catalogue = { ...this.document.catalogue, library: parts, libraryFolder: folder };
    this.changed();
  }
}
