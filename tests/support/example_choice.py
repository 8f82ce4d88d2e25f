"""The examples that a family of tests tries in every run: together they have all kinds and fields; at night all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from example_counts import is_fixed
from ruamel.yaml import YAML

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))


def examples_for(paths: Sequence[Path] = EXAMPLES, fields: bool = True) -> list[Path]:
    """Some of these examples, with every kind of component and every section of all; at night all of them.

    With every field of every section as well, unless a family does the same whatever the fields are.
    """
    return find_cover(paths, fields) if is_fixed() else list(paths)


def find_cover(paths: Sequence[Path], fields: bool = True) -> list[Path]:
    """Models that together have all that these have."""
    return cover({path: {x for x in find_features(path) if fields or "." not in x} for path in paths})


def cover(features: Mapping[Path, Collection[str]]) -> list[Path]:
    """A greedy cover: again and again the file with the most that is not there yet, of two alike the shorter one."""
    left, chosen = set().union(*features.values()), []
    while left:
        chosen.append(max(features, key=lambda path: (len(left.intersection(features[path])), -path.stat().st_size)))
        left.difference_update(features[chosen[-1]])
    return sorted(chosen)


@cache
def find_features(path: Path) -> frozenset[str]:
    """What the text of a model has: ``dc_motor``, ``tables``, ``joints.axis``, ``closed loop``."""
    return frozenset(_features(YAML(typ="safe").load(path.read_text(encoding="utf-8"))))


def _features(sections: Mapping[str, Any]) -> Iterator[str]:
    if len(sections.get("joints", ())) > len(sections.get("bodies", ())):
        yield "closed loop"
    for section, content in sections.items():
        yield section
        if section == "circuit":
            yield from _features(content)
        elif isinstance(content, dict) and section != "run":
            for part in content.values():
                if isinstance(part, dict):
                    yield from (str(value) if key == "kind" else f"{section}.{key}" for key, value in part.items())
