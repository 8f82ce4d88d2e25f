// A long line as the screen shows it: first, lowest, highest and last value of every stretch, so that no peak is lost.

export interface Thinned {
  x: Float64Array;
  y: Float64Array;
  count: number;
}

/** Room for a thinned line that can be used again and again. */
export function makeThinned(stretches: number): Thinned {
  const room = 5 * stretches + 16;
  return { x: new Float64Array(room), y: new Float64Array(room), count: 0 };
}

/** The first index whose time is not before t. */
export function firstFrom(times: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The part of a line between two times, and one point more on either side, so that it reaches the edges.
 * Gaps (not a number) stay gaps.
 */
export function decimate(
  t: ArrayLike<number>, y: ArrayLike<number>, from: number, to: number, stretches: number, into = makeThinned(stretches),
): Thinned {
  const count = Math.min(t.length, y.length);
  let first = Math.max(0, firstFrom(t, from) - 1);
  const last = Math.min(count - 1, firstFrom(t, to) + 1);
  into.count = 0;
  if (last < first) return into;
  if (last - first + 1 <= 4 * stretches) {
    for (; first <= last; first++) push(into, t[first]!, y[first]!);
    return into;
  }
  const rate = stretches / (t[last]! - t[first]! || 1);
  const start = t[first]!;
  while (first <= last) {
    const stretch = Math.floor((t[first]! - start) * rate);
    let end = first;
    while (end < last && Math.floor((t[end + 1]! - start) * rate) === stretch) end++;
    pushStretch(t, y, first, end, into);
    first = end + 1;
  }
  return into;
}

function pushStretch(t: ArrayLike<number>, y: ArrayLike<number>, start: number, end: number, into: Thinned): void {
  let low = -1;
  let high = -1;
  let gap = -1;
  for (let k = start; k <= end; k++) {
    const value = y[k]!;
    if (Number.isNaN(value)) gap = k;
    else {
      if (low < 0 || value < y[low]!) low = k;
      if (high < 0 || value > y[high]!) high = k;
    }
  }
  const picks = [start, Math.min(low, high), Math.max(low, high), end];
  let before = -1;
  for (const pick of picks) {
    if (pick < 0 || pick === before) continue;
    push(into, t[pick]!, y[pick]!);
    before = pick;
  }
  if (gap >= 0) push(into, t[gap]!, NaN);
}

function push(into: Thinned, x: number, y: number): void {
  into.x[into.count] = x;
  into.y[into.count++] = y;
}

/** Least and greatest value between two times, those at the edges included; [NaN, NaN] if there are none. */
export function findRange(t: ArrayLike<number>, y: ArrayLike<number>, from: number, to: number): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  const last = Math.min(t.length, y.length, firstFrom(t, to) + 1);
  for (let k = Math.max(0, firstFrom(t, from) - 1); k < last; k++) {
    const value = y[k]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [NaN, NaN];
}

/** The value at a time, linear between stored ones; of two values at one time (an event) the later. */
export function sampleAt(t: ArrayLike<number>, y: ArrayLike<number>, time: number): number {
  const last = Math.min(t.length, y.length) - 1;
  if (last < 0) return NaN;
  if (time >= t[last]!) return y[last]!;
  let low = 0;
  let high = last;
  if (time < t[0]!) return y[0]!;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle]! <= time) low = middle;
    else high = middle;
  }
  const span = t[high]! - t[low]!;
  return span > 0 ? y[low]! + ((time - t[low]!) / span) * (y[high]! - y[low]!) : y[high]!;
}
