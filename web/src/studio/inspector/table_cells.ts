// The cells of a lookup table: what is typed and pasted into them, and what is wrong with them. No element of the page.

import type { TableData } from "../../messages";

export type Cell = number | string | null;

/** A grid as typed: its first column is the first axis; of two axes the first row is the second axis, with an empty corner. */
export type Grid = string[][];

export function toGrid({ axes, values }: Pick<TableData, "axes" | "values">): Grid {
  const text = (cell: unknown): string => (cell === null || cell === undefined ? "" : String(cell));
  const rows = (axes[0] ?? []).map((at, k) => [text(at), ...(values[k] ?? []).map(text)]);
  return axes.length < 2 ? rows : [["", ...axes[1]!.map(text)], ...rows];
}

/** Rows of a spreadsheet: cells between tabs, or between semicolons or commas where there is no tab. */
export function parsePasted(text: string): Grid {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  const sign = text.includes("\t") ? "\t" : text.includes(";") ? ";" : ",";
  const commas = sign !== ","; // 1,5 for 1.5
  return lines.map((line) => line.split(sign).map((cell) => {
    const plain = cell.trim();
    return commas && /^[-+]?\d+,\d+$/.test(plain) ? plain.replace(",", ".") : plain;
  }));
}

/** A grid with pasted cells from a place on; rows that are missing come. Columns come where the table has two axes. */
export function pasteInto(grid: Grid, [row, column]: [number, number], cells: Grid, wide: boolean): Grid {
  const width = grid[0]?.length ?? 2;
  const most = wide ? Math.max(width, ...cells.map((each) => column + each.length)) : width;
  const made = grid.map((each) => [...each, ...Array<string>(most - each.length).fill("")]);
  cells.forEach((each, k) => {
    while (made.length <= row + k) made.push(Array<string>(most).fill(""));
    each.forEach((cell, j) => column + j < most && (made[row + k]![column + j] = cell));
  });
  return made;
}

export function insertRow(grid: Grid, at: number): Grid {
  const width = grid[0]?.length ?? 2;
  return [...grid.slice(0, at), Array<string>(width).fill(""), ...grid.slice(at)];
}

export function removeRow(grid: Grid, at: number): Grid {
  return grid.filter((_, k) => k !== at);
}

/** What is wrong, by "row,column"; empty where the table can be written. */
export function findWrong(grid: Grid, twoAxes: boolean): Map<string, string> {
  const wrong = new Map<string, string>();
  const first = twoAxes ? 1 : 0;
  grid.forEach((cells, row) => cells.forEach((cell, column) => {
    if (twoAxes && row === 0 && column === 0) return;
    if (cell.trim() === "") wrong.set(`${row},${column}`, "A number is missing.");
    else if (!isNumber(cell)) wrong.set(`${row},${column}`, `${cell} is no number.`);
  }));
  const increases = (cells: [string, string][]): void => cells.forEach(([key, cell], k) => {
    if (k > 0 && !wrong.has(key) && Number(cell) <= Number(cells[k - 1]![1])) wrong.set(key, "The axis must increase.");
  });
  increases(grid.slice(first).map((cells, k) => [`${k + first},0`, cells[0] ?? ""]));
  if (twoAxes) increases((grid[0] ?? []).slice(1).map((cell, k) => [`0,${k + 1}`, cell]));
  if (grid.length - first < 2) wrong.set("", "A table has two points or more along each axis.");
  return wrong;
}

function isNumber(cell: string): boolean {
  return cell.trim() !== "" && Number.isFinite(Number(cell));
}

/** Axes and values as they would be typed. */
export function writeTable(grid: Grid, twoAxes: boolean): { axes: string; values: string } {
  const list = (cells: string[]): string => `[${cells.map((cell) => cell.trim()).join(", ")}]`;
  if (!twoAxes) return { axes: list(grid.map((cells) => cells[0]!)), values: list(grid.map((cells) => cells[1]!)) };
  const rows = grid.slice(1);
  return { axes: `[${list(rows.map((cells) => cells[0]!))}, ${list(grid[0]!.slice(1))}]`, values: `[${rows.map((cells) => list(cells.slice(1))).join(", ")}]` };
}

/** A path through the points of a curve, in a box; gaps where there is no value. */
export function curvePath(x: readonly number[], y: readonly (number | null)[], [left, right]: [number, number], [low, high]: [number, number], width: number, height: number): string {
  const px = (value: number): number => ((value - left) / (right - left || 1)) * width;
  const py = (value: number): number => height - ((value - low) / (high - low || 1)) * height;
  let pen = "M";
  return x.map((at, k) => {
    const value = y[k] ?? null;
    const word = value === null ? "" : `${pen}${px(at).toFixed(1)},${py(value).toFixed(1)}`;
    pen = value === null ? "M" : "L";
    return word;
  }).join("");
}
