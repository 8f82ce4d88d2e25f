// The list of problems: each leads to its part and line; the cures that kinode knows are buttons.

import type { Problem } from "../../messages";
import { make } from "../../ui/elements";
import type { StandingLabels } from "../standing";
import type { StudioContext, StudioPart } from "../studio_types";

const SIGNS = { error: "✕", warning: "!", note: "i" } as const;

export class ProblemsPanel implements StudioPart {
  readonly element = make("div", { class: "problems" });
  private readonly context: StudioContext;
  private shown = "";
  private readonly goTo: (problem: Problem) => void;

  constructor(context: StudioContext, goTo: (problem: Problem) => void) {
    this.context = context;
    this.goTo = goTo;
    this.standingChanged(context.document.labels);
  }

  standingChanged(labels: StandingLabels): void {
    const { problems } = this.context.document;
    const key = problems.length === 0 ? labels.problems : JSON.stringify(problems);
    if (key === this.shown) return;
    this.shown = key;
    const focus = this.element.contains(document.activeElement);
    if (problems.length === 0) this.element.replaceChildren(make("p", { class: "muted", tabindex: "-1" }, labels.problems));
    else this.element.replaceChildren(make("ul", { class: "problem-list" }, ...problems.map((problem) => this.item(problem))));
    if (focus) this.element.querySelector<HTMLElement>("button, p")?.focus();
  }

  destroy(): void {}

  private item(problem: Problem): HTMLElement {
    const go = make("button", { type: "button", class: "problem-words" }, make("span", { class: `sign ${problem.severity}`, "aria-label": problem.severity }, SIGNS[problem.severity]),
      make("span", {}, make("strong", {}, placeWords(problem)), " ", problem.message));
    go.addEventListener("click", () => this.goTo(problem));
    const cures = problem.cures.map((cure) => {
      const button = make("button", { type: "button", class: "cure" }, cure.words);
      button.disabled = this.context.readOnly;
      button.addEventListener("click", () => void this.context.act(cure.gesture, []));
      return button;
    });
    return make("li", { "data-severity": problem.severity }, go, ...(cures.length === 0 ? [] : [make("div", { class: "cures" }, ...cures)]));
  }
}

/** "line 12, motor.shaft" */
export function placeWords({ line, component, field, port }: Pick<Problem, "line" | "component" | "field" | "port">): string {
  const part = [component, field ?? port].filter((each) => each != null && each !== "").join(".");
  const words = [line === null ? "" : `line ${line}`, part].filter((each) => each !== "").join(", ");
  return words === "" ? "" : `${words}:`;
}
