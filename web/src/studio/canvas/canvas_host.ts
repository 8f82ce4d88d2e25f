// What the tools and commands of the canvas use of it.

import type { GestureAnswer } from "../../messages";
import type { Addition } from "../palette/kind_choices";
import type { ChoiceBox } from "../palette/choice_box";
import type { Gesture, StudioContext } from "../studio_types";
import type { BoxLayer } from "./box_layer";
import type { CanvasModel } from "./canvas_model";
import type { CanvasWindow } from "./canvas_window";
import type { Point } from "./route_types";
import type { WireLayer } from "./wire_layer";

export interface CanvasHost {
  readonly context: StudioContext;
  readonly sheet: HTMLElement;
  readonly overlay: SVGGElement; // lines of tools, above all
  readonly model: CanvasModel;
  readonly boxes: BoxLayer;
  readonly wires: WireLayer;
  readonly window: CanvasWindow;
  readonly choices: ChoiceBox;
  /** Chosen boxes. */
  readonly chosen: ReadonlySet<string>;
  /** The chosen link, if one is. */
  readonly chosenLink: string | null;
  /** The place of the drawing where the pointer was last, or its middle. */
  readonly pointer: Point;
  choose(names: Iterable<string>, more?: { add?: boolean; focus?: boolean }): void;
  chooseLink(name: string | null): void;
  /** Shows boxes where the model has them now, with lines that follow. */
  showMoved(names: readonly string[]): void;
  /** What is dragged is drawn apart, and put down again. */
  lift(names: readonly string[]): void;
  putDown(): void;
  /** Sends a gesture; what it makes is chosen. */
  act(gesture: Gesture): Promise<GestureAnswer | null>;
  /** Moves boxes: at once here, then in the document. */
  move(places: Record<string, Point>): void;
  /** Adds a part, and asks for what it stands between. */
  add(addition: Addition, at: Point | null, byKeys: boolean): Promise<void>;
  /** Words at the lower edge of the canvas; null takes them away. */
  hint(words: string | null, ...more: HTMLElement[]): void;
  focusSheet(): void;
}

/** Something that the pointer does from press to release. */
export interface PointerTool {
  move(event: PointerEvent): void;
  /** The pointer was released; true: it goes on until the next click. */
  up(event: PointerEvent): boolean | void;
  cancel(): void;
}
