// Requests of the panes: one of each kind under way, told how far it is, stopped when it is not wanted any more.

import { type LiveConnection, Overtaken } from "../../live/connection";

export type PaneSocket = Pick<LiveConnection, "ask" | "onPush">;
export type Progress = (share: number, words: string) => void;

export class PaneLink {
  private readonly socket: PaneSocket;
  private readonly hearing = new Map<string, Progress>();

  constructor(socket: PaneSocket) {
    this.socket = socket;
    socket.onPush((message) => {
      if (message["kind"] !== "pane_progress") return;
      this.hearing.get(String(message["pane"]))?.(Number(message["share"] ?? 0), String(message["words"] ?? ""));
    });
  }

  /** The answer, or null if a newer request or the person ended it. */
  async ask<T>(kind: string, fields: Record<string, unknown> = {}, progress?: Progress): Promise<T | null> {
    if (this.hearing.has(kind)) this.stop(kind);
    const hears = progress ?? ((): void => {});
    this.hearing.set(kind, hears);
    try {
      return (await this.socket.ask(kind, fields)) as unknown as T;
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
