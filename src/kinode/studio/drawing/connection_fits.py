"""Which ports of a sketch a port may be connected to, and why not to the others: what the gesture ``connect`` says."""

from __future__ import annotations

from kinode.errors import ArgumentError
from kinode.formats.editing.actions.connections import find_refusal
from kinode.formats.editing.model_draft import ModelDraft
from kinode.model.network.domains.domain import DOMAINS
from kinode.studio.drawing.kind_boxes import Plain

REFERENCES = ("world", "gnd")


def find_fits(draft: ModelDraft, sketch: Plain, component: str, port: str) -> dict[str, str]:
    """For each port as ``component:port``, and each reference as ``reference:name``, "" or why it does not fit.

    Parameters
    ----------
    draft : ModelDraft
        Of the text that the sketch shows.
    sketch : dict
        Of ``Sketcher.draw``.
    component, port : str
        The port that a line is drawn from.

    Raises
    ------
    ArgumentError
        If there is no such port.
    """
    origin = {"component": component, "port": port}
    ends = [{"component": box["name"], "port": each["name"]} for box in sketch["boxes"] for each in box["ports"]]
    if origin not in ends:
        known = any(box["name"] == component for box in sketch["boxes"])
        reason = f"{component} has no port {port!r:.60}" if known else f"nothing is called {component!r:.60}"
        raise ArgumentError(f"from: {reason}")
    names = dict.fromkeys([*REFERENCES, *(domain.reference for domain in DOMAINS.values())])
    fits = {f"{end['component']}:{end['port']}": find_refusal(draft, origin, end) for end in ends if end != origin}
    return fits | {f"reference:{name}": find_refusal(draft, origin, {"reference": name}) for name in names}
