// Hands and keys on the stage: turn, shift, nearer and farther; pointing and choosing.

export interface StageHands {
  readonly canvas: HTMLElement;
  orbit(aside: number, upward: number): void;
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
  fit(): void;
  point(x: number, y: number): void;
  leave(): void;
  choose(x: number, y: number): void;
}

const TURN = 0.0087; // rad for a pixel
const STEP = Math.PI / 24; // rad for a key
const STILL = 4; // pixels that a click may move

/** Makes the stage listen. Returns how to stop that. */
export function addHands(stage: StageHands): () => void {
  const { canvas } = stage;
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const place = (event: PointerEvent | WheelEvent | MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const middle = ({ x, y }: { x: number; y: number }): [number, number] => [x - canvas.clientWidth / 2, y - canvas.clientHeight / 2];

  const down = (event: PointerEvent): void => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) moved = 0;
    stage.leave();
  };
  const move = (event: PointerEvent): void => {
    const now = place(event);
    const last = pointers.get(event.pointerId);
    if (!last) {
      if (event.pointerType !== "touch") stage.point(now.x, now.y);
      return;
    }
    const [dx, dy] = [now.x - last.x, now.y - last.y];
    moved += Math.abs(dx) + Math.abs(dy);
    if (pointers.size >= 2) pinch(event.pointerId, now, dx, dy);
    else if (moved > STILL) {
      if (event.buttons & 6 || event.shiftKey) stage.pan(dx, dy);
      else stage.orbit(dx * TURN, dy * TURN);
    }
    pointers.set(event.pointerId, now);
  };
  const pinch = (id: number, now: { x: number; y: number }, dx: number, dy: number): void => {
    const other = [...pointers].find(([key]) => key !== id)?.[1];
    const last = pointers.get(id);
    if (!other || !last) return;
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(now.x - other.x, now.y - other.y);
    const center = middle({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    if (before > 1 && after > 1) stage.zoom(after / before, ...center);
    stage.pan(dx / 2, dy / 2);
  };
  const up = (event: PointerEvent): void => {
    const was = pointers.delete(event.pointerId);
    if (was && pointers.size === 0 && moved <= STILL && event.type === "pointerup" && event.button === 0) {
      const { x, y } = place(event);
      stage.choose(x, y);
    }
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    stage.zoom(Math.exp(-0.0014 * lines * event.deltaY), ...middle(place(event)));
  };
  const leave = (): void => stage.leave();
  const menu = (event: Event): void => event.preventDefault();
  const double = (): void => stage.fit();
  const key = (event: KeyboardEvent): void => keyDown(stage, event);

  const listeners: [string, EventListener][] = [
    ["pointerdown", down as EventListener], ["pointermove", move as EventListener], ["pointerup", up as EventListener],
    ["pointercancel", up as EventListener], ["pointerleave", leave], ["contextmenu", menu], ["dblclick", double],
    ["keydown", key as EventListener],
  ];
  for (const [name, listener] of listeners) canvas.addEventListener(name, listener);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    for (const [name, listener] of listeners) canvas.removeEventListener(name, listener);
    canvas.removeEventListener("wheel", wheel);
  };
}

function keyDown(stage: StageHands, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const way: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const step = way[event.key];
  if (step) {
    if (event.shiftKey) stage.pan(-30 * step[0], -30 * step[1]);
    else stage.orbit(-STEP * step[0], -STEP * step[1]);
  } else if (event.key === "+" || event.key === "=") stage.zoom(1.2, 0, 0);
  else if (event.key === "-" || event.key === "_") stage.zoom(1 / 1.2, 0, 0);
  else if (event.key === "0") stage.fit();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
