// The colors of lines and bands: those of kinode's own plots, and lighter ones on dark paper.

import type { Theme } from "../panel";

const ON_LIGHT = ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#b57900", "#3a93c4"] as const;
const ON_DARK = ["#58b2ea", "#ff8f47", "#35c99c", "#df94d0", "#efb73e", "#a5dcfa"] as const;
const DASHES: number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export const COLOR_COUNT = ON_LIGHT.length;
export const MUTED: Record<Theme, string> = { light: "#8a949f", dark: "#7d8894" };

export function lineColor(index: number, theme: Theme): string {
  const colors = theme === "dark" ? ON_DARK : ON_LIGHT;
  return colors[index % colors.length]!;
}

/** Lines of one color differ by their dashes. */
export function lineDash(index: number): number[] {
  return DASHES[Math.floor(index / COLOR_COUNT) % DASHES.length]!;
}
