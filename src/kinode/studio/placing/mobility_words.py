"""Mobility in words, for a panel, the canvas and the 3D picture: freedoms, loops, and what is redundant by name."""

from __future__ import annotations

from collections.abc import Iterator

from kinode.studio.placing.locked_problems import find_cure
from kinode.studio.placing.still_model import StillModel
from kinode.studio.scene_data import Plain
from kinode.tasks.mobility import Mobility, component_words, mobility

FREE = 6


def explain_mobility(model: StillModel, whole: bool, text: str = "") -> Plain:
    """The freedoms of a model, and its redundant constraints, as plain data.

    Parameters
    ----------
    model : StillModel
    whole : bool
        Whether nothing is missing: then the system itself is counted, with all that ties its joints.
    text : str
        That of the model: where changes are written that free what is locked.

    Returns
    -------
    dict
        ``counts`` as rows of words and numbers, ``sentences``, ``badges`` by joint, ``cures`` with words and gesture,
        and ``text`` as ``kn.mobility`` prints it.

    Raises
    ------
    AssemblyError
        The loops cannot be closed.
    """
    found = mobility(model.given if whole else model.dynamics)
    floating = FREE * len(model.loose)
    badges: dict[str, str] = {}
    for group in found.redundancies:
        for name, parts in group.carried.items():
            joint = name.removesuffix(".effort") if name not in model.given.joints else name
            words = f"redundant: {component_words(parts)}"
            badges[joint] = f"{badges[joint]}; {words}" if joint in badges else words
    for joint in (name for loop in found.locked for name in loop.locked):
        badges[joint] = f"locked; {badges[joint]}" if joint in badges else "locked"
    return {
        "counts": list(_rows(found, floating)),
        "sentences": list(_sentences(found, model, floating)),
        "badges": badges,
        "loose": sorted(model.loose.values()),
        "cures": [
            {"words": cure.words, "gesture": cure.gesture}
            for loop in found.locked
            for change in loop.changes
            if text and (cure := find_cure(change, text)) is not None
        ],
        "text": str(found),
    }


def _rows(found: Mobility, floating: int) -> Iterator[list[str]]:
    yield ["bodies", str(found.bodies)]
    yield ["joints", str(found.joints - floating // FREE)]
    yield ["loops", str(found.loops)]
    yield ["degrees of freedom", str(found.freedoms - floating)]
    yield ["counted in space", str(found.spatial - floating)]
    if found.planar is not None:
        yield ["counted in the plane", str(found.planar)]
    yield ["redundant constraints", str(found.redundant)]
    if found.driven:
        yield ["driven freedoms", str(found.driven)]
    if found.tied:
        yield ["tied freedoms", str(found.tied)]


def _sentences(found: Mobility, model: StillModel, floating: int) -> Iterator[str]:
    for body in sorted(model.loose.values()):
        yield f"{body} is not joined to the world yet: its six freedoms are not counted."
    freedoms = found.freedoms - floating
    if not freedoms:
        yield "Nothing can move but what is driven." if found.driven else "Nothing can move."
    elif freedoms == 1:
        yield "One number says where all of it is."
    else:
        yield f"{freedoms} independent numbers say where all of it is."
    yield from (loop.words for loop in found.locked)
    if found.singular:
        here = found.freedoms_at_start - floating
        yield f"The start is a singular position: it has {here} freedoms, positions near it {freedoms}."
    for group in found.redundancies:
        carried = "; ".join(f"{name} ({component_words(parts)})" for name, parts in group.carried.items())
        count = "One constraint is" if group.count == 1 else f"{group.count} constraints are"
        yield f"{count} redundant: the motion is the same without, but the loads are not unique in {carried}."
    if found.redundancies:
        yield (
            "A joint with more freedoms in the loop (spherical or universal for revolute, cylindrical for prismatic) "
            "takes redundant constraints away; so does a compliance of the joints, for the loads."
        )
