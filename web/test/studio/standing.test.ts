import type { Problem, Standing } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { countProblems, labelsOf } from "../../src/studio/standing";

const fault = (severity: Problem["severity"]): Problem => ({ message: "m", severity, component: null, field: null, port: null, line: null, span: null, cures: [], box: [] });
const FOUND: Problem[][] = [[], [fault("note")], [fault("warning")], [fault("error"), fault("warning")]];

/** Every record that the server can send. */
function* records(): Generator<Standing> {
  const of = (whole: boolean, problems: Problem[], run: Standing["run"]["state"], state: Standing["proof"]["state"]): Standing =>
    ({ number: 1, version: 3, whole, problems, run: { state: run, words: "why" }, proof: { state, words: "", share: 0.3 } });
  for (const problems of FOUND.slice(3)) yield of(false, problems, "stale", "unfinished");
  for (const proof of ["waiting", "running", "agrees", "differs", "none", "asleep"] as const) {
    for (const problems of FOUND.slice(0, 3)) for (const run of ["running", "shown", "empty"] as const) yield of(true, problems, run, proof);
    yield of(true, FOUND[3]!, "failed", proof);
  }
}

/** What a page says that must never stand beside what. */
const NEVER: [RegExp, RegExp][] = [
  [/✓ no errors|model is whole\.$/m, /comparing|not compared yet|differ|compiles|being checked|problems now|does not run|last good|\d errors?/],
  [/up to date/, /compiles|being checked|problems now|does not run|last good|text before|not whole/],
  [/problems now/, /no errors|No problems|up to date|derivations agree|text is whole/],
  [/does not run/, /no errors|No problems|up to date|compiles/],
  [/derivations agree/, /being checked|problems now|comparing/],
  [/derivations differ/, /✓/],
  [/checking …/, /up to date|derivations agree|\d error|No problems/],
];

/** All words of a page; the list of problems has its own where it is not empty. */
function told(standing: Standing, version: number, ran: boolean): string {
  const { run, check, proof, problems, older, aside } = labelsOf(standing, version, ran);
  return [run, check.words, proof.words, standing.problems.length === 0 ? problems : "", ran ? older.words : "", aside].join("\n");
}

describe("how the model stands", () => {
  it("is never told in words that contradict one another", () => {
    let count = 0;
    for (const standing of records()) {
      for (const version of [3, 4]) {
        for (const ran of [true, false]) {
          const words = told(standing, version, ran);
          for (const [one, other] of NEVER) if (one.test(words)) expect(words).not.toMatch(other);
          count++;
        }
      }
    }
    expect(count).toBe(4 * (1 + 6 * 10));
  });

  it("gives a tick when all is done, and not before", () => {
    const ticks = [...records()].filter((standing) => labelsOf(standing, 3).check.state === "good");
    expect(new Set(ticks.map(({ run }) => run.state))).toEqual(new Set(["shown", "empty"]));
    expect(new Set(ticks.map(({ proof }) => proof.state))).toEqual(new Set(["agrees", "none", "asleep"]));
    expect(ticks.every(({ problems }) => problems.every(({ severity }) => severity === "note"))).toBe(true);
  });

  it("is told in words, not by color alone", () => {
    const standing: Standing = { number: 1, version: 3, whole: true, problems: [], run: { state: "shown", words: "" }, proof: { state: "running", words: "", share: 0.42 } };
    const { run, check, proof, problems } = labelsOf(standing, 3);
    expect([run, check, proof.words]).toEqual(["run is up to date", { words: "no errors so far", state: "checking" }, "… comparing 42 %"]);
    expect(problems).toContain("so far");
    const many: Standing = { ...standing, problems: [fault("error"), fault("warning"), fault("warning")] };
    expect(labelsOf(many, 3).check).toEqual({ words: "1 error, 2 warnings", state: "bad" });
    expect(labelsOf(many, 4).check.words).toBe("checking …");
    expect(countProblems([...FOUND[3]!, fault("note")])).toEqual({ errors: 1, warnings: 1 });
    const bad: Standing = { ...many, whole: false, run: { state: "stale", words: "no such part" }, proof: { state: "unfinished", words: "" } };
    expect(labelsOf(bad, 3, false)).toMatchObject({ run: "not whole yet", instead: { words: "No such part.", wrong: true } });
    expect(labelsOf(bad, 3).older).toEqual({ words: "last good run: the model has problems now", soon: false });
    expect(labelsOf(bad, 3).proof.words).toContain("not compared");
  });
});
