// The newest wins: one question under way, one waiting; what was asked in between is never sent.

import { Overtaken } from "./connection";

export interface NewestActions<Question, Answer> {
  send(question: Question): Promise<Answer>;
  done(answer: Answer, question: Question): void;
  failed(error: Error, question: Question): void;
  /** What becomes of a question that waits when another comes; the new one alone unless told otherwise. */
  merge?(old: Question, added: Question): Question;
}

export class Newest<Question, Answer> {
  private running = false;
  private waiting: Question | null = null;
  private readonly actions: NewestActions<Question, Answer>;

  constructor(actions: NewestActions<Question, Answer>) {
    this.actions = actions;
  }

  get busy(): boolean {
    return this.running;
  }

  ask(question: Question): void {
    if (!this.running) this.start(question);
    else this.waiting = this.waiting === null || !this.actions.merge ? question : this.actions.merge(this.waiting, question);
  }

  private start(question: Question): void {
    this.running = true;
    this.actions.send(question).then(
      (answer) => this.finish(() => this.actions.done(answer, question)),
      (error: unknown) => this.finish(() => {
        if (!(error instanceof Overtaken)) this.actions.failed(error instanceof Error ? error : new Error(String(error)), question);
      }),
    );
  }

  /** The next question is on its way before this answer is drawn: the server works while the page does. */
  private finish(act: () => void): void {
    const next = this.waiting;
    this.waiting = null;
    this.running = false;
    if (next !== null) this.start(next);
    act();
  }
}
