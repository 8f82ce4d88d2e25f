// Numbers in groups by component, the model's parameters first; what a search leaves of them.

import type { ParameterData } from "../data/run_document";

export interface NumberGroup {
  name: string;
  rows: ParameterData[];
}

/** Numbers of a group: those that can be dragged first, then those that compile anew, then those that are drawn alone. */
function rank(parameter: ParameterData): number {
  if (parameter.structural === "") return 0;
  return /drawn alone/.test(parameter.structural) ? 2 : 1;
}

/** Parameters, inputs, components as they are declared, then what belongs to the whole: gravity. */
function place(group: string): number {
  return { parameters: 0, inputs: 1, system: 3 }[group] ?? 2;
}

export function groupNumbers(parameters: readonly ParameterData[], search = ""): NumberGroup[] {
  const words = search.trim().toLowerCase().split(/\s+/).filter((word) => word !== "");
  const groups = new Map<string, ParameterData[]>();
  for (const parameter of parameters) {
    const text = `${parameter.name} ${parameter.words} ${parameter.group}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const group = parameter.group || "parameters";
    const rows = groups.get(group);
    if (rows === undefined) groups.set(group, [parameter]);
    else rows.push(parameter);
  }
  const all = [...groups].map(([name, rows]): NumberGroup => ({ name, rows: rows.map((row, k) => ({ row, k })).sort((a, b) => rank(a.row) - rank(b.row) || a.k - b.k).map(({ row }) => row) }));
  return all.sort((a, b) => place(a.name) - place(b.name));
}

/** The name without its group: "com.x" for "arm.com.x" of "arm". */
export function shortName(name: string, group: string): string {
  return name.startsWith(`${group}.`) ? name.slice(group.length + 1) : name;
}
