// The model's text in an editor: completion, errors at their lines, folding; the parts that are chosen are lit up.

import type { Problem } from "../../messages";
import { type CompletionContext, type CompletionResult, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, StateEffect, StateField, Transaction } from "@codemirror/state";
import {
  Decoration, type DecorationSet, EditorView, drawSelection, dropCursor, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
  rectangularSelection,
} from "@codemirror/view";
import { ServerLost } from "../../live/connection";
import { errorWords } from "../../live/live_desk";
import { make } from "../../ui/elements";
import type { DocumentNews } from "../document";
import type { StudioContext, StudioPart } from "../studio_types";
import { toPoints, toUnits } from "../text_positions";
import { fromEditor, toEditor } from "./line_ends";
import { findParts, partAt } from "./part_lines";
import { TextSync } from "./text_sync";
import { textTheme } from "./text_theme";

const PAUSE = 150; // ms without a key before what was typed is sent
const remote = Annotation.define<boolean>();
const setLit = StateEffect.define<{ from: number; to: number }[]>();

/** The lines of the parts that are chosen. */
const litParts = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lit, transaction) {
    let now = lit.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(setLit)) now = Decoration.set(linesOf(transaction.state, effect.value));
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function linesOf(state: EditorState, spans: { from: number; to: number }[]): ReturnType<Decoration["range"]>[] {
  const starts = new Set<number>();
  for (const { from, to } of spans) {
    const last = state.doc.lineAt(Math.min(to, state.doc.length)).number;
    for (let k = state.doc.lineAt(Math.min(from, state.doc.length)).number; k <= last; k++) starts.add(state.doc.line(k).from);
  }
  return [...starts].sort((a, b) => a - b).map((from) => Decoration.line({ class: "cm-part" }).range(from));
}

export class TextPanel implements StudioPart {
  readonly element = make("div", { class: "text-panel" });
  private readonly context: StudioContext;
  private readonly sync: TextSync;
  private readonly view: EditorView;
  private readonly editable = new Compartment();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly end: () => void;

  constructor(context: StudioContext, history: { undo(): void; redo(): void; save(): void }) {
    this.context = context;
    this.sync = new TextSync(context.document.text);
    const act = (what: () => void) => (): boolean => {
      what();
      return true;
    };
    const keys = [
      { key: "Mod-z", run: act(history.undo), preventDefault: true }, { key: "Mod-Shift-z", run: act(history.redo), preventDefault: true },
      { key: "Mod-y", run: act(history.redo), preventDefault: true }, { key: "Mod-s", run: act(history.save), preventDefault: true },
    ];
    this.view = new EditorView({
      parent: this.element,
      doc: context.document.text,
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), codeFolding(), foldGutter(), lintGutter(), drawSelection(), dropCursor(),
        EditorState.allowMultipleSelections.of(true), indentOnInput(), indentUnit.of("  "), bracketMatching(), closeBrackets(), rectangularSelection(),
        highlightActiveLine(), highlightSelectionMatches(), search({ top: true }), yaml(), autocompletion({ override: [(at) => this.complete(at)] }), litParts, textTheme,
        keymap.of([...keys, ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "Text of the model", spellcheck: "false", tabindex: "0" }), EditorView.lineWrapping,
        this.editable.of(EditorState.readOnly.of(context.readOnly)), EditorView.updateListener.of((update) => this.updated(update)),
      ],
    });
    this.end = context.document.listen((news) => this.hear(news));
    this.mark();
  }

  /** Whether something was typed that is not sent yet. */
  get isUnsent(): boolean {
    return this.timer !== null;
  }

  /** Sends what was typed at once. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (!this.sync.hasWaiting) return;
    this.context.document
      .gesture(() => {
        const edits = this.sync.takeWaiting();
        return edits === null ? null : { do: "text", edits };
      })
      .then(() => {
        if (this.sync.isUnderWay) this.sync.taken(this.context.document.text); // nothing of it was new to the server
        this.even();
        if (this.sync.hasWaiting) this.sendSoon();
        else this.mark();
      }, (error: unknown) => {
        this.sync.refused();
        if (!(error instanceof ServerLost)) this.context.say(`The text was not taken: ${errorWords(error)}`, "error");
      });
  }

  /** What the page has, the server or not. */
  get text(): string {
    return this.view.state.doc.sliceString(0, undefined, this.sync.serverText.includes("\r\n") ? "\r\n" : "\n");
  }

  /** Shows a line, from 1, or a stretch in code points. */
  goTo(line: number | null, span: [number, number] | null = null): void {
    const { doc } = this.view.state;
    const place = span !== null ? this.placeOf(span[0]) : line === null ? 0 : doc.line(Math.max(1, Math.min(doc.lines, line))).from;
    const end = span !== null ? this.placeOf(span[1]) : place;
    this.view.dispatch({ selection: { anchor: place, head: end }, effects: EditorView.scrollIntoView(place, { y: "center" }), annotations: remote.of(true) });
    this.view.focus();
  }

  selectionChanged(from: string): void {
    const parts = findParts(this.view.state, this.context.document.box);
    const chosen = parts.filter((part) => this.context.selection.some((name) => name === part.name));
    const effects: StateEffect<unknown>[] = [setLit.of(chosen)];
    if (from !== "text" && chosen.length > 0) effects.push(EditorView.scrollIntoView(chosen[0]!.from, { y: "center" }));
    this.view.dispatch({ effects, annotations: remote.of(true) });
  }

  problemsChanged(): void {
    this.mark();
  }

  resized(): void {
    this.view.requestMeasure();
  }

  destroy(): void {
    this.end();
    if (this.timer !== null) clearTimeout(this.timer);
    this.view.destroy();
  }

  private updated(update: { docChanged: boolean; selectionSet: boolean; transactions: readonly Transaction[]; state: EditorState }): void {
    const own = update.transactions.filter((transaction) => transaction.annotation(remote) !== true);
    for (const transaction of own) if (transaction.docChanged) this.sync.typed(transaction.changes);
    if (own.some((transaction) => transaction.docChanged)) this.sendSoon();
    if (own.some((transaction) => transaction.selection !== undefined) && this.view.hasFocus) this.follow(update.state);
  }

  /** The part in which the cursor stands is chosen. */
  private follow(state: EditorState): void {
    const part = partAt(findParts(state, this.context.document.box), state.selection.main.head, state);
    const names = part === null || part.section === "parameters" || part.section === "inputs" ? [] : [part.name];
    if (names.join() !== this.context.selection.join()) this.context.select(names, "text");
  }

  private sendSoon(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  private hear(news: DocumentNews): void {
    if (news.kind === "opened") {
      this.sync.reset(this.context.document.text);
      this.even();
      this.view.dispatch({ effects: this.editable.reconfigure(EditorState.readOnly.of(this.context.readOnly)) });
      this.mark();
    } else if (news.kind === "text") {
      if (news.own && this.sync.isUnderWay) this.sync.taken(this.context.document.text);
      else {
        const changes = this.sync.others(news.edits, this.context.document.text);
        this.view.dispatch({ changes, annotations: [remote.of(true), Transaction.addToHistory.of(false)] });
      }
      this.even();
    }
  }

  /** Puts right what editor and server have differently, where their changes could not be carried over one another. */
  private even(): void {
    const expected = this.sync.expected();
    const { doc } = this.view.state;
    if (doc.eq(expected)) return;
    const [old, now] = [doc.toString(), expected.toString()];
    let start = 0;
    while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
    let end = 0;
    while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
    this.view.dispatch({ changes: { from: start, to: old.length - end, insert: now.slice(start, now.length - end) }, annotations: [remote.of(true), Transaction.addToHistory.of(false)] });
  }

  private placeOf(points: number): number {
    const text = this.sync.serverText;
    return Math.min(this.view.state.doc.length, toEditor(text, toUnits(text, points)));
  }

  private mark(): void {
    const { document } = this.context;
    if (!this.sync.isEven || document.checkedVersion < document.version) return;
    this.view.dispatch(setDiagnostics(this.view.state, document.problems.map((problem) => this.diagnostic(problem))));
  }

  private diagnostic(problem: Problem): Diagnostic {
    const { doc } = this.view.state;
    const line = problem.line === null ? null : doc.line(Math.max(1, Math.min(doc.lines, problem.line)));
    const [from, to] = problem.span !== null ? [this.placeOf(problem.span[0]), this.placeOf(problem.span[1])] : line !== null ? [line.from, line.to] : [0, 0];
    return {
      from, to, severity: problem.severity === "note" ? "info" : problem.severity, message: problem.message,
      actions: this.context.readOnly ? [] : problem.cures.map((cure) => ({ name: cure.words, apply: () => void this.context.act(cure.gesture) })),
    };
  }

  private async complete(at: CompletionContext): Promise<CompletionResult | null> {
    const word = at.matchBefore(/[\w.]+/);
    if (word === null && !at.explicit && !/[:\[{,(*+\-/]\s?$/.test(at.state.sliceDoc(Math.max(0, at.pos - 2), at.pos))) return null;
    this.flush();
    await this.context.document.settled();
    if (at.aborted || !this.sync.isEven) return null;
    const text = this.sync.serverText;
    try {
      const { from, options } = await this.context.document.complete(toPoints(text, fromEditor(text, at.pos)));
      return { from: this.placeOf(from), options: options.map(({ label, detail, apply }) => ({ label, ...(detail ? { detail } : {}), ...(apply ? { apply } : {}) })), validFor: /^[\w.]*$/ };
    } catch {
      return null; // nothing to offer here
    }
  }
}
