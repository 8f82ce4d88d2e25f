// The editor and the one text. What was typed and is not with the server yet is kept as two changes: one under way, one
// waiting. What others change meanwhile is carried over both, as in shared editors.

import { ChangeSet, Text } from "@codemirror/state";
import type { TextEdit } from "../studio_types";
import { editsToPoints, editsToUnits } from "../text_positions";
import { asEditor, fromEditor, toEditor, withFileEnds } from "./line_ends";

export class TextSync {
  private confirmed: string; // as the server has it
  private sent: ChangeSet | null = null;
  private waiting: ChangeSet | null = null;

  constructor(text: string) {
    this.confirmed = text;
  }

  get serverText(): string {
    return this.confirmed;
  }

  /** Whether the editor has all that the server has, and no more. */
  get isEven(): boolean {
    return this.sent === null && this.waiting === null;
  }

  get hasWaiting(): boolean {
    return this.waiting !== null;
  }

  /** Something was typed. */
  typed(change: ChangeSet): void {
    this.waiting = this.waiting === null ? change : this.waiting.compose(change);
    if (this.waiting.empty) this.waiting = null;
  }

  /** The edits to send now, in code points of the server's text; null if there are none or some are under way. */
  takeWaiting(): TextEdit[] | null {
    if (this.waiting === null || this.sent !== null) return null;
    this.sent = this.waiting;
    this.waiting = null;
    const text = this.confirmed;
    const edits: TextEdit[] = [];
    this.sent.iterChanges((from, to, _newFrom, _newTo, added) => {
      edits.push([fromEditor(text, from), fromEditor(text, to), withFileEnds(text, added.toString())]);
    });
    return editsToPoints(text, edits);
  }

  /** What was under way was refused: it waits again. */
  refused(): void {
    if (this.sent === null) return;
    this.waiting = this.waiting === null ? this.sent : this.sent.compose(this.waiting);
    this.sent = null;
  }

  /** The server took what was under way. */
  taken(text: string): void {
    this.confirmed = text;
    this.sent = null;
  }

  get isUnderWay(): boolean {
    return this.sent !== null;
  }

  /** Others changed the text: what the editor has to do, so that it has that change and its own. */
  others(edits: readonly TextEdit[], after: string): ChangeSet {
    const before = this.confirmed;
    const changes = editsToUnits(before, edits).map(([start, end, added]) => ({ from: toEditor(before, start), to: toEditor(before, end), insert: asEditor(added) }));
    let change = ChangeSet.of(changes, asEditor(before).length);
    this.confirmed = after;
    if (this.sent !== null) {
      const carried = change.map(this.sent);
      this.sent = this.sent.map(change, true);
      change = carried;
    }
    if (this.waiting !== null) {
      const carried = change.map(this.waiting);
      this.waiting = this.waiting.map(change, true);
      change = carried;
    }
    return change;
  }

  /** What the editor should have: the server's text with what is under way and what waits. */
  expected(): Text {
    let text = Text.of(asEditor(this.confirmed).split("\n"));
    if (this.sent !== null) text = this.sent.apply(text);
    if (this.waiting !== null) text = this.waiting.apply(text);
    return text;
  }

  reset(text: string): void {
    this.confirmed = text;
    this.sent = this.waiting = null;
  }
}
