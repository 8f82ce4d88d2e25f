// In a corner of the stage: the directions of the axes, and the bar that gives the scale.

import type { Vec3 } from "../../data/run_document";
import { make } from "../../ui/elements";
import type { CameraRig } from "../camera_rig";
import { roundLength } from "../math/framing";
import { conjugate, rotate } from "../math/vectors";

const NS = "http://www.w3.org/2000/svg";

/** The directions of x, y, z in a corner, and a bar of a round length. */
export class Corner {
  readonly element = make("div", { class: "corner", "aria-hidden": "true" });
  private readonly svg = document.createElementNS(NS, "svg");
  private readonly arms: { line: SVGLineElement; text: SVGTextElement }[] = [];
  private readonly bar = make("div", { class: "scale-bar" });
  private last = "";

  constructor() {
    this.svg.setAttribute("viewBox", "-34 -34 68 68");
    this.svg.setAttribute("class", "directions");
    for (const letter of "xyz") {
      const line = document.createElementNS(NS, "line");
      const text = document.createElementNS(NS, "text");
      line.setAttribute("class", `axis-${letter}`);
      text.setAttribute("class", `axis-${letter}`);
      text.textContent = letter;
      this.svg.append(line, text);
      this.arms.push({ line, text });
    }
    this.element.append(this.svg, this.bar);
  }

  place(rig: CameraRig): void {
    const key = `${rig.quaternion.map((x) => x.toFixed(4)).join()} ${rig.pixel.toPrecision(6)}`;
    if (key === this.last) return;
    this.last = key;
    const back = conjugate(rig.quaternion);
    this.arms.forEach(({ line, text }, k) => {
      const axis: Vec3 = [0, 0, 0];
      axis[k] = 1;
      const [x, y, z] = rotate(back, axis);
      line.setAttribute("x2", String(22 * x));
      line.setAttribute("y2", String(-22 * y));
      const flat = Math.hypot(x, y);
      text.setAttribute("x", String(flat < 0.25 ? 9 * (k + 1) - 20 : (22 * flat + 7) * (x / flat)));
      text.setAttribute("y", String(flat < 0.25 ? 13 : -(22 * flat + 7) * (y / flat)));
      const opacity = flat < 0.25 ? "0.55" : z < -0.3 ? "0.7" : "1";
      text.setAttribute("opacity", opacity);
      line.setAttribute("opacity", opacity);
    });
    const { length, words } = roundLength(90 * rig.pixel);
    this.bar.style.width = `${length / rig.pixel}px`;
    this.bar.textContent = words;
  }
}
