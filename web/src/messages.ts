// What the page and its server say to each other: written by tools/write_messages.py, not by hand.

import type { Packet } from "./data/packet";
import type { BadgeData, EventData, Geometry, RunEnding, RunHeader, StripData } from "./data/run_document";
import type { ComparedPeak } from "./studio/comparison/compare_types";
import type { Catalogue, Gesture } from "./studio/studio_types";

export type Nothing = Record<string, never>;

export interface AsSaved { saved: true }
export interface AsText { text: string; label?: string }
export interface Axis { text: string; value: [number, number, number] | null; off: string }
export interface Causes { joint: string; by: "body" | "cause"; names: string[]; array: string }
export interface CompareChoices { files: string[]; commit: string; why: string; saved: boolean }
export interface ComparedModels { label: string; verdict: string; version: number; rows: ComparedRow[]; ghosts: SketchBox[] }
export interface ComparedRow {
  change: "added" | "removed" | "renamed" | "changed"; section: string; part: string; field: string; before: string; after: string; line_before: number | null;
  line_after: number | null; old_part: string; percent: number | null; link: boolean;
}
export interface ComparedRun { peaks: ComparedPeak[] }
export interface Completion { from: number; options: CompletionOption[]; problem?: string }
export interface CompletionOption { label: string; detail: string; apply: string }
export interface Cure { words: string; gesture: Gesture }
export interface CurvePush { name: string; of: string; unit: string; values: number[]; results: number[]; failed: FailedValue[]; complete: boolean }
export interface DiskPush { words: string; conflict?: boolean; trouble?: boolean }
export interface DocumentData {
  version: number; dirty: boolean; canUndo: boolean; canRedo: boolean; file: string | null; conflict: boolean; text: string; model: number; recovered: string;
}
export interface DocumentState { version: number; dirty: boolean; canUndo: boolean; canRedo: boolean; file: string | null; conflict: boolean }
export interface EmptyScene { empty: boolean; at: number }
export interface Equations {
  heading: string; formulation: string; shape: string; operations: number | null; html: string; latex?: string; text?: string; python?: string; c?: string;
  json?: string; version: number;
}
export interface ExplainedStep { title: string; words: string; html: string; parts: string[] }
export interface Explanation { t: number; steps: ExplainedStep[]; scheme: string; version: number }
export interface FailedValue { value: number; message: string }
export interface FieldError { field: string; message: string }
export interface FieldPlace { name: string; path: (string | number)[] }
export interface FileExists { exists: string }
export interface Gallery { examples: (Record<"file" | "name" | "words" | "svg", string>)[]; recent: (Record<"file" | "name" | "words", string>)[] }
export interface GapData { joint: string; a: [number, number, number]; b: [number, number, number]; length: number; words: string }
export interface GestureAnswer {
  version: number; dirty: boolean; canUndo: boolean; canRedo: boolean; file: string | null; conflict: boolean;
  edits: [start: number, end: number, text: string][]; words: string; made: string[]; removed: string[]; renamed: Record<string, string>;
}
export interface InCommit { commit: string }
export interface InFile { file: string }
export interface InsideBox { file: string; count: number }
export interface Inspected {
  name: string; section: string; kind: string; words: string; fields: InspectedField[]; ports: InspectedPort[]; broken: string | null; editable: boolean;
  parameters?: string[]; tables?: string[]; origin?: string;
}
export interface InspectedField {
  name: string; path: string[]; unit: string | null; dimension: string | null; shape: string | number[] | null; given: string | null; default: string | null;
  value: number | number[] | null; doc: string; choices: string[] | null; line: number | null; required: boolean; reads: string[]; live?: string;
}
export interface InspectedPort {
  name: string; kind: "vector" | "energy" | "information"; domain: string; link: string | null; field: string[] | null; words: string;
}
export interface JointPeaks { joint: string; force: Peak; moment: Peak }
export interface KeptResult { text: string; unit: string; bySize: boolean }
export interface Library { parts: LibraryPart[]; folder: string }
export interface LibraryPart {
  file: string; name: string; words: string; ports: PartPort[]; parameters: (Record<"name" | "value" | "words", string>)[]; symbol: string;
  size: [number, number]; why: string;
}
export interface LiveHeader {
  parameters: LiveNumber[]; until: number; file: string; readOnly: boolean; responseOf: string; responses: string[]; values: Record<string, number>;
  start: Record<string, number>; startChanged: Record<string, number>; id: number; model: number; trouble?: ModelFault;
}
export interface LiveNumber {
  name: string; value: number; unit: string; words: string; low: number | null; high: number | null; structural: string; group: string; place: string;
}
export interface Locus { values: number[]; eigenvalues: [number, number][][]; failed: FailedValue[] }
export interface MobilityData {
  counts: [string, string][]; sentences: string[]; badges: Record<string, string>; loose: string[]; cures: Cure[]; gaps: GapData[]; at: number;
}
export interface Mode { eigenvalue: [number, number]; frequency: number; damping: number; moves: string; poses: string }
export interface ModelAbout {
  size: ModelSize; formulations: (Record<"name" | "words" | "reason", string>)[]; shapes: string[]; joints: string[]; frames: string[];
  exports: (Record<"kind" | "words" | "suffix", string>)[]; owners: Record<string, string[]>; version: number;
}
export interface ModelFault { message: string; line: number | null; component: string | null; field?: string; file?: string }
export interface ModelPush { cause: "file" | "text" | "more" }
export interface ModelSize { bodies: number; freedoms: number; parts: number; words: string; large: boolean }
export interface Modes { eigenvalues: [number, number][]; modes: Mode[] }
export interface OpenedStudio { document: DocumentData; sketch: Sketch; catalogue: Catalogue; standing: Standing; settings: StudioSettings }
export interface PaneProgress { pane: string; share: number; words: string }
export interface PartPort { name: string; kind: "vector" | "energy" | "information"; domain: string; out: boolean }
export interface Peak { value: number; time: number }
export interface PlaceData {
  kind: "frame" | "center" | "joint"; name: string; body: number; at: [number, number, number]; quaternion: [number, number, number, number];
  path: (string | number)[]; given: boolean; turnPath: (string | number)[]; off: string; turnOff: string; entries: PlaceEntry[]; turns: PlaceEntry[];
  axis?: Axis;
}
export interface PlaceEntry { text: string; value: number | null; unit: string; parameter: string; off: string }
export interface PlacesHeader { places: PlaceData[]; gaps: GapData[]; loose: string[]; words: string; at: number; said?: string }
export interface PortPlace { component: string; port: string }
export interface Problem {
  message: string; severity: "error" | "warning" | "note"; component: string | null; field: string | null; port: string | null; line: number | null;
  span: [number, number] | null; cures: Cure[]; box: string[];
}
export interface Progress { words: string }
export interface ProofStanding {
  state: "waiting" | "running" | "agrees" | "differs" | "none" | "unfinished" | "asleep"; words: string; share?: number; seconds?: number;
}
export interface PulledHeader { at: number; values: Record<string, number[]>; left: number; words: string; gaps: GapData[] }
export interface RawAxis { name: string; kind: "range" | "list" | "normal" | "uniform"; first: string; second: string; count: string; values: string }
export interface RawForm { axes: RawAxis[]; design: string; n: string; keep: string[]; until: string }
export interface RowKey { part: string; field: string; change: string }
export interface Rows { of: number; at: number[] | null }
export interface RowsHeader { rows: Rows }
export interface RunStanding { state: "running" | "shown" | "failed" | "stale" | "empty"; words: string }
export interface Saved { version: number; dirty: boolean; canUndo: boolean; canRedo: boolean; file: string | null; conflict: boolean; saved: string }
export interface SavedPart {
  version: number; dirty: boolean; canUndo: boolean; canRedo: boolean; file: string | null; conflict: boolean;
  edits: [start: number, end: number, text: string][]; words: string; made: string[]; removed: string[]; renamed: Record<string, string>; part: string;
}
export interface ShapeData {
  properties: string[][]; columns: string[]; differs: string[]; name: string; solid: string; fields: ShapeField[]; kinds: Record<string, Gesture>;
  missing: Record<string, string>;
}
export interface ShapeField { name: string; text: string | null; words: string; choices?: string[] }
export interface ShownUnit { unit: string; factor: number }
export interface Sketch { version: number; extent: number[]; boxes: SketchBox[]; links: SketchLink[] }
export interface SketchBox {
  name: string; owner: string; role: string; kind: string; label: string; value: string; at: [number, number]; size: [number, number]; svg: string;
  pinned: boolean; broken: string | null; spine: boolean; upright: boolean; inside: InsideBox | null; ports: SketchPort[];
}
export interface SketchLink {
  name: string; kind: "vector" | "energy" | "information"; domain: string; label: string; edge: string; ends: PortPlace[]; path: [number, number][][] | null;
  dots: [number, number][]; waypoints: [number, number][];
}
export interface SketchPort {
  name: string; kind: "vector" | "energy" | "information"; domain: string; side: "left" | "right" | "top" | "bottom"; at: [number, number]; offset: number;
  reference: string; out: boolean; open: boolean; field: string[]; edge: string;
}
export interface SketchPush { version: number; sketch: Sketch }
export interface Standing { number: number; version: number; whole: boolean; problems: Problem[]; run: RunStanding; proof: ProofStanding }
export interface StartAnswer { gesture: Gesture; words: string }
export interface StudioSettings { readOnly: boolean; file: string | null; folder: string; proposed: string; trouble: string; named: boolean }
export interface StudyAbout {
  why: string; version: number; names: VaryingName[]; quantities: string[]; reductions: string[]; keep: string[]; until: string; designs: string[];
  count: number; n: number;
}
export interface StudyAxis { name: string; title: string; unit: string; dim: string; values: number[]; shown: ShownUnit }
export interface StudyBegun { id?: number; errors: FieldError[] }
export interface StudyCheck { errors: FieldError[]; runs: number; seconds: number | null; note: string }
export interface StudyChunk { id: number; first: number; messages: Record<string, string> }
export interface StudyDim { name: string; length: number }
export interface StudyDropped { id: number; state: "dropped" }
export interface StudyHeader {
  id: number; state: "running" | "done" | "stopped" | "failed"; words: string; runs: number; done: number; reached: number; seconds: number; rate: number;
  left: number | null; older: boolean; title: string; dims: StudyDim[]; axes: StudyAxis[]; kept: KeptResult[]; until: number | null; form: RawForm;
  messages: Record<string, string>; command: string; python: string;
}
export interface StudyRefused { why: string; version: number }
export interface StudySummary {
  id: number; state: "running" | "done" | "stopped" | "failed"; words: string; runs: number; done: number; reached: number; seconds: number; rate: number;
  left: number | null; older: boolean; title: string;
}
export interface TableCurve { at: number[]; x: number[]; y: (number | null)[] }
export interface TableData {
  name: string; line: number; method: string; methods: string[]; outside: string; outsides: string[]; file: string; axes: unknown[][]; values: unknown[][];
  reason: string; curves: TableCurve[]; broken: string;
}
export interface TextPush {
  version: number; dirty: boolean; canUndo: boolean; canRedo: boolean; file: string | null; conflict: boolean;
  edits: [start: number, end: number, text: string][]; words: string; origin: number;
}
export interface UpdateHeader {
  run: RunEnding; events: EventData[]; strips: StripData[]; peaks: JointPeaks[]; values: Record<string, number>; loadNotes: string[]; geometry: Geometry | null;
  note: string; id: number; rows: Rows;
}
export interface VaryingName { name: string; role: string; unit: string; value: number | null; first: string; second: string; words: string }
export interface Verification {
  state: "waiting" | "running" | "agrees" | "differs" | "none" | "unfinished" | "asleep"; version: number; words: string; rows: VerifiedRow[]; share?: number;
  failures?: string[]; skipped?: [string, string][]; seconds?: number;
}
export interface VerifiedRow {
  quantity: string; one: string; two: string; difference: number | null; tolerance: number; where: string; ok: boolean; seconds: number | null;
}

/** The kinds of request: what is sent, and what comes back. */
export interface Requests {
  open: { fields: Nothing; answer: Packet<RunHeader> };
  set: { fields: { values?: Record<string, number | string | null> | null; start?: Record<string, number | string | null> | null; until?: number | string | null; reset?: boolean; series?: string[] | null }; answer: Packet<UpdateHeader> };
  rows: { fields: { id: number }; answer: Packet<RowsHeader> };
  series: { fields: { names: string[] }; answer: Packet };
  causes: { fields: { joint: string; by?: "body" | "cause" }; answer: Packet<Causes> };
  response: { fields: { name: string; low: number | string; high: number | string; of?: string; points?: number }; answer: object };
  response_stop: { fields: { name?: string | null }; answer: object };
  branch: { fields: { t: number | string; state?: Record<string, number | string | null> | null; values?: Record<string, number | string | null> | null; until?: number | string | null }; answer: Packet };
  modes: { fields: { t: number | string }; answer: Packet<Modes> };
  locus: { fields: { t: number | string; name: string; low: number | string; high: number | string; points?: number }; answer: Locus };
  checks: { fields: { what: "audit" | "verify" }; answer: BadgeData };
  studio_open: { fields: Nothing; answer: OpenedStudio };
  gesture: { fields: { gesture: Gesture; version?: number | null }; answer: GestureAnswer };
  undo: { fields: Nothing; answer: GestureAnswer };
  redo: { fields: Nothing; answer: GestureAnswer };
  save: { fields: { path?: string | null; overwrite?: boolean }; answer: Saved | FileExists };
  revert: { fields: Nothing; answer: OpenedStudio };
  recover: { fields: { take: boolean }; answer: OpenedStudio };
  disk: { fields: { take: "mine" | "theirs" }; answer: GestureAnswer };
  open_example: { fields: { file: string; discard?: boolean }; answer: OpenedStudio };
  open_model: { fields: { file: string; discard?: boolean }; answer: OpenedStudio };
  new_model: { fields: { discard?: boolean }; answer: OpenedStudio };
  box_sketch: { fields: { box: string[] }; answer: Record<"sketch", Sketch | null> };
  inspect: { fields: { name: string; box?: string[] }; answer: Record<"inspected", Inspected> };
  inspect_table: { fields: { name: string }; answer: Record<"table", TableData> };
  complete: { fields: { position: number; law?: string | null; field?: FieldPlace | null; box?: string[] }; answer: Completion };
  can_connect: { fields: { port: PortPlace; box?: string[] }; answer: Record<"targets", Record<string, string>> };
  copy: { fields: { names: string[]; box?: string[] }; answer: Record<"text", string> };
  gallery: { fields: Nothing; answer: Gallery };
  place_scene: { fields: { gesture?: Gesture | null }; answer: Packet<PlacesHeader> | EmptyScene };
  place_pull: { fields: { body: string; at: [number, number, number]; goal: [number, number, number]; anew?: boolean }; answer: Packet<PulledHeader> };
  place_start: { fields: Nothing; answer: StartAnswer };
  place_frames: { fields: Nothing; answer: Record<"frames", (Record<"name" | "body", string>)[]> };
  shape: { fields: { name: string }; answer: ShapeData };
  mobility: { fields: Nothing; answer: MobilityData };
  library: { fields: Nothing; answer: Library };
  library_save: { fields: { names: string[]; name: string; words?: string; box?: string[]; at?: [number, number] | null; overwrite?: boolean }; answer: SavedPart | FileExists };
  compare_choices: { fields: Nothing; answer: CompareChoices };
  compare: { fields: { other: InFile | InCommit | AsSaved | AsText }; answer: ComparedModels };
  compare_scene: { fields: { other: InFile | InCommit | AsSaved | AsText }; answer: Packet | Record<"bodies", string[]> };
  compare_run: { fields: { other: InFile | InCommit | AsSaved | AsText }; answer: Packet<ComparedRun> };
  compare_take: { fields: { other: InFile | InCommit | AsSaved | AsText; rows: RowKey[] }; answer: GestureAnswer };
  study_about: { fields: Nothing; answer: StudyAbout | StudyRefused };
  study_check: { fields: { form: RawForm }; answer: StudyCheck };
  study_run: { fields: { form: RawForm }; answer: StudyBegun };
  study_stop: { fields: { id?: number | null }; answer: Record<"stopped", boolean> };
  study_list: { fields: Nothing; answer: Record<"studies", StudySummary[]> };
  study_open: { fields: { id: number }; answer: Packet<StudyHeader> };
  study_drop: { fields: { id: number }; answer: object };
  study_csv: { fields: { id: number }; answer: Record<"text" | "name", string> };
  study_take: { fields: { id: number; run: number }; answer: GestureAnswer };
  pane_about: { fields: Nothing; answer: ModelAbout };
  pane_verification: { fields: Nothing; answer: Verification };
  pane_verify: { fields: Nothing; answer: Verification };
  pane_stop: { fields: { pane: string }; answer: Record<"stopped", boolean> };
  pane_equations: { fields: { formulation?: string; shape?: string; frame?: string; reactions?: string[] | null; basis?: string; mode?: string; numbers?: boolean }; answer: Equations };
  pane_explain: { fields: Nothing; answer: Explanation };
  pane_export: { fields: { format: string }; answer: Record<"text" | "name", string> };
  pane_report: { fields: { verify?: boolean; explain?: boolean }; answer: Record<"path" | "name", string> };
}

/** What is told without a question. */
export interface Pushes {
  progress: Progress;
  model_error: ModelFault;
  response: CurvePush;
  document: TextPush;
  sketch: SketchPush;
  standing: Standing;
  disk: DiskPush;
  reopen: object;
  library: Library;
  verification: Verification;
  pane_progress: PaneProgress;
  study_state: StudySummary | StudyDropped;
}

export interface Packets {
  model: ModelPush;
  study_chunk: StudyChunk;
}
