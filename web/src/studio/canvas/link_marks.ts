// Which links lie in which cells, and how: level, upright, or bent, ended or branched there.

export const LEVEL = 0;
export const UPRIGHT = 1;
export const BENT = 2;
const NO_WAY = 2; // a cell that cannot be crossed

interface Mark {
  link: number;
  sort: number;
}

export class LinkMarks {
  /** Cells in which two links cross; a third one counts again. */
  crossings = 0;
  private readonly cells: (Mark[] | undefined)[];
  private readonly byLink = new Map<number, number[]>();

  constructor(count: number) {
    this.cells = new Array<Mark[] | undefined>(count).fill(undefined);
  }

  add(link: number, cell: number, sort: number): void {
    const marks = this.cells[cell];
    if (marks === undefined || marks.length === 0) this.cells[cell] = [{ link, sort }];
    else {
      marks.push({ link, sort });
      this.crossings++;
    }
    const own = this.byLink.get(link);
    if (own === undefined) this.byLink.set(link, [cell]);
    else own.push(cell);
  }

  remove(link: number): void {
    for (const cell of this.byLink.get(link) ?? []) {
      const marks = this.cells[cell]!;
      if (marks.length > 1) this.crossings--;
      marks.splice(marks.findIndex((mark) => mark.link === link), 1);
    }
    this.byLink.delete(link);
  }

  clear(): void {
    for (const link of [...this.byLink.keys()]) this.remove(link);
  }

  has(cell: number): boolean {
    return (this.cells[cell]?.length ?? 0) > 0;
  }

  /** Whether another link lies in a cell. */
  isTaken(cell: number, link: number): boolean {
    return this.cells[cell]?.some((mark) => mark.link !== link) ?? false;
  }

  /** The direction in which the other links of a cell can be crossed: 0 across, 1 up and down, 2 none; -1: there are none. */
  way(cell: number, link: number): number {
    const marks = this.cells[cell];
    if (marks === undefined) return -1;
    let found = -1;
    for (const mark of marks) {
      if (mark.link === link) continue;
      if (found >= 0) return NO_WAY;
      found = mark.sort === LEVEL ? 1 : mark.sort === UPRIGHT ? 0 : NO_WAY;
    }
    return found;
  }

  /** The other links in the cells of a link. */
  crossedBy(link: number): Set<number> {
    const others = new Set<number>();
    for (const cell of this.byLink.get(link) ?? []) for (const mark of this.cells[cell]!) if (mark.link !== link) others.add(mark.link);
    return others;
  }
}
