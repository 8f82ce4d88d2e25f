// What the sections of the joint panel have in common.

import type { JointData } from "../data/run_document";

export interface JointSection {
  readonly element: HTMLElement;
  /** Another joint, another part of the load, or new numbers of the same. */
  show(joint: JointData): void;
  showTime(): void;
  themeChanged(): void;
  resized(): void;
  destroy(): void;
}
