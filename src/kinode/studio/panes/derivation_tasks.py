"""The tasks of the process that derives, each a function of an `Order`; what they answer is plain data.

==========  ===================================  =============================================================
task        fields                               answer
==========  ===================================  =============================================================
verify                                           state (agrees, differs, none), words, rows, seconds, failures
equations   formulation, shape, reactions,       heading, html, operations; latex, text, python, c as far as
            frame                                there are such
circuit     basis, mode, numbers                 heading, html, latex, text, json
explain                                          steps (title, html, parts), scheme
report      verify, explain                      html
script      kind                                 text, suffix: what `kn.export` writes
==========  ===================================  =============================================================

Formulas are HTML with MathML.  What is heavy is imported when it is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kinode.errors import ArgumentError, Error
from kinode.model.system import System

Plain = dict[str, Any]
DEFAULT_END = 10.0  # s, as elsewhere where a model does not say
LONGEST_CODE = 2_000_000  # characters of a form that a page is sent
MOST_VALUES = 400  # variables of a circuit whose numbers are shown


@dataclass(frozen=True)
class Order:
    """What a task is given: the system, its text, the fields of the request, and where to tell how far it is.

    What there is of an answer before all of it goes to ``give``.
    """

    system: System
    text: str
    fields: Mapping[str, Any]
    tell: Callable[[float, str], None]
    give: Callable[[Plain], None] = lambda part: None

    def choice(self, name: str, default: str = "") -> str:
        """A field that is a word."""
        value = self.fields.get(name) or default
        if not isinstance(value, str):
            raise ArgumentError(f"{name}: a word is expected, not {value!r:.40}")
        return value


def verify_model(order: Order) -> Plain:
    """Compare all derivations that apply."""
    from kinode.tasks.verify import verify

    began = time.perf_counter()
    try:
        found = verify(order.system, progress=lambda share: order.tell(share, "derivations are compared"))
    except Error as error:
        return {"state": "none", "words": str(error), "rows": [], "failures": [], "skipped": [], "seconds": 0.0}
    took = dict(found.seconds)
    return {
        "state": "agrees" if found.ok else "differs",
        "words": f"{found.name}{found.verdict}",
        "rows": [
            {
                "quantity": row.quantity, "one": row.one, "two": row.two, "difference": row.difference,
                "tolerance": row.tolerance, "where": row.where, "ok": row.ok, "seconds": took.get(row.two),
            }
            for row in found.rows
        ],
        "failures": found.failures,
        "skipped": [list(each) for each in found.skipped],
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def write_equations(order: Order) -> Plain:
    """The equations of motion in any formulation and shape."""
    from kinode.symbolic.equations_of_motion import equations

    formulation, shape = order.choice("formulation"), order.choice("shape", "auto")
    frame, reactions = order.choice("frame"), order.fields.get("reactions") or []
    if not isinstance(reactions, list) or not all(isinstance(x, str) for x in reactions):
        raise ArgumentError("reactions: a list of joints is expected")
    if formulation == "circuit" and not frame:
        return write_circuit(order)
    order.tell(0.1, "equations are derived")
    printed: Any = (
        equations(order.system, frame=frame) if frame
        else equations(order.system, formulation or None, shape, reactions)
    )  # fmt: skip
    order.tell(0.6, "formulas are written")
    operations = getattr(printed, "operations", None)
    return {
        "heading": getattr(printed, "heading", "") or order.system.name,
        "formulation": getattr(printed, "formulation", formulation) or "",
        "shape": getattr(printed, "shape", shape),
        "operations": operations if isinstance(operations, int) else None,
        "html": str(printed.mathml()),
        **_forms(printed, ("latex", "text", "python", "c")),
    }


def write_circuit(order: Order) -> Plain:
    """The equations of every component in link variables, and the numbers of all variables at the start."""
    from kinode.symbolic.circuit_listing.whole_circuit import circuit
    from kinode.symbolic.markup import tag
    from kinode.views.report.html_markup import table
    from kinode.views.style import number, pretty_unit

    order.tell(0.1, "the circuit is analyzed")
    listing = circuit(order.system, order.choice("basis", "body"), order.choice("mode", "dynamic"))
    html = str(listing.mathml())
    if order.fields.get("numbers") is not False and listing.mode == "dynamic":
        order.tell(0.6, "its values are computed")
        now = listing.evaluate()
        shown = list(listing.variables.items())[:MOST_VALUES]
        rows = [(name, ", ".join(number(float(x) + 0.0) for x in now[name]), pretty_unit(v.unit)) for name, v in shown]
        size, row = now.worst
        words = f"All equations hold to {size:.1e} ({row}); the powers of all branches sum to {now.tellegen:.1e} W."
        rest = len(listing.variables) - len(shown)
        words += f" {rest} more variables are not shown." if rest > 0 else ""
        html += tag("h3", "Values at the start") + tag("p", words) + table(("variable", "value", "unit"), rows)
    return {
        "heading": str(listing).partition("\n")[0], "formulation": "circuit", "shape": "vectors", "operations": None,
        "html": html, **_forms(listing, ("latex", "text")), "json": listing.to_json(),
    }  # fmt: skip


def _forms(printed: Any, names: tuple[str, ...]) -> Plain:
    """The forms that equations can be copied in; one that does not exist, or is too long to be sent, is left out."""
    forms: Plain = {}
    for name in names:
        try:
            text = getattr(printed, name)() if hasattr(printed, name) else ""
        except (Error, NotImplementedError, AttributeError):
            continue
        if text and len(text) <= LONGEST_CODE:
            forms[name] = text
    return forms


def explain_model(order: Order) -> Plain:
    """The derivation step by step, and the vector scheme."""
    from kinode.symbolic.explain import explain
    from kinode.views.report.derivation_section import compose_step, describe_scheme

    order.tell(0.1, "the steps are derived")
    explanation = explain(order.system)
    order.tell(0.6, "the scheme is drawn")
    names = set(order.system.components)
    steps = []
    for step in explanation.steps:
        words = [item.owner for item in step.items] + [cell for row in (step.table or ((), ()))[1] for cell in row]
        parts = [found for word in words if (found := _component(str(word), names))]
        html = str(compose_step(explanation, step))
        steps.append({"title": step.title, "words": step.words, "html": html, "parts": list(dict.fromkeys(parts))})
    try:
        scheme = str(describe_scheme(order.system)) if order.system.bodies else ""
    except Error:
        scheme = ""
    return {"t": explanation.t, "steps": steps, "scheme": scheme}


def _component(word: str, names: set[str]) -> str:
    """The component that a word names, ``elbow`` of ``elbow.q``; empty if none."""
    while word and word not in names:
        word = word.rpartition(".")[0]
    return word


def write_report(order: Order) -> Plain:
    """The report of a run of the model as it stands."""
    from kinode.tasks.simulate import simulate
    from kinode.views.report.html_report import compose

    def goes_on(share: float = 0.0, *_: object) -> bool:
        order.tell(0.5 * share, "the model is simulated")
        return True

    given = order.system.run_defaults
    until = None if "until" in given or "times" in given else given.get("t0", 0.0) + DEFAULT_END
    run = simulate(order.system, until, progress=goes_on)
    order.tell(0.5, "the report is written")
    checks, steps = order.fields.get("verify") is not False, order.fields.get("explain") is True
    return {"html": compose(run, verify=checks, explain=steps)}


def write_script(order: Order) -> Plain:
    """The model in another form."""
    from kinode.exporters.export import ExportOrder, find_export

    chosen = find_export(order.fields.get("kind") or "python")
    if not chosen.is_text:
        raise ArgumentError(f"export: {chosen.words}: kn.export and kinode export write it")
    return {"text": str(chosen.write(ExportOrder(order.system, order.text))), "suffix": chosen.suffix}


TASKS: dict[str, Callable[[Order], Plain]] = {
    "verify": verify_model,
    "equations": write_equations,
    "explain": explain_model,
    "report": write_report,
    "script": write_script,
}
