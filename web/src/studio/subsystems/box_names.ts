// Names in a subsystem and in the whole: drive.motor is motor inside drive.


import type { GestureAnswer, Problem } from "../../messages";
/** What stands before the names of a subsystem in the whole system. */
export function prefixOf(box: readonly string[]): string {
  return box.map((name) => `${name}.`).join("");
}

/** A file that another one names, as it is named from the folder of both: "leg.yaml" in "library/robot.yaml" is "library/leg.yaml". */
export function fileBeside(file: string, from: string): string {
  const steps: string[] = [];
  for (const step of [...from.split("/").slice(0, -1), ...file.split("/")]) {
    if (step === ".." && steps.length > 0) steps.pop();
    else if (step !== "." && step !== "") steps.push(step);
  }
  return steps.join("/");
}

/** An answer with the names that components have inside a subsystem. */
export function namesInside(answer: GestureAnswer, prefix: string): GestureAnswer {
  if (prefix === "") return answer;
  const cut = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  return {
    ...answer,
    ...(answer.made === undefined ? {} : { made: answer.made.map(cut) }),
    ...(answer.removed === undefined ? {} : { removed: answer.removed.map(cut) }),
    ...(answer.renamed === undefined ? {} : { renamed: Object.fromEntries(Object.entries(answer.renamed).map(([old, to]) => [cut(old), cut(to)])) }),
  };
}

/** The longest beginning of a name that is known; the name itself where none is. */
export function headIn(name: string, known: ReadonlySet<string>): string {
  for (let head = name; head !== ""; head = head.slice(0, Math.max(0, head.lastIndexOf(".")))) if (known.has(head)) return head;
  return name;
}

/** The problems of what is shown, with the names that it has there; one inside a closed box is that box's. */
export function problemsInside(problems: readonly Problem[], box: readonly string[], shownName: (full: string) => string | null): Problem[] {
  return problems.flatMap((problem) => {
    if (problem.component === null) return box.length === 0 ? [problem] : [];
    const name = shownName(problem.component);
    if (name === null) return [];
    const own = prefixOf(box) + name === problem.component;
    return [own ? { ...problem, component: name } : { ...problem, component: name, field: null, port: null }];
  });
}
