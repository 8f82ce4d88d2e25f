// The panes beside inspector, text and problems: what follows from the model. One place that makes them and joins them in.

import type { StudioContext, StudioPart } from "../studio_types";
import { ExplainPanel } from "./explain_panel";
import { ExportPanel } from "./export_panel";
import { FormulasPanel } from "./formulas_panel";
import { PaneLink, type PaneSocket } from "./pane_link";
import { VerifyPanel } from "./verify_panel";
import styles from "./derivations.css?inline";
import { make } from "../../ui/elements";

export interface DerivationPanes {
  parts: Record<"Equations" | "Explain" | "Verify" | "Export", StudioPart>;
  badge: HTMLElement;
}

export function makeDerivationPanes(context: StudioContext, socket: PaneSocket): DerivationPanes {
  const link = new PaneLink(socket);
  context.root.append(make("style", {}, styles));
  const verify = new VerifyPanel(context, link, socket, () => context.show("Verify"));
  const formulas = new FormulasPanel(context, link);
  const explain = new ExplainPanel(context, link);
  const exports = new ExportPanel(context, link, () => formulas.shown, () => context.show("Equations"));
  return { parts: { Equations: formulas, Explain: explain, Verify: verify, Export: exports }, badge: verify.badge };
}
