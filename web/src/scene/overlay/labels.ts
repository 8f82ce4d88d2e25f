// Names of joints and bodies beside them, as text over the picture; those that would cover others are left out.

import type { RunHeader, Vec3 } from "../../data/run_document";
import { make } from "../../ui/elements";
import type { CameraRig } from "../camera_rig";
import type { PoseReader } from "../math/poses";
import { symbolOf } from "../symbols";

interface Label {
  kind: "joint" | "body" | "frame" | "failure";
  text: string;
  element: HTMLElement;
  width: number;
  shown: boolean;
  at(poses: PoseReader): Vec3;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const HEIGHT = 17;

export function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** The first free place around a point, or null. */
export function findPlace(x: number, y: number, width: number, taken: readonly Box[], room: Box): Box | null {
  const gap = 11;
  const places: [number, number][] = [
    [x + gap, y - gap - HEIGHT / 2], [x + gap, y + gap - HEIGHT / 2], [x - gap - width, y - gap - HEIGHT / 2],
    [x - gap - width, y + gap - HEIGHT / 2], [x - width / 2, y - 2 * gap - HEIGHT / 2], [x - width / 2, y + 2 * gap - HEIGHT / 2],
  ];
  for (const [left, top] of places) {
    const box = { x: left, y: top, width, height: HEIGHT };
    const inside = left >= room.x && top >= room.y && left + width <= room.x + room.width && top + HEIGHT <= room.y + room.height;
    if (inside && !taken.some((other) => overlaps(box, other))) return box;
  }
  return null;
}

export class Labels {
  readonly element = make("div", { class: "labels", "aria-hidden": "true" });
  private labels: Label[] = [];
  private signature = "";

  setHeader(header: RunHeader, wanted: { joints: boolean; bodies: boolean; frames: boolean }): void {
    const signature = JSON.stringify([wanted, header.joints.map((j) => j.name), header.bodies.map((b) => b.name), header.frames.map((f) => f.name)]);
    const entries = entriesOf(header, wanted);
    if (signature === this.signature) {
      this.labels.forEach((label, k) => (label.at = entries[k]!.at));
      return;
    }
    this.signature = signature;
    this.element.replaceChildren();
    this.labels = entries.map(({ kind, text, at }) => {
      const element = make("span", { class: `label ${kind}` }, text);
      element.style.visibility = "hidden";
      this.element.append(element);
      return { kind, text, element, at, width: 8 + 6.6 * text.length, shown: false };
    });
  }

  /** Moves the names; `taken` is covered by other things. */
  place(poses: PoseReader, rig: CameraRig, taken: Box[]): void {
    const room = { x: 2, y: 2, width: rig.width - 4, height: rig.heightPixels - 4 };
    const seen = this.labels.map((label) => rig.project(label.at(poses)));
    const boxes = [...taken, ...seen.filter((p) => p.visible).map((p) => ({ x: p.x - 5, y: p.y - 5, width: 10, height: 10 }))];
    this.labels.forEach((label, k) => {
      const { x, y, visible } = seen[k]!;
      const box = visible ? findPlace(x, y, label.width, boxes, room) : null;
      if (box) {
        boxes.push(box);
        label.element.style.transform = `translate(${Math.round(box.x)}px, ${Math.round(box.y)}px)`;
      }
      if (label.shown !== (box !== null)) {
        label.shown = box !== null;
        label.element.style.visibility = label.shown ? "visible" : "hidden";
      }
    });
  }

  /** The names as they stand, for pictures that are saved. */
  drawOn(canvas: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D, factor: number, ink: string, paper: string): void {
    canvas.save();
    canvas.scale(factor, factor);
    canvas.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    canvas.textBaseline = "middle";
    canvas.lineJoin = "round";
    for (const label of this.labels) {
      const found = /translate\((-?\d+)px, (-?\d+)px\)/.exec(label.element.style.transform);
      if (!label.shown || !found) continue;
      const [x, y] = [Number(found[1]) + 4, Number(found[2]) + HEIGHT / 2];
      canvas.strokeStyle = paper;
      canvas.lineWidth = 3;
      canvas.strokeText(label.text, x, y);
      canvas.fillStyle = ink;
      canvas.fillText(label.text, x, y);
    }
    canvas.restore();
  }
}

type Entry = Pick<Label, "kind" | "text" | "at">;

function entriesOf(header: RunHeader, wanted: { joints: boolean; bodies: boolean; frames: boolean }): Entry[] {
  const entries: Entry[] = [];
  if (wanted.joints) {
    for (const joint of header.joints) {
      if (symbolOf(joint) !== "") entries.push({ kind: "joint", text: joint.name, at: (poses) => poses.place(joint.child) });
    }
  }
  if (wanted.bodies) {
    header.bodies.forEach((body, row) => entries.push({ kind: "body", text: body.name, at: (poses) => poses.point(row, body.com) }));
  }
  if (wanted.frames) {
    for (const frame of header.frames) entries.push({ kind: "frame", text: frame.name, at: (poses) => poses.point(frame.body, frame.at) });
  }
  return entries;
}
