// What is chosen in the drawing is chosen in the run, and the other way round.

import type { Selection } from "../panel";
import type { Player } from "../player";

/** The thing of a run that a component is. */
export function findInRun(player: Pick<Player, "main">, name: string): Selection {
  const { joints, bodies, elements } = player.main.header;
  const top = name.split(".")[0]!;
  for (const each of [name, top]) {
    if (joints.some((joint) => joint.name === each)) return { kind: "joint", name: each };
    if (bodies.some((body) => body.name === each)) return { kind: "body", name: each };
    if (elements.some((element) => element.name === each)) return { kind: "element", name: each };
  }
  return { kind: "none", name: "" };
}

export class RunLink {
  private player: Player | null = null;
  private telling = false;
  private readonly chosen: (name: string) => void;

  constructor(chosen: (name: string) => void) {
    this.chosen = chosen;
  }

  follow(player: Player): void {
    if (player === this.player) return;
    this.player = player;
    player.root.addEventListener("kinode-select", (event) => {
      const { kind, name } = (event as CustomEvent<Selection>).detail;
      if (!this.telling && kind !== "link") this.chosen(kind === "none" ? "" : name);
    });
  }

  /** Lights up in 3D the first of some components that is there; the choice shows again when none is given. */
  light(names: readonly string[]): void {
    const { player } = this;
    if (player === null) return;
    const found = names.map((name) => findInRun(player, name)).find(({ kind }) => kind === "joint" || kind === "body");
    player.light(found ?? null);
  }

  tell(names: readonly string[]): void {
    const { player } = this;
    if (player === null) return;
    const wanted = names.length === 1 ? findInRun(player, names[0]!) : { kind: "none" as const, name: "" };
    if (wanted.kind === player.selection.kind && wanted.name === player.selection.name) return;
    this.telling = true;
    player.select(wanted);
    this.telling = false;
  }
}
