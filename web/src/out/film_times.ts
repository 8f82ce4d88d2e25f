// The pictures of a film: exact times, whatever the machine's speed.

export interface FilmPlan {
  from: number; // s, time of the run
  to: number;
  speed: number; // seconds of the run for a second of the film
  rate: number; // pictures for a second of the film
}

export const MOST_PICTURES = 36_000; // ten minutes at 60 Hz
export const RATES = [24, 25, 30, 50, 60];
export const SIZES: [number, number][] = [[640, 360], [960, 540], [1280, 720], [1920, 1080], [1080, 1080], [1080, 1920]];

/** What is wrong with a plan, in words, or "". */
export function findFault(plan: FilmPlan): string {
  if (!(plan.to > plan.from)) return "The film must end after it begins.";
  if (!(plan.speed > 0) || !Number.isFinite(plan.speed)) return "The speed must be a positive number.";
  if (!(plan.rate >= 1 && plan.rate <= 120)) return "A film has 1 to 120 pictures in a second.";
  const count = pictureCount(plan);
  if (count > MOST_PICTURES) return `The film would have ${count} pictures; ${MOST_PICTURES} are the most. Take a higher speed or a shorter span.`;
  return "";
}

export function pictureCount(plan: FilmPlan): number {
  return Math.floor(((plan.to - plan.from) / plan.speed) * plan.rate + 1e-6) + 1;
}

/** The time of the run in picture k: the last one is the end of the span at most. */
export function timeOf(plan: FilmPlan, k: number): number {
  return Math.min(plan.to, plan.from + (k * plan.speed) / plan.rate);
}

/** Encoders want even sizes. */
export function evenSize(width: number, height: number): [number, number] {
  return [Math.max(2, 2 * Math.round(width / 2)), Math.max(2, 2 * Math.round(height / 2))];
}

/** Bits for a second: plain areas and sharp lines need few, and must not blur. */
export function bitRate(width: number, height: number, rate: number): number {
  return Math.round(Math.min(2e7, Math.max(1e6, 0.09 * width * height * rate)));
}
