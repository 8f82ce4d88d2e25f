// The parts of the player, in the order of their tabs, and when each is there.

import { makeDiagramView } from "./diagram/diagram_view";
import { makeModesPanel } from "./live/modes_panel";
import { makeNumbersPanel } from "./live/numbers_panel";
import type { PanelMaker, PlayerContext } from "./panel";
import { makeChecksPanel } from "./panels/checks_panel";
import { makeEquationsPanel } from "./panels/equations_panel";
import { makeJointPanel } from "./panels/joint_panel";
import { makeTimeBar } from "./panels/time_bar";
import { makeValuesPanel } from "./panels/values_panel";
import { makePlotsPanel } from "./plots/plots_panel";
import { makeStage } from "./scene/stage";

export const STAGE: PanelMaker = makeStage;
export const TIME_BAR: PanelMaker = makeTimeBar;

const always = (): boolean => true;
const live = (context: PlayerContext): boolean => context.live !== null;

export const PANELS: [string, PanelMaker, (context: PlayerContext) => boolean][] = [
  ["Numbers", makeNumbersPanel, live],
  ["Plots", makePlotsPanel, always],
  ["Joint", makeJointPanel, (context) => context.main.header.joints.length > 0],
  ["Circuit", makeDiagramView, ({ main }) => main.header.diagram !== null && main.header.bodies.length > 0],
  ["Equations", makeEquationsPanel, (context) => context.main.header.equations !== null],
  ["Checks", makeChecksPanel, always],
  ["Modes", makeModesPanel, (context) => live(context) && context.main.header.series.some((series) => series.group === "coordinates" || series.group === "states")],
  ["Values", makeValuesPanel, always],
];
