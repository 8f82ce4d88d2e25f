// What is plotted: quantities by name, in one or more plots; lines of one unit share an axis.

import type { RunDocument } from "../data/run_document";
import { isVector, SIZE, unitOf, type Quantity, type QuantityList } from "./quantities";

export const PARTS = "parts"; // all components of a vector

export interface Choice {
  name: string;
  show: string; // "" for a number; PARTS, SIZE or the name of one part
  plot: number;
}

export interface LineOf {
  choice: Choice;
  quantity: Quantity;
  part: string; // "", SIZE, or the name of a part
  label: string;
  si: string; // its unit
}

export const MOST_FIRST = 6; // lines of a plot that a reader can tell apart

/** What is shown before anybody has chosen: the coordinates, as in kinode's own plots. */
export function firstChoices(run: RunDocument, list: QuantityList): Choice[] {
  const series = run.header.series;
  const positions = series.filter((each) => (each.group === "coordinates" || each.group === "states") && /\.q$/.test(each.name));
  const groups = [positions, ...["coordinates", "states", "signals", "kept", "powers"].map((group) => series.filter((x) => x.group === group)), series];
  const first = groups.find((group) => group.length > 0) ?? [];
  const choices: Choice[] = [];
  const counts = new Map<string, number>();
  for (const info of first) {
    const count = counts.get(info.unit) ?? 0;
    const lines = Math.max(1, info.parts.length);
    if (count > 0 && count + lines > MOST_FIRST) continue;
    counts.set(info.unit, count + lines);
    addChoice(choices, list, info.name);
  }
  return choices;
}

/** Adds a quantity where its unit is already shown, else in a new plot. Returns it, or null if it is there. */
export function addChoice(choices: Choice[], list: QuantityList, name: string): Choice | null {
  if (choices.some((each) => each.name === name)) return null;
  const quantity = list.find(name);
  if (quantity === undefined) return null;
  const alike = choices.find((each) => list.find(each.name)?.unit === quantity.unit);
  const plots = choices.map((each) => each.plot);
  const choice = { name, show: firstShow(quantity), plot: alike?.plot ?? (plots.length > 0 ? Math.max(...plots) + 1 : 0) };
  choices.push(choice);
  return choice;
}

function firstShow(quantity: Quantity): string {
  if (quantity.parts.length === 0) return "";
  return isVector(quantity) && quantity.group === "loads" ? SIZE : PARTS;
}

/** Ways to show a quantity, with their words; none for a number. */
export function waysToShow(quantity: Quantity): [string, string][] {
  if (quantity.parts.length === 0) return [];
  const parts = quantity.parts.map((part): [string, string] => [part, part]);
  const ways: [string, string][] = [[PARTS, quantity.parts.join(" ")], ...parts];
  return isVector(quantity) ? [[SIZE, "magnitude"], ...ways] : ways;
}

/** The lines of a choice. */
export function linesOf(choice: Choice, quantity: Quantity): LineOf[] {
  const whole = (part: string, label: string): LineOf => ({ choice, quantity, part, label, si: unitOf(quantity, part) });
  if (quantity.parts.length === 0) return [whole("", choice.name)];
  if (choice.show === SIZE) return [whole(SIZE, `|${choice.name}|`)];
  const parts = choice.show === PARTS ? quantity.parts : [choice.show];
  return parts.map((part) => whole(part, `${choice.name}.${part}`));
}

/** The numbers of the plots, in order. */
export function plotNumbers(choices: readonly Choice[]): number[] {
  return [...new Set(choices.map((each) => each.plot))].sort((a, b) => a - b);
}
