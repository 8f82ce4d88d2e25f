// What differs from another model, in 3D: bodies that came or changed have a color and a sign, those that are gone are ghosts.

import type { Packet } from "../../data/packet";
import { RunDocument, type RunHeader, type Vec3 } from "../../data/run_document";
import { isPacket } from "../../live/connection";
import type { PlaceStage } from "../stage/place_stage";
import type { SignedPoint } from "../stage/overlay_marks";
import type { ComparedMarks, RowChange } from "./compare_types";
import { SIGNS } from "./compare_types";

export const TINTS: Record<RowChange, string> = { added: "#2f9e5b", changed: "#d69a1d", renamed: "#3f7fd0", removed: "#d64545" };

/** The colors of bodies by name: what came, changed or was renamed. */
export function tintsOf({ changes }: Pick<ComparedMarks, "changes">): Map<string, string> {
  return new Map([...changes].filter(([, change]) => change !== "removed").map(([name, change]) => [name, TINTS[change]]));
}

/** Where the mass centers of bodies that are gone were. */
export function gonePoints({ header, arrays }: Packet): SignedPoint[] {
  const { bodies } = header as RunHeader;
  const poses = arrays.get("poses") ?? new Float32Array(0);
  return bodies.map(({ name }, k): SignedPoint => ({ name, sign: SIGNS.removed, change: "removed", point: [poses[7 * k]!, poses[7 * k + 1]!, poses[7 * k + 2]!] as Vec3 }));
}

export class ComparedStage {
  private readonly place: PlaceStage;
  private asked = 0;

  constructor(place: PlaceStage) {
    this.place = place;
  }

  /** Shows what differs; null: nothing is compared. */
  async show(marks: ComparedMarks | null): Promise<void> {
    const mine = ++this.asked;
    const { stage } = this.place;
    stage.setTints(marks === null ? null : tintsOf(marks));
    this.place.marks.setCompared(marks?.changes ?? new Map(), []);
    if (marks?.other === undefined || ![...marks.changes.values()].includes("removed")) stage.setGone(null);
    else {
      try {
        const answer = await this.place.context.document.ask("compare_scene", { other: marks.other });
        if (mine !== this.asked) return;
        const gone = isPacket(answer) ? answer : null;
        stage.setGone(gone === null ? null : new RunDocument(gone.header as RunHeader, gone.arrays));
        this.place.marks.setCompared(marks.changes, gone === null ? [] : gonePoints(gone));
      } catch {
        if (mine === this.asked) stage.setGone(null); // a model that cannot be assembled is listed all the same
      }
    }
    this.place.resized();
  }
}
