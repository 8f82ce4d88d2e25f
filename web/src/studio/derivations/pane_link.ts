// Requests of the panes: one of each kind under way, told how far it is, stopped when it is not wanted any more.

import { type Answer, type Fields, type Kind, type LiveConnection, Overtaken } from "../../live/connection";

export type PaneSocket = Pick<LiveConnection, "ask" | "onPush">;
/** The kinds of request of panes. */
export type Pane = Extract<Kind, `pane_${string}`>;
export type Progress = (share: number, words: string) => void;

export class PaneLink {
  private readonly socket: PaneSocket;
  private readonly hearing = new Map<string, Progress>();

  constructor(socket: PaneSocket) {
    this.socket = socket;
    socket.onPush((message) => {
      if (message.kind === "pane_progress") this.hearing.get(message.pane)?.(message.share, message.words);
    });
  }

  /** The answer, or null if a newer request or the person ended it. */
  async ask<K extends Pane>(kind: K, fields: Fields<K>, progress?: Progress): Promise<Answer<K> | null> {
    if (this.hearing.has(kind)) this.stop(kind);
    const hears = progress ?? ((): void => {});
    this.hearing.set(kind, hears);
    try {
      return await (this.socket.ask as (kind: K, fields: Fields<K>) => Promise<Answer<K>>)(kind, fields);
    } catch (error) {
      if (error instanceof Overtaken) return null;
      throw error;
    } finally {
      if (this.hearing.get(kind) === hears) this.hearing.delete(kind);
    }
  }

  stop(kind: string): void {
    void this.socket.ask("pane_stop", { pane: kind }).catch(() => undefined);
  }
}
