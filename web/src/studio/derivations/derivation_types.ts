// What the panes of derivations and the server say to each other; src/kinode/studio/editor has the table.

export interface FormulationChoice {
  name: string;
  words: string;
  reason: string; // why it does not apply; "" where it does
}

export interface ModelAbout {
  version: number;
  size: { bodies: number; freedoms: number; parts: number; words: string; large: boolean };
  formulations: FormulationChoice[];
  shapes: string[];
  joints: string[];
  frames: string[];
  exports: { kind: string; words: string; suffix: string }[];
  /** The parts that a word of a symbol belongs to. */
  owners: Record<string, string[]>;
}

export type VerifyState = "waiting" | "running" | "agrees" | "differs" | "none" | "unfinished" | "asleep";

export interface Comparison {
  quantity: string;
  one: string;
  two: string;
  difference: number | null; // null: not a number
  tolerance: number;
  where: string;
  ok: boolean;
  seconds: number | null;
}

export interface Verification {
  state: VerifyState;
  version: number;
  words: string;
  rows: Comparison[];
  share?: number;
  failures?: string[];
  skipped?: [name: string, reason: string][];
  seconds?: number;
}

export interface EquationsAnswer {
  version: number;
  heading: string;
  formulation: string;
  shape: string;
  operations: number | null;
  html: string;
  latex?: string;
  text?: string;
  python?: string;
  c?: string;
  json?: string;
}

export interface ExplainStep {
  title: string;
  words: string;
  html: string;
  parts: string[];
}

export interface ExplainAnswer {
  version: number;
  t: number;
  steps: ExplainStep[];
  scheme: string;
}
