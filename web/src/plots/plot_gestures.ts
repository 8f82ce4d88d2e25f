// Hand and keyboard on a plot: drag moves the clock, wheel or pinch zooms, Shift and drag moves the view,
// Ctrl (or Alt) and drag zooms to a stretch, a double click shows all.

import type { Clock } from "../clock";
import { make } from "../ui/elements";
import type { TimeWindow } from "./time_window";

export interface GestureTarget {
  clock: Clock;
  window: TimeWindow;
  area(): HTMLElement | null; // the part inside the axes
}

type Drag = { kind: "scrub" | "pan" | "stretch"; x: number; from: number; to: number; resume: boolean };

const WHEEL = 0.0016; // logarithm of the zoom for each pixel of the wheel

export function addPlotGestures(element: HTMLElement, target: GestureTarget): () => void {
  const { clock, window } = target;
  const fingers = new Map<number, number>();
  const stretch = make("div", { class: "plot-stretch", hidden: "" });
  let drag: Drag | null = null;
  let pinch: { spread: number; middle: number } | null = null;

  const timeAt = (clientX: number): number => {
    const box = target.area()?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return clock.t;
    return window.from + ((clientX - box.left) / box.width) * (window.to - window.from);
  };
  const inside = (event: Event): boolean => target.area()?.contains(event.target as Node) ?? false;

  const down = (event: PointerEvent): void => {
    if (!inside(event) || event.button > 1) return;
    fingers.set(event.pointerId, event.clientX);
    element.setPointerCapture(event.pointerId);
    if (fingers.size === 2) {
      drag = null;
      pinch = spreadOf(fingers);
      return;
    }
    const kind = event.shiftKey || event.button === 1 ? "pan" : event.ctrlKey || event.altKey || event.metaKey ? "stretch" : "scrub";
    drag = { kind, x: event.clientX, from: window.from, to: window.to, resume: clock.playing };
    if (kind === "scrub") {
      clock.pause();
      clock.seek(timeAt(event.clientX));
    }
  };

  const move = (event: PointerEvent): void => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, event.clientX);
    if (pinch !== null && fingers.size === 2) {
      const now = spreadOf(fingers);
      window.zoom(Math.max(0.2, Math.min(5, pinch.spread / Math.max(1, now.spread))), timeAt(now.middle));
      pinch = now;
    } else if (drag?.kind === "scrub") clock.seek(timeAt(event.clientX));
    else if (drag?.kind === "pan") {
      const width = target.area()?.clientWidth ?? 1;
      const shift = ((drag.x - event.clientX) / width) * (drag.to - drag.from);
      window.show(drag.from + shift, drag.to + shift);
    } else if (drag?.kind === "stretch") showStretch(drag.x, event.clientX);
  };

  const up = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId)) return;
    if (drag?.kind === "stretch" && Math.abs(event.clientX - drag.x) > 4)
      window.show(Math.min(timeAt(drag.x), timeAt(event.clientX)), Math.max(timeAt(drag.x), timeAt(event.clientX)));
    if (drag?.kind === "scrub" && drag.resume) clock.play();
    stretch.hidden = true;
    drag = null;
    pinch = null;
  };

  const showStretch = (a: number, b: number): void => {
    const area = target.area();
    if (area === null) return;
    if (stretch.parentElement !== area) area.append(stretch);
    stretch.hidden = false;
    stretch.style.left = `${Math.min(a, b) - area.getBoundingClientRect().left}px`;
    stretch.style.width = `${Math.abs(b - a)}px`;
  };

  const wheel = (event: WheelEvent): void => {
    if (!inside(event)) return;
    event.preventDefault();
    const width = target.area()?.clientWidth ?? 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) window.pan((event.deltaX || event.deltaY) / width);
    else window.zoom(Math.exp(WHEEL * event.deltaY), timeAt(event.clientX));
  };

  const key = (event: KeyboardEvent): void => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") window.zoom(0.7, clock.t);
    else if (event.key === "-") window.zoom(1 / 0.7, clock.t);
    else if (event.key === "0") window.reset();
    else if (event.shiftKey && event.key === "ArrowLeft") window.pan(-0.2);
    else if (event.shiftKey && event.key === "ArrowRight") window.pan(0.2);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // A captured pointer makes the plot the target of its clicks: the place decides.
  const reset = (event: MouseEvent): void => {
    const box = target.area()?.getBoundingClientRect();
    if (box !== undefined && event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom) window.reset();
  };

  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("dblclick", reset);
  element.addEventListener("keydown", key);
  return () => {
    drag = null;
    element.removeEventListener("wheel", wheel);
    element.removeEventListener("pointerdown", down);
  };
}

function spreadOf(fingers: Map<number, number>): { spread: number; middle: number } {
  const [a = 0, b = 0] = [...fingers.values()];
  return { spread: Math.abs(a - b), middle: (a + b) / 2 };
}
