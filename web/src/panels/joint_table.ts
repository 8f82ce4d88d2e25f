// The load of a joint at the clock: force and moment, total, static and kinetic, in the joint's axes; peaks that lead to their times.

import type { JointData } from "../data/run_document";
import type { LoadPart, PlayerContext } from "../panel";
import { sampleAt } from "../plots/decimate";
import { jointLoad, jointLoadSize, LOAD_PARTS, type LoadKind } from "../plots/quantities";
import { uniqueWords } from "../scene/math/load_words";
import { suitableUnit, unitWords } from "../plots/unit_choice";
import { make } from "../ui/elements";
import { formatNumber } from "../ui/numbers";
import type { JointSection } from "./joint_section";

const KINDS: LoadKind[] = ["force", "moment"];
const SI = { force: "N", moment: "N*m" } as const;

interface Row {
  kind: LoadKind;
  share: LoadPart;
  cells: HTMLElement[]; // x, y, z, magnitude
  peak: HTMLButtonElement;
  time: number;
  rows: Float32Array[];
  factor: number;
  largest: number; // of the total load over the run
}

export class JointTable implements JointSection {
  readonly element = make("section", { class: "joint-table" });
  private readonly context: PlayerContext;
  private readonly notes = make("div", { class: "joint-notes" });
  private readonly body = make("tbody");
  private rows: Row[] = [];
  private structure = "";

  constructor(context: PlayerContext) {
    this.context = context;
    const head = ["", "", "x", "y", "z", "magnitude", "peak"].map((text, k) => make("th", { scope: "col", ...(k > 1 ? { class: "number" } : {}) }, text));
    this.element.append(make("table", { "aria-label": "Load at the time of the clock" }, make("thead", {}, make("tr", {}, ...head)), this.body), this.notes);
  }

  show(joint: JointData): void {
    const run = this.context.main;
    const shares = run.header.loadParts.includes("static") ? LOAD_PARTS : (["total"] as LoadPart[]);
    const units = KINDS.map((kind) => suitableUnit(SI[kind], joint.peak?.[kind].value ?? largest(jointLoadSize(run, joint, kind, "total")).value));
    const structure = [joint.name, ...shares, ...units.map((unit) => unit.unit), joint.unique.join(), joint.shared].join("\n");
    if (structure !== this.structure) {
      this.structure = structure;
      this.build(joint, shares, units.map((unit) => unit.unit));
    }
    for (const row of this.rows) {
      const size = jointLoadSize(run, joint, row.kind, row.share);
      row.rows = [...jointLoad(run, joint, row.kind, row.share), size];
      row.factor = units[KINDS.indexOf(row.kind)]!.factor;
      const found = largest(size);
      row.largest = joint.peak?.[row.kind].value ?? largest(jointLoadSize(run, joint, row.kind, "total")).value;
      const stored = row.share === "total" ? joint.peak?.[row.kind] : undefined;
      const peak = stored ?? { value: found.value, time: run.t[found.index] ?? 0 };
      row.time = peak.time;
      row.peak.textContent = formatNumber(peak.value * row.factor, 4);
      row.peak.title = `at ${formatNumber(peak.time, 5)} s: go there`;
      row.peak.setAttribute("aria-label", `Peak of the ${row.share} ${row.kind}, ${row.peak.textContent}, at ${formatNumber(peak.time, 5)} s: go there`);
    }
    this.showTime();
  }

  showTime(): void {
    const { clock, main } = this.context;
    for (const row of this.rows) row.rows.forEach((values, k) => {
      const text = formatNumber(tidy(sampleAt(main.t, values, clock.t), row.largest) * row.factor, 4);
      const cell = row.cells[k]!;
      if (cell.textContent !== text) cell.textContent = text;
    });
    this.element.querySelectorAll("tr").forEach((row) => row.classList.toggle("chosen", row.dataset["part"] === this.context.loadPart));
  }

  themeChanged(): void {}
  resized(): void {}
  destroy(): void {}

  private build(joint: JointData, shares: LoadPart[], units: string[]): void {
    this.rows = [];
    const rows = KINDS.flatMap((kind, k) => shares.map((share, first) => {
      const cells = [0, 1, 2, 3].map((c) => make("td", { class: "number", ...(c < 3 ? this.doubt(joint, 3 * k + c) : {}) }));
      const peak = make("button", { type: "button", class: "link" });
      const row: Row = { kind, share, cells, peak, time: 0, rows: [], factor: 1, largest: 0 };
      peak.addEventListener("click", () => {
        this.context.clock.pause();
        this.context.clock.seek(row.time);
      });
      this.rows.push(row);
      const pick = make("button", { type: "button", class: "link", title: `Show the ${share} part in 3D and below` }, share);
      pick.addEventListener("click", () => this.context.setLoadPart(share));
      const group = first === 0 ? [make("th", { scope: "rowgroup", rowspan: String(shares.length) }, kind, make("br"), make("span", { class: "muted" }, unitWords(units[k]!)))] : [];
      return make("tr", { "data-part": share, class: kind }, ...group, make("th", { scope: "row" }, pick), ...cells, make("td", { class: "number" }, peak));
    }));
    this.body.replaceChildren(...rows);
    this.notes.replaceChildren(...this.describe(joint).map((text) => make("p", {}, text)));
  }

  private doubt(joint: JointData, component: number): Record<string, string> {
    if (joint.unique[component] ?? true) return {};
    return { "data-doubt": "", title: `Not unique: ${joint.shared || "other shares are possible"}`, "aria-description": "not unique" };
  }

  private describe(joint: JointData): string[] {
    const notes = [`On ${joint.on}, about ${joint.point}, in axes of ${joint.axes}.`];
    if (joint.unique.some((flag) => !flag)) notes.push(`${uniqueWords(joint).replace(/^h/, "H")}.`);
    if (joint.leftOut.length > 0) notes.push(`Without: ${joint.leftOut.join(", ")}.`);
    return [...notes, ...this.context.main.header.loadNotes];
  }
}

/** A value that is rounding beside the peak of the run is zero: loads are stored with some seven digits. */
export function tidy(value: number, peak: number): number {
  return Math.abs(value) < 1e-6 * peak ? 0 : value;
}

/** The largest value and where it is. */
export function largest(values: Float32Array): { value: number; index: number } {
  let index = 0;
  for (let k = 1; k < values.length; k++) if (values[k]! > values[index]!) index = k;
  return { value: values[index] ?? NaN, index };
}
