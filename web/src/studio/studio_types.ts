// What the studio's page and its server say to each other, and what the parts of the page know of one another.
// Positions in texts are code points, as Python counts them; text_positions.ts converts.

import type { Standing, StandingLabels } from "./standing";
import type { Theme } from "../panel";
import type { LiveDesk } from "../live/live_desk";
import type { Player } from "../player";
import type { StudioDocument } from "./document";
import type { LibraryPart } from "./library/library_types";

// -- the text ---------------------------------------------------------------------------------------------
/** From, to and the new text; several belong to one old text, and do not touch. */
export type TextEdit = [start: number, end: number, text: string];
export type Point = [x: number, y: number];

export interface DocumentState {
  version: number;
  dirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  file: string | null;
}

export interface DocumentData extends DocumentState {
  text: string;
  recovered: { when: string; words: string } | null;
  /** How many models the server opened before this one. */
  model?: number;
}

export interface StudioSettings {
  readOnly: boolean;
  /** As seen from the folder of the studio. */
  file?: string | null;
  folder?: string;
  /** The file name that saving proposes. */
  proposed?: string;
  /** What could not be kept or read beside the model. */
  trouble?: string;
  /** Whether a new model is saved under the proposed name unasked. */
  named?: boolean;
}

export interface OpenedStudio {
  document: DocumentData;
  sketch: Sketch;
  catalogue: Catalogue;
  standing: Standing;
  settings: StudioSettings;
}

// -- gestures: each is one step of undo ----------------------------------------------------------------------
export interface PortPlace {
  component: string;
  port: string;
}

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

export interface GestureAnswer extends Partial<DocumentState> {
  version: number;
  edits: TextEdit[];
  made?: string[];
  removed?: string[];
  renamed?: Record<string, string>;
  words?: string;
}

// -- problems ---------------------------------------------------------------------------------------------
export interface Cure {
  words: string;
  gesture: Gesture;
}

export interface Problem {
  message: string;
  severity: "error" | "warning" | "note";
  component: string | null;
  field: string | null;
  port: string | null;
  line: number | null; // from 1
  span: [start: number, end: number] | null;
  cures: Cure[];
  box?: string[]; // the subsystem in whose text it stands
}

// -- the drawing ------------------------------------------------------------------------------------------
export type LinkKind = "vector" | "energy" | "information";
export type Side = "left" | "right" | "top" | "bottom";

export interface SketchPort {
  name: string;
  kind: LinkKind;
  domain: string;
  side: Side;
  at: Point;
  offset?: number;
  reference: string; // "", "gnd", "world" ...
  out: boolean;
  open: boolean; // nothing is connected
  field?: string[] | null; // of the model file
  edge?: string; // of a subsystem that is open: what the port is connected to outside
}

export interface SketchBox {
  name: string;
  owner: string;
  role: string;
  kind: string;
  label: string;
  value: string;
  at: Point; // the middle
  size: [width: number, height: number];
  svg: string; // around the middle
  pinned: boolean;
  broken: string | null;
  /** Of a closed subsystem: its file, empty if it is written out, and how many components it holds. */
  inside?: { file: string; count: number } | null;
  spine?: boolean; // the router keeps a channel beside it
  upright?: boolean;
  words?: { text: string; role: "label" | "value"; room: [left: number, top: number, right: number, bottom: number] }[];
  ports: SketchPort[];
}

export interface SketchLink {
  name: string;
  kind: LinkKind;
  domain: string;
  label: string;
  edge?: string; // of a subsystem that is open: what the node is connected to outside
  ends: PortPlace[];
  path: Point[][] | null;
  dots: Point[];
  waypoints: Point[] | null;
}

export interface Sketch {
  version: number;
  extent: number[];
  boxes: SketchBox[];
  links: SketchLink[];
}

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

// -- one component in full -------------------------------------------------------------------------------------
export interface InspectedField {
  name: string;
  path: string[];
  unit: string | null;
  dimension: string | null;
  shape: string | number[] | null;
  given: string | null; // as typed
  default: string | null;
  value: number | number[] | null; // SI
  doc: string;
  choices: string[] | null;
  line: number | null;
  required: boolean;
  reads?: string[]; // what a law reads
  live?: string; // what the run calls the number, where that is not the component with the path
}

export interface InspectedPort {
  name: string;
  kind: LinkKind;
  domain: string;
  link?: string | null; // what it is connected to
  field?: string[] | null;
  words?: string;
}

export interface Inspected {
  name: string;
  section: string;
  kind: string;
  words: string;
  fields: InspectedField[];
  ports: InspectedPort[];
  /** Of the whole model: the names of its parameters. */
  parameters?: string[];
  /** Of the whole model: the names of its lookup tables. */
  tables?: string[];
  /** Why it could not be built. */
  broken?: string | null;
  /** Whether the text describes it, so that it can be changed here. */
  editable?: boolean;
  /** The file that it comes from by `extends`: its fields can be changed here, its name and being cannot. */
  origin?: string;
}

export interface CompletionOption {
  label: string;
  detail?: string;
  apply?: string;
}

export interface Completion {
  from: number;
  options: CompletionOption[];
}

export interface Gallery {
  examples: { file: string; name: string; words: string; svg: string }[];
  recent: { file: string; name?: string; words?: string }[]; // models of the folder
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
