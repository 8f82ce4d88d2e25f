// How the model stands: the server's one record of one version of the text (src/kinode/studio/editor/checked_model.py), and the
// words of every label that tells a state. What is not known of the newest text yet is never told as if it were.

import type { Problem, ProofStanding, Standing } from "../messages";

export type VerifyState = ProofStanding["state"];

export const UNKNOWN: Standing = { number: -1, version: -1, whole: false, problems: [], run: { state: "running", words: "" }, proof: { state: "waiting", words: "" } };

export type LabelState = "checking" | "good" | "warn" | "bad";

export interface StandingLabels {
  /** What the text is: not read yet, with faults, or whole. */
  text: "checking" | "faulty" | "whole";
  /** In the header: of the run, of the problems, of the comparison of derivations. */
  run: string;
  check: { words: string; state: LabelState };
  proof: { words: string; state: VerifyState };
  /** In the place of an empty list of problems. */
  problems: string;
  /** There is nothing that could run. */
  noRun: boolean;
  /** In the place of a run. */
  instead: { words: string; wrong: boolean };
  /** Over a run that is not one of this text; empty where it is. What is soon over is not said at once. */
  older: { words: string; soon: boolean };
  /** Beside what was made of an earlier text; empty where the text is whole. */
  aside: string;
}

const RUN_WORDS: Record<Standing["run"]["state"], string> = { running: "compiles and runs …", shown: "run is up to date", failed: "does not run", stale: "last good run", empty: "nothing to run yet" };
const OLDER: Record<Standing["run"]["state"], string> = {
  running: "run of the text before: the new one is on its way", shown: "", failed: "last good run: the model does not run now", stale: "last good run: the model has problems now", empty: "",
};
const SIGNS: Record<VerifyState, string> = { waiting: "…", running: "…", agrees: "✓", differs: "✕", none: "–", unfinished: "–", asleep: "?" };
const PROOF_WORDS: Record<VerifyState, string> = {
  waiting: "not compared yet", running: "comparing", agrees: "derivations agree", differs: "derivations differ", none: "nothing to compare", unfinished: "not compared: has problems",
  asleep: "not compared",
};

/** The words of all labels; `version` is that of the newest text, `ran` whether there is a run to be shown. */
export function labelsOf(standing: Standing, version: number, ran = true): StandingLabels {
  const text = standing.version < version ? "checking" : standing.whole ? "whole" : "faulty";
  const known = text !== "checking";
  const { run, proof } = standing;
  return {
    text,
    run: !known ? "the text is being checked …" : run.state === "stale" && !ran ? "not whole yet" : RUN_WORDS[run.state],
    check: checkLabel(standing, known),
    proof: known ? { words: `${SIGNS[proof.state]} ${PROOF_WORDS[proof.state]}${shareWords(proof)}`, state: proof.state } : { words: `${SIGNS.waiting} ${PROOF_WORDS.waiting}`, state: "waiting" },
    problems: known ? emptyWords(standing) : "The text is being checked.",
    instead: { words: known ? sentence(run.words) : "", wrong: known && (run.state === "stale" || run.state === "failed") },
    noRun: known && run.state === "empty",
    older: { words: OLDER[known ? run.state : "running"], soon: !known || run.state === "running" },
    aside: text === "checking" ? "The text is being checked." : text === "faulty" ? "The model has problems now." : "",
  };
}

export function countProblems(problems: readonly Problem[]): { errors: number; warnings: number } {
  return { errors: problems.filter((each) => each.severity === "error").length, warnings: problems.filter((each) => each.severity === "warning").length };
}

function sentence(words: string): string {
  return words === "" ? "" : `${words[0]!.toUpperCase()}${words.slice(1)}${words.endsWith(".") ? "" : "."}`;
}

function shareWords({ state, share = 0 }: Standing["proof"]): string {
  return state === "running" && share > 0 ? ` ${Math.round(100 * share)} %` : "";
}

/** Whether something is still being found out that may be against the model. */
function isOpen({ run, proof }: Standing): boolean {
  return run.state === "running" || proof.state === "waiting" || proof.state === "running";
}

/** A tick only where nothing is under way and nothing speaks against it. */
function checkLabel(standing: Standing, known: boolean): StandingLabels["check"] {
  if (!known) return { words: "checking …", state: "checking" };
  const { errors, warnings } = countProblems(standing.problems);
  const count = (n: number, word: string): string[] => (n === 0 ? [] : [`${n} ${word}${n === 1 ? "" : "s"}`]);
  const found = [...count(errors, "error"), ...count(warnings, "warning")].join(", ");
  if (found !== "") return { words: found, state: errors > 0 ? "bad" : "warn" };
  if (standing.proof.state === "differs") return { words: "no errors in the text", state: "warn" };
  return isOpen(standing) ? { words: "no errors so far", state: "checking" } : { words: "✓ no errors", state: "good" };
}

function emptyWords(standing: Standing): string {
  const { run, proof } = standing;
  if (proof.state === "differs") return "No problems in the text, but derivations differ: see Verify.";
  if (run.state === "running") return "No problems so far: the text is whole, and the model is compiled and run.";
  if (isOpen(standing)) return "No problems so far: the model is whole and runs, and derivations are compared.";
  return run.state === "empty" ? "No problems: there is nothing to run yet." : "No problems: the model is whole.";
}
