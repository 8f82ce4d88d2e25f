// The page's side of the one document: its text as the server has it, the drawing, the problems. Changes go out one after
// the other, since a gesture belongs to a version of the text; what comes in is taken in the order of versions.

import type { Completion, DocumentState, Gallery, GestureAnswer, Inspected, OpenedStudio, PortPlace, Problem, Sketch, Standing, StudioSettings } from "../messages";
import type { Answer, Ask, LiveConnection, Push } from "../live/connection";
import type { Catalogue, ConnectTarget, Gesture, TextEdit } from "./studio_types";
import { type DocumentNews, stateOf } from "./document_state";
import { type StandingLabels, UNKNOWN, labelsOf } from "./standing";
import { headIn, namesInside, prefixOf, problemsInside } from "./subsystems/box_names";
import { applyPoints, difference } from "./text_positions";

/** What is used of the connection to the server. */
export type StudioLink = Pick<LiveConnection, "ask" | "onPush">;

export type { DocumentNews };

interface Change {
  edits: readonly TextEdit[];
  state: DocumentState;
  own: boolean;
}

const OF_THE_WHOLE = new Set(["text", "place", "join"]); // gestures of the text and of 3D, which show the whole model
const EMPTY_SKETCH: Sketch = { version: 0, extent: [0, 0, 0, 0], boxes: [], links: [] };

export class StudioDocument {
  text = "";
  version = -1;
  state: DocumentState = { version: -1, dirty: false, canUndo: false, canRedo: false, file: null, conflict: false };
  /** Words on what was not saved when a server ended; empty if there is nothing. */
  recovered = "";
  sketch: Sketch = EMPTY_SKETCH;
  /** The subsystems that lead to the one whose inside is shown; empty: the whole model. */
  box: readonly string[] = [];
  standing: Standing = UNKNOWN;
  /** What is worth a mark in the drawing and is no problem: joints with redundant constraints. */
  remarks: readonly Problem[] = [];
  /** Which of the models that the server opened this is. */
  model = 0;
  catalogue: Catalogue = { domains: [], kinds: [], groups: [] };
  settings: StudioSettings = { readOnly: false, file: null, folder: "", proposed: "model.yaml", trouble: "", named: false };
  private readonly link: StudioLink;
  private readonly listeners = new Set<(news: DocumentNews) => void>();
  private queue: Promise<unknown> = Promise.resolve();
  private asking: Promise<unknown> = Promise.resolve();
  private waiting = 0; // changes that were sent or are about to be
  private sent = false;
  private readonly held = new Map<number, Change>();
  private reopening: Promise<void> | null = null;

  constructor(link: StudioLink) {
    this.link = link;
    link.onPush((message) => this.hear(message));
  }

  listen(listener: (news: DocumentNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // -- open ------------------------------------------------------------------------------------------------------
  /** Asks for the whole document. `typed`, if the connection is back, is the page's text with all that was typed since. */
  async open(typed: string | null = null): Promise<void> {
    this.reopening ??= this.openNow(typed).finally(() => (this.reopening = null));
    return this.reopening;
  }

  private async openNow(typed: string | null): Promise<void> {
    this.take(await this.link.ask("studio_open"), typed);
  }

  private take(opened: OpenedStudio, typed: string | null = null): void {
    const had = this.version >= 0 ? this.text : null;
    const { text, recovered, model = 0, ...state } = opened.document;
    const other = had !== null && typed === null && model !== this.model;
    const differs = had !== null && typed !== null && typed !== text;
    this.model = model;
    this.text = text;
    this.recovered = recovered ?? null;
    this.version = state.version;
    this.state = { ...state };
    this.held.clear();
    const inside = typed !== null && this.box.length > 0;
    if (!inside) this.box = [];
    this.sketch = (inside ? this.sketch : opened.sketch) ?? EMPTY_SKETCH;
    if (inside) void this.sketchInside();
    if (opened.standing.number >= this.standing.number) this.standing = opened.standing; // what was pushed before the answer came may be newer
    if (opened.catalogue !== undefined) this.catalogue = opened.catalogue;
    if (opened.settings !== undefined) this.settings = opened.settings;
    this.tell({ kind: "opened", mine: differs && had !== text ? typed : null, other });
    if (differs && had === text && !this.readOnly) this.replaceText(typed).catch(() => this.tell({ kind: "opened", mine: typed, other: false }));
  }

  get problems(): readonly Problem[] {
    return this.standing.problems;
  }

  /** The version that the record of how the model stands is of; lower than `version` while the check is under way. */
  get checkedVersion(): number {
    return this.standing.version;
  }

  /** The words of all labels that tell a state. */
  get labels(): StandingLabels {
    return labelsOf(this.standing, this.version);
  }

  get dirty(): boolean {
    return this.state.dirty;
  }

  get file(): string | null {
    return this.state.file;
  }

  get readOnly(): boolean {
    return this.settings.readOnly;
  }

  /** Whether a change is on its way to the server. */
  get busy(): boolean {
    return this.waiting > 0;
  }

  // -- changes ------------------------------------------------------------------------------------------------------
  /** Sends a gesture. A function is called when its turn comes, with the text in force; null means there is nothing to do.
   * It is done in the subsystem that is open unless `box` says another; the names of the answer are those in there. */
  gesture(gesture: Gesture | (() => Gesture | null), box: readonly string[] = this.box): Promise<GestureAnswer> {
    return this.change(async (): Promise<GestureAnswer> => {
      const now = typeof gesture === "function" ? gesture() : gesture;
      if (now === null) return { ...this.state, edits: [], words: "", made: [], removed: [], renamed: {} };
      const whole: Gesture = box.length === 0 || OF_THE_WHOLE.has(now.do) ? now : { do: "in", box: [...box], gesture: now };
      return namesInside(await this.link.ask("gesture", { version: this.version, gesture: whole }), prefixOf(box));
    });
  }

  // -- subsystems ------------------------------------------------------------------------------------------------------
  /** What stands before the names of the shown components in the whole system. */
  get prefix(): string {
    return prefixOf(this.box);
  }

  /** The shown component that a component of the whole system is, or is inside of; null where it is elsewhere. */
  shownName(full: string): string | null {
    if (!full.startsWith(this.prefix)) return null;
    const name = full.slice(this.prefix.length);
    return headIn(name, new Set(this.sketch.boxes.flatMap((box) => [box.name, box.owner])));
  }

  /** The problems of what is shown, with the names that it has there; one inside a closed box is that box's. */
  get shownProblems(): readonly Problem[] {
    return this.shown(this.problems);
  }

  /** The same of other problems. */
  shown(problems: readonly Problem[]): readonly Problem[] {
    return problemsInside(problems, this.box, (name) => this.shownName(name));
  }

  /** Shows the inside of a subsystem; of none, the whole model. */
  async enter(box: readonly string[]): Promise<void> {
    await this.queue;
    const { sketch } = await this.link.ask("box_sketch", { box: [...box] });
    this.box = [...box];
    if (sketch !== null) this.sketch = sketch;
    this.tell({ kind: "box" });
    this.tell({ kind: "sketch" });
  }

  /** Asks for the drawing of the inside anew; where that is gone, the next one outwards is shown. */
  private async sketchInside(): Promise<void> {
    const { box } = this;
    try {
      const { sketch } = await this.link.ask("box_sketch", { box: [...box] });
      if (box !== this.box || sketch === null || sketch.version < this.sketch.version) return;
      this.sketch = sketch;
      this.tell({ kind: "sketch" });
    } catch {
      if (box === this.box) await this.enter(box.slice(0, -1)).catch(() => undefined);
    }
  }

  /** Makes the text what is given, by one edit. */
  replaceText(text: string): Promise<GestureAnswer> {
    return this.gesture(() => {
      const edits = difference(this.text, text);
      return edits.length === 0 ? null : { do: "text", edits };
    });
  }

  /** Asks about the document as it is, after all changes on their way. */
  readonly ask: Ask = async (kind, ...fields) => {
    await this.queue;
    return this.link.ask(kind, ...fields);
  };

  /** A change that a request of its own makes, one step of undo as a gesture is. */
  readonly changeBy: Ask = (kind, ...fields) => this.change(() => this.link.ask(kind, ...fields));

  undo(): Promise<GestureAnswer> {
    return this.change(() => this.link.ask("undo"));
  }

  redo(): Promise<GestureAnswer> {
    return this.change(() => this.link.ask("redo"));
  }

  /** Writes the file; where another file would be overwritten unasked, `exists` is its name. */
  async save(path?: string, overwrite = false): Promise<Answer<"save">> {
    const answer = await this.alone(() => this.link.ask("save", { ...(path === undefined ? {} : { path }), overwrite }));
    if ("saved" in answer) this.setState(answer);
    return answer;
  }

  async revert(): Promise<void> {
    await this.whole(() => this.link.ask("revert"));
  }

  /** Takes the text that was not saved when the server ended, or leaves it. */
  async recover(take: boolean): Promise<void> {
    await this.whole(() => this.link.ask("recover", { take }));
    this.tell({ kind: "state" });
  }

  /** Ends a conflict with the file on the disk. */
  settle(take: "mine" | "theirs"): Promise<GestureAnswer> {
    return this.change(() => this.link.ask("disk", { take }));
  }

  /** Opens another model; what is not saved in this one is refused to be lost unless `discard` says so. */
  async openOther(what: { example: string } | { model: string } | "new", discard: boolean): Promise<void> {
    if (what === "new") await this.whole(() => this.link.ask("new_model", { discard }));
    else if ("example" in what) await this.whole(() => this.link.ask("open_example", { file: what.example, discard }));
    else await this.whole(() => this.link.ask("open_model", { file: what.model, discard }));
  }

  /** Requests after which the text is another: what they answer is taken. */
  private async whole(ask: () => Promise<OpenedStudio>): Promise<void> {
    this.take(await this.alone(ask));
  }

  /** Ends when all changes that were asked for until now have been answered. */
  async settled(): Promise<void> {
    await this.queue;
  }

  // -- questions ------------------------------------------------------------------------------------------------------
  /** One after the other: a newer question of a kind overtakes those that wait at the server. */
  inspect(name: string): Promise<Inspected> {
    const asked = this.asking.then(async () => {
      await this.queue;
      return (await this.link.ask("inspect", { name, box: [...this.box] })).inspected;
    });
    this.asking = asked.catch(() => undefined);
    return asked;
  }

  /** At a place of the text, in code points. */
  async complete(position: number): Promise<Completion> {
    await this.queue;
    return this.link.ask("complete", { position });
  }

  /** In a law that is typed into a field. */
  async completeLaw(law: string, position: number, name: string, path: string[]): Promise<Completion> {
    return this.link.ask("complete", { law, position, field: { name, path }, box: [...this.box] });
  }

  async canConnect(from: PortPlace): Promise<Record<string, string>> {
    await this.queue;
    return (await this.link.ask("can_connect", { port: from, box: [...this.box] })).targets;
  }

  async copy(names: readonly string[]): Promise<string> {
    await this.queue;
    return (await this.link.ask("copy", { names: [...names], box: [...this.box] })).text;
  }

  /** Marks parts with words; they stay until others come. */
  setRemarks(words: Record<string, string>): void {
    const plain = { field: null, port: null, line: null, span: null, cures: [], box: [] };
    this.remarks = Object.entries(words).map(([component, message]) => ({ ...plain, message, severity: "note", component }));
    this.tell({ kind: "remarks" });
  }

  gallery(): Promise<Gallery> {
    return this.link.ask("gallery");
  }

  /** Where a link or port leads, as a gesture says it. */
  connect(from: PortPlace, to: ConnectTarget): Promise<GestureAnswer> {
    return this.gesture({ do: "connect", from, to });
  }

  // -- the order of things ------------------------------------------------------------------------------------------------
  private alone<T>(work: () => Promise<T>): Promise<T> {
    this.waiting++;
    const result = this.queue.then(async () => {
      this.sent = true;
      try {
        return await work();
      } finally {
        this.sent = false;
        this.waiting--;
      }
    });
    this.queue = result.catch(() => undefined).then(() => this.flush());
    return result;
  }

  private change<T extends object>(ask: () => Promise<T>): Promise<T> {
    return this.alone(async () => {
      const answer = await ask();
      if (isChange(answer)) {
        this.hold(answer.version, { edits: answer.edits, state: answer, own: true });
        this.flushHeld();
      }
      return answer;
    });
  }

  private hear(message: Push): void {
    if (message.kind === "document") {
      this.hold(message.version, { edits: message.edits, state: message, own: false });
      if (!this.sent) this.flush();
    } else if (message.kind === "sketch") {
      if (this.box.length > 0) return void this.sketchInside();
      this.sketch = message.sketch;
      this.tell({ kind: "sketch" });
    } else if (message.kind === "standing") {
      if (message.number < this.standing.number) return;
      this.standing = message;
      this.tell({ kind: "standing" });
    } else if (message.kind === "reopen") void this.open().catch(() => undefined);
    else if (message.kind === "disk") this.tell({ kind: "disk", words: message.words, conflict: message.conflict === true, trouble: message.trouble === true });
  }

  private hold(version: number, change: Change): void {
    if (version < this.version) return;
    if (version === this.version) return this.setState(change.state); // told twice, or nothing but the state
    const known = this.held.get(version);
    if (known === undefined || change.own) this.held.set(version, change);
  }

  private flushHeld(): void {
    for (let next = this.held.get(this.version + 1); next !== undefined; next = this.held.get(this.version + 1)) {
      this.held.delete(this.version + 1);
      const before = this.text;
      this.text = applyPoints(before, next.edits);
      this.version++;
      if (next.edits.length > 0) this.tell({ kind: "text", before, edits: next.edits, own: next.own });
      this.setState(next.state);
    }
  }

  /** Takes what waits; where a version is missing, the whole document is asked for. */
  private flush(): void {
    try {
      this.flushHeld();
    } catch {
      this.held.set(Infinity, { edits: [], state: this.state, own: false });
    }
    if (this.held.size > 0) {
      this.held.clear();
      void this.open().catch(() => undefined);
    }
  }

  private setState(state: DocumentState): void {
    this.state = { ...stateOf(state), version: this.version };
    this.tell({ kind: "state" });
  }

  private tell(news: DocumentNews): void {
    for (const listener of this.listeners) listener(news);
  }
}

function isChange(answer: object): answer is GestureAnswer {
  return "edits" in answer;
}
