// What all parts of the player have in common.

import type { Clock } from "./clock";
import type { Ask, Push } from "./live/connection";
import type { RunDocument } from "./data/run_document";

export type LoadPart = "total" | "static" | "kinetic";
export type Theme = "light" | "dark";

/** What is chosen: a joint, body, element, series or link by name. */
export interface Selection {
  kind: "joint" | "body" | "element" | "link" | "none";
  name: string;
}

/** A run that is shown: the first is the main one, others are compared with it (ghost, grey curve, column). */
export interface ShownRun {
  document: RunDocument;
  role: "main" | "pinned" | "branch" | "removed";
  label: string;
}

/** What panels are given: the runs, the clock, what is chosen, and ways to tell the others. */
export interface PlayerContext {
  readonly root: HTMLElement;
  readonly clock: Clock;
  readonly runs: readonly ShownRun[];
  readonly main: RunDocument;
  readonly theme: Theme;
  selection: Selection;
  loadPart: LoadPart;
  /** The live connection, or null in a file. */
  readonly live: LiveLink | null;
  select(selection: Selection): void;
  setLoadPart(part: LoadPart): void;
  setTheme(theme: Theme): void;
  /** Opens a panel by its name. */
  show(panel: string): void;
  /** Shows a series in the plots. */
  plot(names: string[]): void;
  /** Says something for a moment, to screen readers too. */
  say(text: string, kind?: "note" | "error"): void;
}

/** What a live server offers to panels. */
export interface LiveLink {
  ask: Ask;
  onPush(listener: (message: Push) => void): () => void;
}

/** A part of the page. Time reaches it by the clock; it makes its own listeners and ends them in destroy. */
export interface Panel {
  readonly element: HTMLElement;
  readonly title: string;
  /** The runs have changed: new numbers of the same model, or another one. Camera, zoom and choices stay. */
  setRuns(): void;
  selectionChanged?(): void;
  themeChanged?(): void;
  /** Draws at once what setRuns has changed, rather than with the next picture. */
  drawNow?(): void;
  /** The series that it reads while it is shown; a panel that does not tell may read any. */
  wantedSeries?(): string[] | null;
  /** It was shown or its size changed. */
  resized?(): void;
  destroy(): void;
}

/** A panel is made by a function of this form, listed in player.ts. */
export type PanelMaker = (context: PlayerContext) => Panel;
