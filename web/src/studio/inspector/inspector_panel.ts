// The inspector: the fields and ports of what is chosen; the model's own settings where nothing is.

import type { GestureAnswer, Inspected, InspectedField } from "../../messages";
import { errorWords, type LiveDesk } from "../../live/live_desk";
import { make } from "../../ui/elements";
import type { DocumentNews } from "../document";
import { ShapeForm } from "../stage/shape_form";
import type { StudioContext, StudioPart } from "../studio_types";
import { FieldRow } from "./field_row";
import { PortRows } from "./port_rows";
import { TableForm } from "./table_form";

export class InspectorPanel implements StudioPart {
  readonly element = make("div", { class: "inspector" });
  private readonly context: StudioContext;
  private rows: FieldRow[] = [];
  private shown = ""; // the component, "" for the model
  private desk: LiveDesk | null = null;
  private asked = 0;
  private moreOpen = new Set<string>();
  private tablesOpen = new Set<string>();
  private cell: { table: string; at: string } | null = null; // of a table, where the person types: the panel is drawn anew after each change
  private parameterForm: HTMLElement | null = null; // one for all: what is typed in it stays when the panel is drawn anew
  private readonly end: () => void;

  constructor(context: StudioContext) {
    this.context = context;
    this.end = context.document.listen((news) => this.hear(news));
    document.addEventListener("focusin", this.noteCell);
    void this.show();
  }

  private readonly noteCell = (event: FocusEvent): void => {
    const target = event.target as HTMLElement;
    const table = target.closest?.<HTMLElement>("[data-table]")?.dataset["table"];
    const at = target.dataset?.["cell"];
    this.cell = table === undefined || at === undefined ? null : { table, at };
  };

  selectionChanged(): void {
    void this.show();
  }

  problemsChanged(): void {
    this.markProblems();
  }

  /** The run that numbers can be moved in. */
  setDesk(desk: LiveDesk | null): void {
    this.desk = desk;
    for (const row of this.rows) row.setDesk(desk);
  }

  /** Brings a field into view. */
  focusField(field: string): void {
    this.focusRow(this.rows.find((each) => each.field.path.join(".") === field || each.field.name === field));
  }

  private focusRow(row: FieldRow | undefined): void {
    row?.element.closest("details")?.setAttribute("open", "");
    row?.focus();
  }

  destroy(): void {
    this.end();
    document.removeEventListener("focusin", this.noteCell);
    for (const row of this.rows) row.destroy();
  }

  private hear(news: DocumentNews): void {
    if (news.kind === "opened" || news.kind === "text" || news.kind === "box") void this.show();
  }

  /** The one component that is chosen; parts that belong to another show that one. */
  private get target(): string {
    const { selection, document } = this.context;
    const name = selection[0] ?? "";
    return document.sketch.boxes.find((box) => box.name === name)?.owner || name;
  }

  private async show(): Promise<void> {
    const mine = ++this.asked;
    if (this.context.selection.length > 1) return this.draw([this.several()], []);
    const name = this.target;
    try {
      const inspected = await this.context.document.inspect(name);
      if (mine !== this.asked) return;
      const parameters: Inspected[] = [];
      for (const parameter of inspected.parameters ?? []) {
        parameters.push(await this.context.document.inspect(parameter));
        if (mine !== this.asked) return;
      }
      if (name === this.shown && this.rows.some((row) => row.hasFocus && row.isChanged)) return; // it is being typed into
      this.shown = name;
      this.drawInspected(inspected, parameters);
    } catch (error) {
      if (mine !== this.asked) return;
      this.shown = name;
      this.draw([make("h2", {}, name === "" ? "Model" : name), make("p", { class: "muted" }, errorWords(error)), ...(name === "" ? [] : [this.actions([name])])], []);
    }
  }

  private drawInspected(inspected: Inspected, parameters: Inspected[]): void {
    const focused = this.rows.find((row) => row.hasFocus)?.key; // other fields may come or go above it
    const typing = this.parameterForm?.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    const owner = inspected.name;
    const isPort = (field: InspectedField): boolean => field.shape === "port" && inspected.ports.some((port) => port.field?.join() === field.path.join());
    const own = inspected.fields.filter((field) => !isPort(field)).map((field) => new FieldRow(this.context, owner, field));
    const values = parameters.flatMap(({ name, fields }) => fields.filter((field) => field.name === "value").map((field) => new FieldRow(this.context, name, field, name, name)));
    const rows = [...own, ...values];
    const isOfBox = ({ path }: InspectedField): boolean => inspected.section === "systems" && path.length > 1; // what a subsystem can be given
    const first = own.filter(({ field }) => field.given !== null || field.required || isOfBox(field));
    const more = own.filter((row) => !first.includes(row));
    const parts: HTMLElement[] = [this.head(inspected), make("p", { class: "words" }, inspected.words)];
    if (inspected.broken) parts.push(make("p", { class: "field-error" }, inspected.broken));
    const sections = groups(first);
    for (const [title, members] of sections) parts.push(...(title === "" ? [] : [make("h3", {}, title)]), ...members.map((row) => row.element));
    if (more.length > 0) parts.push(this.moreFields(inspected.kind, more));
    if (inspected.section === "bodies" && inspected.editable !== false && inspected.origin === undefined) parts.push(new ShapeForm(this.context, owner).element);
    parts.push(new PortRows(this.context, owner, inspected.ports ?? []).element);
    if (owner === "") parts.push(make("h3", {}, "Parameters"), ...values.map((row) => row.element), (this.parameterForm ??= this.newParameter()), ...this.tables(inspected.tables ?? []));
    else if (inspected.editable !== false && inspected.origin === undefined) parts.push(this.actions([owner], inspected.section === "systems"));
    this.draw(parts, rows);
    for (const row of rows) row.setDesk(this.desk);
    this.markProblems();
    this.focusRow(rows.find((row) => row.key === focused));
    typing?.focus();
  }

  private head(inspected: Inspected): HTMLElement {
    if (inspected.name === "") return make("h2", {}, "Model");
    const name = make("input", { type: "text", class: "part-name", "aria-label": `Name of ${inspected.name}; changes it everywhere`, spellcheck: "false", autocomplete: "off" });
    name.value = inspected.name;
    name.disabled = this.context.readOnly || inspected.editable === false;
    const rename = async (): Promise<void> => {
      const to = name.value.trim();
      if (to === "" || to === inspected.name) return void (name.value = inspected.name);
      const done = await this.context.act({ do: "rename", name: inspected.name, to });
      if (done === null) name.value = inspected.name;
      else this.context.select([to], "inspector");
    };
    name.addEventListener("change", () => void rename());
    name.addEventListener("keydown", (event) => event.key === "Escape" && (name.value = inspected.name));
    return make("div", { class: "part-head" }, make("h2", {}, name), make("span", { class: "part-kind" }, inspected.kind),
      ...(inspected.origin === undefined ? [] : [make("span", { class: "part-kind" }, `from ${inspected.origin}`)]));
  }

  private moreFields(kind: string, rows: FieldRow[]): HTMLElement {
    const details = make("details", { class: "more-fields" }, make("summary", {}, `${rows.length} more, at their defaults`), ...rows.map((row) => row.element));
    details.open = this.moreOpen.has(kind);
    details.addEventListener("toggle", () => (details.open ? this.moreOpen.add(kind) : this.moreOpen.delete(kind)));
    return details;
  }

  private newParameter(): HTMLElement {
    const name = make("input", { type: "text", placeholder: "name", "aria-label": "Name of a new parameter", spellcheck: "false" });
    const value = make("input", { type: "text", placeholder: "value, e.g. 0.35 m", "aria-label": "Value of a new parameter", spellcheck: "false" });
    const add = make("button", { type: "submit" }, "Add parameter");
    const form = make("form", { class: "new-parameter" }, name, value, add);
    for (const each of [name, value, add]) each.disabled = this.context.readOnly;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [called, given] = [name.value.trim(), value.value.trim()];
      if (called === "" || given === "") return this.context.say("A parameter has a name and a value.", "error");
      name.value = value.value = "";
      void this.context.act({ do: "set", name: "", path: ["parameters", called], value: given }).then((done) => {
        if (done === null && name.value + value.value === "") [name.value, value.value] = [called, given]; // refused: to be mended
      });
    });
    return form;
  }

  /** The lookup tables of the model, each a fold with its cells and its plot. */
  private tables(names: readonly string[]): HTMLElement[] {
    const forms = names.map((name) => new TableForm(this.context, name, this.tablesOpen.has(name), name === this.cell?.table ? this.cell.at : "", (open) => (open ? this.tablesOpen.add(name) : this.tablesOpen.delete(name))).element);
    const add = make("button", { type: "button" }, "Add table");
    add.disabled = this.context.readOnly;
    add.addEventListener("click", () => void this.context.act({ do: "add", kind: "table" }).then((done) => done?.made?.forEach((name) => this.tablesOpen.add(name))));
    return [make("h3", {}, "Tables"), ...forms, make("div", { class: "part-actions" }, add)];
  }

  private several(): HTMLElement {
    const { selection } = this.context;
    const list = make("ul", { class: "chosen-parts" }, ...selection.map((name) => {
      const one = make("button", { type: "button", class: "link" }, name);
      one.addEventListener("click", () => this.context.select([name], "inspector"));
      return make("li", {}, one);
    }));
    return make("div", {}, make("h2", {}, `${selection.length} parts`), list, this.actions(selection));
  }

  private actions(names: readonly string[], isBox = false): HTMLElement {
    const button = (words: string, act: () => void): HTMLButtonElement => {
      const made = make("button", { type: "button" }, words);
      made.disabled = this.context.readOnly;
      made.addEventListener("click", act);
      return made;
    };
    const chosen = (done: GestureAnswer | null): void => void (done?.made && this.context.select(done.made, "inspector"));
    const enclose = button("Make a subsystem", () => void this.context.act({ do: "enclose", names: [...names] }).then(chosen));
    const own = isBox ? [make("button", { type: "button" }, "Open"), button("Dissolve", () => void this.context.act({ do: "dissolve", name: names[0]! }).then(chosen))] : [];
    own[0]?.addEventListener("click", () => this.context.openBox(names[0]!));
    return make("div", { class: "part-actions" }, ...own, ...(names.length > 1 ? [enclose] : []), button("Duplicate", () => void this.context.act({ do: "duplicate", names: [...names] }).then((done) => done?.made && this.context.select(done.made, "inspector"))),
      button("Delete", () => void this.context.act({ do: "delete", names: [...names] }).then((done) => done !== null && this.context.select([], "inspector"))));
  }

  private markProblems(): void {
    const mine = this.context.document.shownProblems.filter((problem) => (problem.component ?? "") === this.shown);
    for (const row of this.rows) if (!row.isChanged) row.showProblems(mine);
  }

  private draw(parts: HTMLElement[], rows: FieldRow[]): void {
    for (const row of this.rows) row.destroy();
    this.rows = rows;
    this.element.replaceChildren(...parts);
  }
}

/** Fields of one branch together: run settings, parameters. */
function groups(rows: FieldRow[]): [string, FieldRow[]][] {
  const found = new Map<string, FieldRow[]>();
  for (const row of rows) {
    const title = groupOf(row.field);
    found.set(title, [...(found.get(title) ?? []), row]);
  }
  return [...found.entries()];
}

function groupOf({ path }: InspectedField): string {
  return path.length > 1 ? ({ run: "Run", parameters: "Parameters", bind: "What its inputs are given", connect: "Its other nodes" } as Record<string, string>)[path[0]!] ?? path.slice(0, -1).join(", ") : "";
}
