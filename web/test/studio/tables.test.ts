// Cells of lookup tables: pasted, checked, written.

import { describe, expect, it } from "vitest";
import { curvePath, findWrong, insertRow, parsePasted, pasteInto, removeRow, toGrid, writeTable } from "../../src/studio/inspector/table_cells";

describe("a table of one axis", () => {
  const grid = toGrid({ axes: [[0, 1, 2]], values: [[0], [3], [4]] });

  it("is a grid of two columns, and written as it was", () => {
    expect(grid).toEqual([["0", "0"], ["1", "3"], ["2", "4"]]);
    expect(writeTable(grid, false)).toEqual({ axes: "[0, 1, 2]", values: "[0, 3, 4]" });
    expect(findWrong(grid, false).size).toBe(0);
  });

  it("takes rows from a spreadsheet, and grows", () => {
    const pasted = parsePasted("5\t1,5\r\n6\t2,5\r\n");
    expect(pasted).toEqual([["5", "1.5"], ["6", "2.5"]]);
    expect(pasteInto(grid, [2, 0], pasted, false)).toEqual([["0", "0"], ["1", "3"], ["5", "1.5"], ["6", "2.5"]]);
    expect(parsePasted("1,2\n3,4")).toEqual([["1", "2"], ["3", "4"]]);
    expect(parsePasted("1;2,5")).toEqual([["1", "2.5"]]);
  });

  it("says at the cell what is wrong", () => {
    expect([...findWrong([["0", "a"], ["0", "1"], ["", "2"]], false)]).toEqual([["0,1", "a is no number."], ["2,0", "A number is missing."], ["1,0", "The axis must increase."]]);
    expect(findWrong([["0", "1"]], false).get("")).toContain("two points");
    expect(findWrong(insertRow(grid, 3), false).size).toBe(2);
    expect(removeRow(grid, 1)).toEqual([["0", "0"], ["2", "4"]]);
  });
});

describe("a table of two axes", () => {
  const grid = toGrid({ axes: [[0, 1], [10, 20, 30]], values: [[1, 2, 3], [4, 5, null]] });

  it("has its second axis as a head, and says what is missing", () => {
    expect(grid).toEqual([["", "10", "20", "30"], ["0", "1", "2", "3"], ["1", "4", "5", ""]]);
    expect([...findWrong(grid, true).keys()]).toEqual(["2,3"]);
    const whole = pasteInto(grid, [2, 3], [["6"]], true);
    expect(writeTable(whole, true)).toEqual({ axes: "[[0, 1], [10, 20, 30]]", values: "[[1, 2, 3], [4, 5, 6]]" });
    expect(pasteInto(whole, [0, 4], [["40"], ["7"], ["8"]], true)[0]).toEqual(["", "10", "20", "30", "40"]);
  });
});

it("a curve has gaps where there is no value", () => {
  expect(curvePath([0, 1, 2, 3], [0, 1, null, 1], [0, 3], [0, 1], 30, 10)).toBe("M0.0,10.0L10.0,0.0M30.0,0.0");
});
