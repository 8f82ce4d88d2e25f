// Colors of a heat map: dark to light, even in lightness, so that they also read without color.

const STOPS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
export const LEVELS = 48;

function mix(one: string, two: string, share: number): string {
  const part = (text: string, k: number): number => parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  return `#${[0, 1, 2].map((k) => Math.round(part(one, k) + share * (part(two, k) - part(one, k))).toString(16).padStart(2, "0")).join("")}`;
}

export const SCALE: readonly string[] = Array.from({ length: LEVELS }, (_, k) => {
  const at = (k / (LEVELS - 1)) * (STOPS.length - 1);
  const below = Math.min(STOPS.length - 2, Math.floor(at));
  return mix(STOPS[below]!, STOPS[below + 1]!, at - below);
});

/** The place of a value on the scale, 0 to LEVELS - 1. */
export function levelOf(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.min(LEVELS - 1, Math.max(0, Math.floor(share * LEVELS)));
}
