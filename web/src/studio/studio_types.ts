// What the studio's page and its server say to each other, and what the parts of the page know of one another.
// Positions in texts are code points, as Python counts them; text_positions.ts converts.

import type { GestureAnswer, LibraryPart, PortPlace, SketchPort } from "../messages";
import type { StandingLabels } from "./standing";
import type { Theme } from "../panel";
import type { LiveDesk } from "../live/live_desk";
import type { Player } from "../player";
import type { StudioDocument } from "./document";

// -- the text ---------------------------------------------------------------------------------------------
/** From, to and the new text; several belong to one old text, and do not touch. */
export type TextEdit = [start: number, end: number, text: string];
export type Point = [x: number, y: number];

// -- gestures: each is one step of undo ----------------------------------------------------------------------
export type ConnectTarget = PortPlace | { link: string } | { reference: string };
export type GroupName = string; // "axis", "link", "drive", "pid_loop"

export type Gesture =
  | { do: "add"; kind: string; name?: string; fields?: Record<string, string>; at?: Point }
  | { do: "group"; what: GroupName; at?: Point; on?: string }
  | { do: "set"; name: string; path: (string | number)[]; value: string | null }
  | { do: "connect"; from: PortPlace; to: ConnectTarget }
  | { do: "disconnect"; component: string; port: string }
  | { do: "delete"; names: string[] }
  | { do: "rename"; name: string; to: string }
  | { do: "duplicate"; names: string[]; at?: Point }
  | { do: "paste"; text: string; at?: Point }
  | { do: "move"; places: Record<string, Point> }
  | { do: "waypoints"; link: string; points: Point[] | null }
  | { do: "tidy" }
  | { do: "text"; edits: TextEdit[] }
  | { do: "place"; what: { frame: string } | { center: string } | { shape: string } | { joint: string }; at?: number[]; rpy?: number[]; axis?: number[]; step?: number; angle_step?: number; parameters?: boolean }
  | { do: "join"; kind: string; name?: string; a: JointSide; b: JointSide; axis?: string | number[]; step?: number; fields?: Record<string, string> }
  | { do: "all"; gestures: Gesture[] }
  | { do: "in"; box: string[]; gesture: Gesture }
  | { do: "enclose"; names: string[]; name?: string; at?: Point }
  | { do: "dissolve"; name: string }
  | { do: "take_base" }
  | { do: "insert"; file: string; name?: string; at?: Point };

/** One side of a new joint: a frame, a body, or a place of a body in its axes, in SI. */
export interface JointSide {
  frame?: string;
  body?: string;
  at?: number[];
}

// -- the drawing ------------------------------------------------------------------------------------------
export type LinkKind = SketchPort["kind"];
export type Side = SketchPort["side"];

// -- kinds of component ----------------------------------------------------------------------------------------
export interface CatalogueDomain {
  name: string;
  color: string;
  words: string;
}

export interface CataloguePort {
  name: string;
  kind: LinkKind;
  domain: string;
  out?: boolean;
  side?: Side;
  at?: Point;
}

export interface CatalogueField {
  name: string;
  required: boolean;
  default: string | null;
  unit: string | null;
  doc: string;
  shape?: string; // "number", "port", "law", "vector", "frame" ...
  dimension?: string;
  choices?: string[];
}

export interface CatalogueKind {
  kind: string;
  section: string;
  title: string;
  domain: string;
  words: string;
  symbol: string; // around its middle
  size?: [width: number, height: number];
  ports: CataloguePort[];
  fields: CatalogueField[];
  keywords: string[];
}

export interface Catalogue {
  domains: CatalogueDomain[];
  kinds: CatalogueKind[];
  groups: { name: string; words: string }[];
  /** Files beside the model that can be parts of it; they come after the rest. */
  library?: LibraryPart[];
  libraryFolder?: string;
}

// -- the page ---------------------------------------------------------------------------------------------------
export type SayKind = "note" | "error";

/** What the parts of the page are given. */
export interface StudioContext {
  readonly root: HTMLElement;
  readonly document: StudioDocument;
  readonly catalogue: Catalogue;
  readonly readOnly: boolean;
  readonly theme: Theme;
  /** Names of components, in the order in which they were chosen. */
  readonly selection: readonly string[];
  /** Chooses components; `from` names the part of the page that did it, so that it need not follow itself. */
  select(names: readonly string[], from: string): void;
  /** The component below the pointer, to be lit up everywhere; with it all that something belongs to. */
  hover(name: string | null, all?: readonly string[]): void;
  readonly hovered: string | null;
  /** All that is lit up. */
  readonly lit: readonly string[];
  /** Says something for a moment, to screen readers too. */
  say(words: string, kind?: SayKind): void;
  /** Does a gesture in the subsystem that is open, or in the one given; what is refused is said, and null returned. */
  act(gesture: Gesture, box?: readonly string[]): Promise<GestureAnswer | null>;
  /** Shows the inside of a closed box by its name, or the file that it is from; null closes the one that is open. */
  openBox(name: string | null): void;
  /** Opens a part of the page by its name ("Inspector", "Text", "Problems", "Equations", "Explain", "Verify", "Export", "Canvas", "Palette", "Run"). */
  show(part: string): void;
}

/** A part of the page. `document.listen` tells it of texts; these of the rest. */
export interface StudioPart {
  readonly element: HTMLElement;
  /** The drawing changed, or another document was opened. */
  sketchChanged?(): void;
  /** All parts of the drawing were placed anew by this version. */
  placedAnew?(version: number): void;
  selectionChanged?(from: string): void;
  hoverChanged?(): void;
  /** Problems or remarks have changed. */
  problemsChanged?(): void;
  /** How the model stands has changed, or the newest text. */
  standingChanged?(labels: StandingLabels): void;
  themeChanged?(): void;
  /** The desk of the run that is shown, before `runChanged`. */
  setDesk?(desk: LiveDesk): void;
  /** A run was made, or the model behind it changed; null: there is none any more. */
  runChanged?(player: Player | null): void;
  /** It was shown or its size changed. */
  resized?(): void;
  destroy(): void;
}

export type StudioPartMaker = (context: StudioContext) => StudioPart;
