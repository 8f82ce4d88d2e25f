// The parts of the player, in the order of their tabs, and when each is there.

import type { Panel, PanelMaker, PlayerContext } from "./panel";
import { make } from "./ui/elements";

function placeholder(title: string): PanelMaker {
  return (): Panel => ({ element: make("div", {}, title), title, setRuns() {}, destroy() {} });
}

export const STAGE: PanelMaker = placeholder("3D");
export const TIME_BAR: PanelMaker = placeholder("time");

const always = (): boolean => true;

export const PANELS: [string, PanelMaker, (context: PlayerContext) => boolean][] = [
  ["Plots", placeholder("Plots"), always],
  ["Joint", placeholder("Joint"), (context) => context.main.header.joints.length > 0],
  ["Circuit", placeholder("Circuit"), (context) => context.main.header.diagram !== null],
  ["Equations", placeholder("Equations"), (context) => context.main.header.equations !== null],
  ["Checks", placeholder("Checks"), always],
];
