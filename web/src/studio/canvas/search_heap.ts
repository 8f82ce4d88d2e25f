// The front of a search: states in the order of estimate, cost, state.

export class SearchHeap {
  private readonly estimates: number[] = [];
  private readonly costs: number[] = [];
  private readonly states: number[] = [];
  /** Of the state that was taken last. */
  cost = 0;
  state = 0;

  get size(): number {
    return this.states.length;
  }

  push(estimate: number, cost: number, state: number): void {
    const { estimates, costs, states } = this;
    let at = states.length;
    estimates.push(estimate);
    costs.push(cost);
    states.push(state);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.isBefore(estimate, cost, state, above)) break;
      estimates[at] = estimates[above]!;
      costs[at] = costs[above]!;
      states[at] = states[above]!;
      at = above;
    }
    estimates[at] = estimate;
    costs[at] = cost;
    states[at] = state;
  }

  /** Takes the first one into ``cost`` and ``state``. */
  pop(): void {
    const { estimates, costs, states } = this;
    this.cost = costs[0]!;
    this.state = states[0]!;
    const estimate = estimates.pop()!;
    const cost = costs.pop()!;
    const state = states.pop()!;
    const count = states.length;
    if (count === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= count) break;
      if (below + 1 < count && this.isBefore(estimates[below + 1]!, costs[below + 1]!, states[below + 1]!, below)) below++;
      if (this.isBefore(estimate, cost, state, below)) break;
      estimates[at] = estimates[below]!;
      costs[at] = costs[below]!;
      states[at] = states[below]!;
      at = below;
    }
    estimates[at] = estimate;
    costs[at] = cost;
    states[at] = state;
  }

  private isBefore(estimate: number, cost: number, state: number, other: number): boolean {
    const theirs = this.estimates[other]!;
    if (estimate !== theirs) return estimate < theirs;
    const spent = this.costs[other]!;
    return cost !== spent ? cost < spent : state < this.states[other]!;
  }
}
