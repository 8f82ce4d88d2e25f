// Quantities that are not in the file: a live server computes them for the run that is shown.

import { readPacket, type Packet } from "../data/packet";
import type { RunDocument, SeriesInfo } from "../data/run_document";
import type { LiveLink } from "../panel";

/** One quantity as the server answered: rows of its parts over times of its own. */
export interface LiveQuantity {
  info: SeriesInfo;
  t: Float64Array;
  rows: Float32Array[];
}

/** An answer to ask("series", {names}): a packet whose header lists `series` and whose arrays are t and series. */
export function readAnswer(answer: unknown): LiveQuantity[] {
  const packet = answer instanceof ArrayBuffer ? readPacket(answer) : (answer as Packet);
  const { series: infos } = packet.header as { series: SeriesInfo[] };
  const t = Float64Array.from(packet.arrays.get("t") ?? []);
  const values = packet.arrays.get("series");
  const all = values instanceof Float32Array ? values : Float32Array.from(values ?? []);
  const n = t.length;
  return infos.map((info) => ({
    info, t,
    rows: Array.from({ length: Math.max(1, info.parts.length) }, (_, k) => all.subarray((info.row + k) * n, (info.row + k + 1) * n)),
  }));
}

/** Asks for the wanted names whenever the run changes: one question under way, the newest waits. */
export class LiveSeries {
  private readonly link: LiveLink;
  private readonly changed: (answered: LiveQuantity[]) => void;
  private readonly failed: (message: string) => void;
  private readonly known = new Map<string, LiveQuantity>();
  private run: RunDocument | null = null;
  private wanted: string[] = [];
  private asking = false;
  private again = false;

  constructor(link: LiveLink, changed: (answered: LiveQuantity[]) => void, failed: (message: string) => void) {
    this.link = link;
    this.changed = changed;
    this.failed = failed;
  }

  find(name: string): LiveQuantity | undefined {
    return this.known.get(name);
  }

  /** The names that are shown now, of this run. */
  want(names: string[], run: RunDocument): void {
    const missing = names.some((name) => !this.known.has(name));
    const fresh = this.run === run;
    this.run = run;
    this.wanted = names;
    if (names.length === 0 || (fresh && !missing)) return;
    if (this.asking) this.again = true;
    else void this.ask();
  }

  private async ask(): Promise<void> {
    this.asking = true;
    try {
      const answered = readAnswer(await this.link.ask("series", { names: this.wanted }));
      for (const each of answered) this.known.set(each.info.name, each);
      this.changed(answered);
    } catch (error) {
      this.failed(error instanceof Error ? error.message : String(error));
    }
    this.asking = false;
    if (this.again) {
      this.again = false;
      void this.ask();
    }
  }
}
