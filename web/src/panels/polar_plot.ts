// Polar plots of a shaft: the force across its axis around the shaft, in fixed and in rotating axes. A dot is the clock.

import type { JointData, RunDocument } from "../data/run_document";
import type { LoadPart, PlayerContext } from "../panel";
import { suitableUnit, unitWords, type ShownUnit } from "../plots/unit_choice";
import { make } from "../ui/elements";
import { lineColor } from "../ui/line_colors";
import { formatNumber } from "../ui/numbers";
import type { JointSection } from "./joint_section";
import { circles, polarData, tailStart, type PolarData } from "./polar_data";

const MOST_POINTS = 1500;

interface Face {
  which: "fixed" | "turning";
  canvas: HTMLCanvasElement;
  words: HTMLElement;
  picture: HTMLCanvasElement; // what does not change with time
}

export class PolarPlot implements JointSection {
  readonly element = make("section", { class: "polar" }, make("h3", {}, "Around the shaft"));
  private readonly context: PlayerContext;
  private readonly faces: Face[];
  private readonly value = make("p", { class: "muted" });
  private data: PolarData | null = null;
  private unit: ShownUnit = { unit: "N", factor: 1 };
  private source: { run: RunDocument; joint: string; part: LoadPart } | null = null;
  private size = 0;

  constructor(context: PlayerContext) {
    this.context = context;
    this.faces = (["fixed", "turning"] as const).map((which) => {
      const canvas = make("canvas", { role: "img" });
      return { which, canvas, words: make("figcaption", { class: "muted" }), picture: document.createElement("canvas") };
    });
    this.element.append(make("div", { class: "polar-pair" }, ...this.faces.map((face) => make("figure", {}, face.canvas, face.words))), this.value);
  }

  show(joint: JointData): void {
    this.element.hidden = !joint.shaft || joint.load < 0;
    if (this.element.hidden) return;
    const { main, loadPart } = this.context;
    if (this.source?.run !== main || this.source.joint !== joint.name || this.source.part !== loadPart) {
      this.source = { run: main, joint: joint.name, part: loadPart };
      this.data = polarData(main, joint, loadPart);
      this.unit = suitableUnit("N", this.data.peak);
      const body = (index: number): string => main.header.bodies[index]?.name ?? "world";
      const axes = { fixed: `fixed axes, of ${body(joint.parent.body)}`, turning: `rotating axes, of ${body(joint.child.body)}` };
      for (const face of this.faces) {
        face.words.textContent = axes[face.which];
        face.canvas.setAttribute("aria-label", `Polar plot of the ${loadPart} force across the axis of ${joint.name}, ${axes[face.which]}`);
      }
    }
    this.paint();
  }

  showTime(): void {
    if (this.element.hidden || this.data === null || this.size === 0) return;
    const { index, share } = this.context.main.locate(this.context.clock.t);
    for (const face of this.faces) this.drawFace(face, index, share);
    const [x, y] = this.data.fixed;
    const now = [x, y].map((row) => row[index]! + share * ((row[index + 1] ?? row[index]!) - row[index]!)) as [number, number];
    const size = Math.hypot(...now);
    const angle = (Math.atan2(now[1], now[0]) * 180) / Math.PI;
    this.value.textContent = `Force of the shaft on its bearings, ${this.context.loadPart}: ${formatNumber(size * this.unit.factor)} ${unitWords(this.unit.unit)} at ${angle.toFixed(1).replace("-", "−")}°`;
  }

  themeChanged(): void {
    this.paint();
  }

  resized(): void {
    this.paint();
  }

  destroy(): void {}

  /** Circles, spokes and the whole curve, once for each change. */
  private paint(): void {
    if (this.element.hidden || this.data === null) return;
    const box = this.faces[0]!.canvas.parentElement!.clientWidth;
    this.size = Math.min(260, box);
    if (this.size <= 0) return;
    const ratio = devicePixelRatio || 1;
    for (const face of this.faces) {
      for (const canvas of [face.canvas, face.picture]) canvas.width = canvas.height = Math.round(this.size * ratio);
      face.canvas.style.width = face.canvas.style.height = `${this.size}px`;
      this.paintFace(face, ratio);
    }
    this.showTime();
  }

  private radius(): number {
    return this.size / 2 - 14;
  }

  private paintFace(face: Face, ratio: number): void {
    const pen = face.picture.getContext("2d");
    const data = this.data!;
    if (pen === null) return;
    const style = getComputedStyle(this.context.root);
    const peak = data.peak || 1;
    pen.setTransform(ratio, 0, 0, ratio, (this.size * ratio) / 2, (this.size * ratio) / 2);
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.fillStyle = style.getPropertyValue("--muted");
    pen.font = "10.5px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.beginPath();
    for (let k = 0; k < 12; k++) {
      pen.moveTo(0, 0);
      pen.lineTo(this.radius() * Math.cos((k * Math.PI) / 6), this.radius() * Math.sin((k * Math.PI) / 6));
    }
    const scale = this.radius() / peak;
    for (const r of circles(peak * this.unit.factor)) {
      const radius = (r / this.unit.factor) * scale;
      pen.moveTo(radius, 0);
      pen.arc(0, 0, radius, 0, 2 * Math.PI);
      pen.fillText(formatNumber(r, 3), 3, -radius + 11);
    }
    pen.stroke();
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText("0°", this.radius() + 8, 0);
    pen.fillText("90°", 0, -this.radius() - 8);
    pen.strokeStyle = lineColor(0, this.context.theme);
    pen.globalAlpha = 0.55;
    this.stroke(pen, face, 0, data.angle.length - 1);
    pen.globalAlpha = 1;
  }

  private stroke(pen: CanvasRenderingContext2D, face: Face, from: number, to: number): void {
    const [x, y] = this.data![face.which];
    const scale = this.radius() / (this.data!.peak || 1);
    const every = Math.max(1, Math.floor((to - from) / MOST_POINTS));
    pen.beginPath();
    for (let k = from; k <= to; k += every) {
      if (k === from) pen.moveTo(x[k]! * scale, -y[k]! * scale);
      else pen.lineTo(x[k]! * scale, -y[k]! * scale);
    }
    pen.stroke();
  }

  private drawFace(face: Face, index: number, share: number): void {
    const pen = face.canvas.getContext("2d");
    const data = this.data!;
    if (pen === null || face.canvas.width === 0) return;
    const ratio = devicePixelRatio || 1;
    const [x, y] = data[face.which];
    const scale = this.radius() / (data.peak || 1);
    const at = (row: Float32Array): number => (row[index]! + share * ((row[index + 1] ?? row[index]!) - row[index]!)) * scale;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, face.canvas.width, face.canvas.height);
    pen.drawImage(face.picture, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, (this.size * ratio) / 2, (this.size * ratio) / 2);
    pen.strokeStyle = lineColor(0, this.context.theme);
    pen.lineWidth = 2.2;
    this.stroke(pen, face, tailStart(data.angle, index), index);
    pen.strokeStyle = pen.fillStyle = lineColor(1, this.context.theme);
    pen.lineWidth = 1.4;
    pen.beginPath();
    pen.moveTo(0, 0);
    pen.lineTo(at(x), -at(y));
    pen.stroke();
    pen.beginPath();
    pen.arc(at(x), -at(y), 4.5, 0, 2 * Math.PI);
    pen.fill();
  }
}
