// The page of a live server: waits for the first run, shows the player, follows the model file, says what went wrong.

import type { Packet } from "../data/packet";
import { Player } from "../player";
import type { Stage } from "../scene/stage";
import { make } from "../ui/elements";
import { LiveConnection, type Connected, isPacket, socketAddress } from "./connection";
import { LiveDesk, errorWords } from "./live_desk";
import { ModelBanner, type ModelFault } from "./model_banner";
import { liveHeader } from "./run_update";
import { StageDrags } from "./stage_drags";

/** What tests and programs that drive the page find as window.kinodeLive. */
export interface LivePage {
  readonly connection: LiveConnection;
  desk: LiveDesk | null;
  player: Player | null;
  readonly lastLatency: number;
}

class Page implements LivePage {
  readonly connection: LiveConnection;
  desk: LiveDesk | null = null;
  player: Player | null = null;
  private drags: StageDrags | null = null;
  private readonly host: HTMLElement;
  private readonly banner = new ModelBanner(() => this.connection.retry());
  private readonly waiting = make("div", { class: "live-waiting", role: "status", "aria-live": "polite" });

  constructor(host: HTMLElement, connection: LiveConnection) {
    this.host = host;
    this.connection = connection;
    this.waiting.append(make("p", { class: "live-spinner", "aria-hidden": "true" }), make("p", {}, "The model is being compiled."));
    host.append(this.waiting);
    connection.onPush((message) => this.hear(message));
    connection.onPacket((packet) => packet.header["kind"] === "model" && this.setModel(packet));
    connection.onState((state) => this.stateChanged(state));
  }

  get lastLatency(): number {
    return this.desk?.latency.lastLatency ?? NaN;
  }

  private async open(): Promise<void> {
    try {
      const answer = await this.connection.ask("open");
      if (!isPacket(answer)) throw new Error("the server sent no run");
      this.banner.clear();
      if (this.desk === null) this.start(answer);
      else this.setModel(answer);
      const trouble = liveHeader(this.desk!.run.document.header).trouble;
      if (trouble !== undefined) this.fault(trouble);
    } catch (error) {
      if (this.desk === null) this.say(errorWords(error), true);
    }
  }

  private start(packet: Packet): void {
    this.desk = new LiveDesk(this.connection, packet);
    this.mount(this.desk);
    this.waiting.remove();
    this.player!.show("Numbers");
    performance.mark("kinode-first-run");
  }

  private mount(desk: LiveDesk): void {
    const theme = this.host.dataset["theme"];
    const player = new Player(this.host, desk.shownRuns, { live: desk, ...(theme === "light" || theme === "dark" ? { theme } : {}) });
    this.player = player;
    (globalThis as { kinodePlayer?: unknown }).kinodePlayer = player;
    desk.attach(player);
    player.root.append(this.banner.element);
    this.drags = new StageDrags(player, desk);
  }

  private setModel(packet: Packet): void {
    const { desk, player } = this;
    if (desk === null || player === null) return;
    if (packet.header["cause"] !== "more") this.banner.clear();
    const stage = player.stage as Stage;
    const { view } = stage;
    desk.setModel(packet);
    player.setRuns(desk.shownRuns);
    if (stage.view !== view) {
      this.drags?.destroy();
      this.drags = new StageDrags(player, desk);
    }
    if (packet.header["cause"] === "file") player.say("The model was read anew.");
  }

  private hear(message: Record<string, unknown>): void {
    if (message["kind"] === "progress") this.say(String(message["words"] ?? ""), false);
    else if (message["kind"] === "model_error") this.fault(message as unknown as ModelFault);
  }

  private fault(fault: ModelFault): void {
    if (this.player === null) return this.say(errorText(fault), true);
    this.banner.showFault(fault, this.desk?.live.file ?? "");
  }

  private say(words: string, wrong: boolean): void {
    if (this.player !== null) {
      if (words !== "") this.player.say(words, wrong ? "error" : "note");
      return;
    }
    this.waiting.classList.toggle("wrong", wrong);
    if (wrong) this.waiting.setAttribute("role", "alert");
    const place = this.waiting.lastElementChild!;
    if (words !== "") place.textContent = words;
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

/** Starts the live page in its element. */
export function startLive(host: HTMLElement): LivePage {
  const connection = new LiveConnection(() => new WebSocket(socketAddress(location)));
  const page = new Page(host, connection);
  (globalThis as { kinodeLive?: LivePage }).kinodeLive = page;
  return page;
}
