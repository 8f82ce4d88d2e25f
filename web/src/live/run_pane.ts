// The running half of a page: waits for the first run, shows the player, follows the model, says what went wrong.
// The live page is this alone; the studio has it beside the drawing.

import type { ModelFault, ModelPush } from "../messages";
import type { Packet } from "../data/packet";
import type { RunHeader } from "../data/run_document";
import type { Theme } from "../panel";
import { Player } from "../player";
import type { Stage } from "../scene/stage";
import { make } from "../ui/elements";
import { LiveConnection, type Connected, type Push } from "./connection";
import { LiveDesk, errorWords } from "./live_desk";
import { ModelBanner } from "./model_banner";
import { liveHeader } from "./run_update";
import { StageDrags } from "./stage_drags";

export interface RunPaneOptions {
  /** What is said before there is a run. */
  waiting?: string;
  theme?: Theme;
  /** Panels of the player that are left out. */
  without?: string[];
  /** The panel that is open at first. */
  first?: string;
  autoplay?: boolean;
  /** How the model stands is told by `stand`, and not by what the server says of single runs. */
  quiet?: boolean;
  /** The player was made, or shows another model. */
  onModel?(player: Player, desk: LiveDesk): void;
}

export class RunPane {
  readonly connection: LiveConnection;
  desk: LiveDesk | null = null;
  player: Player | null = null;
  private drags: StageDrags | null = null;
  private readonly host: HTMLElement;
  private readonly options: RunPaneOptions;
  private readonly banner = new ModelBanner(() => this.connection.retry());
  private readonly waiting = make("div", { class: "live-waiting", role: "status", "aria-live": "polite" });

  constructor(host: HTMLElement, connection: LiveConnection, options: RunPaneOptions = {}) {
    this.host = host;
    this.connection = connection;
    this.options = options;
    this.waiting.append(make("p", { class: "live-spinner", "aria-hidden": "true" }), make("p", {}, options.waiting ?? "The model is being compiled."));
    host.append(this.waiting);
    connection.onPush((message) => this.hear(message));
    connection.onPacket((packet) => packet.header.kind === "model" && this.hearModel(packet, packet.header.cause));
    connection.onState((state) => this.stateChanged(state));
    if (connection.state === "open") void this.open();
  }

  get lastLatency(): number {
    return this.desk?.latency.lastLatency ?? NaN;
  }

  /** Takes the run away: another model is opened, which has none yet. One that is of that model already stays. */
  clear(words: string, model?: number): void {
    if (model !== undefined && this.desk?.live.model === model) return;
    this.drags?.destroy();
    this.player?.destroy();
    this.drags = this.player = this.desk = null;
    this.clearFault();
    this.host.append(this.waiting);
    this.say(words, false);
  }

  /** How the model stands: what is said over a run that is not of this model, or in the place of one. */
  stand(older: { words: string; soon: boolean }, { words, wrong }: { words: string; wrong: boolean }): void {
    this.host.dataset["older"] = older.words;
    this.host.classList.toggle("soon", older.soon);
    if (this.player === null) this.say(words, wrong);
  }

  private async open(): Promise<void> {
    try {
      const answer = await this.connection.ask("open");
      this.clearFault();
      if (this.desk === null) this.start(answer);
      else this.setModel(answer);
      const { trouble } = liveHeader(answer.header);
      if (trouble !== undefined) this.fault(trouble);
    } catch (error) {
      if (this.desk === null) this.say(errorWords(error), true);
    }
  }

  private start(packet: Packet): void {
    this.desk = new LiveDesk(this.connection, packet);
    this.mount(this.desk);
    this.waiting.remove();
    this.player!.show(this.options.first ?? "Numbers");
    performance.mark("kinode-first-run");
  }

  private mount(desk: LiveDesk): void {
    const { theme, without, autoplay } = this.options;
    const player = new Player(this.host, desk.shownRuns, {
      live: desk, ...(theme === undefined ? {} : { theme }), ...(without === undefined ? {} : { without }), ...(autoplay === undefined ? {} : { autoplay }),
    });
    this.player = player;
    (globalThis as { kinodePlayer?: unknown }).kinodePlayer = player;
    desk.attach(player);
    player.root.append(this.banner.element);
    this.drags = new StageDrags(player, desk);
    this.options.onModel?.(player, desk);
  }

  /** A run of another model than the one that is shown begins with a player of its own: camera, plots, pinned runs. */
  private hearModel(packet: Packet, cause: ModelPush["cause"]): void {
    if (this.desk !== null) this.clear("", liveHeader(packet.header as RunHeader).model);
    this.setModel(packet, cause);
  }

  private setModel(packet: Packet, cause: ModelPush["cause"] | "" = ""): void {
    const { desk, player } = this;
    if (desk === null || player === null) return this.start(packet);
    if (cause !== "more") this.clearFault();
    const stage = player.stage as Stage;
    const { view } = stage;
    desk.setModel(packet, cause === "more");
    player.setRuns(desk.shownRuns);
    if (stage.view !== view) {
      this.drags?.destroy();
      this.drags = new StageDrags(player, desk);
    }
    if (cause === "file") player.say("The model was read anew.");
    this.options.onModel?.(player, desk);
  }

  private hear(message: Push): void {
    if (this.options.quiet === true) return;
    if (message.kind === "progress") this.say(message.words, false);
    else if (message.kind === "model_error") this.fault(message);
  }

  private fault(fault: ModelFault): void {
    if (this.player === null) return this.say(errorText(fault), true);
    if (this.options.quiet === true) return;
    this.banner.showFault(fault, this.desk?.live.file ?? "");
  }

  private clearFault(): void {
    this.banner.clear();
  }

  private say(words: string, wrong: boolean): void {
    if (this.player !== null) {
      if (words !== "") this.player.say(words, wrong ? "error" : "note");
      return;
    }
    this.waiting.classList.toggle("wrong", wrong);
    this.waiting.setAttribute("role", wrong ? "alert" : "status");
    const place = this.waiting.lastElementChild!;
    if (words !== "" && place.textContent !== words) place.textContent = words;
  }

  private stateChanged(state: Connected): void {
    if (state === "lost") {
      if (this.player === null) this.say("The server is gone. It was ended, or this machine slept.", true);
      else this.banner.showLost();
    } else if (state === "open") void this.open();
  }
}

function errorText({ message, line, component }: ModelFault): string {
  return [line == null ? "" : `line ${line}`, component ?? "", message].filter((part) => part !== "").join(": ");
}
