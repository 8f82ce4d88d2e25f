"""Numbers of bodies and joints, and the sets of them that sums run over.

Pair k carries link k; 0 is the world.  In a chain every link is carried by the one before, so that the sets are
ranges: ``alpha = 1 .. i``.  In a tree they are "alpha to i", the pairs on the way to link i, and "i behind k", the
links that pair k carries.  Formulas have the same terms in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from kinode.formulations.chain_kinematics import ChainLink
from kinode.symbolic.formulas.indices import Index, IndexCondition, IndexFunction, IndexSet

i, j, k = Index("i"), Index("j"), Index("k")
alpha, beta = Index("alpha"), Index("beta")
J = Index("J")  # a joint of several pairs


class ChainNumbers:
    """The links of a tree by number, from 1 on."""

    def __init__(self, links: Sequence[ChainLink]) -> None:
        self.links = links
        self.is_chain = all(len(link.path) == link.index + 1 for link in links)
        self.paths = {0: (), **{link.index + 1: tuple(at + 1 for at in link.path) for link in links}}
        self.moving = {link.index + 1 for link in links if link.freedom is not None}
        self.turning = {link.index + 1 for link in links if link.turns}
        self.sliding = {link.index + 1 for link in links if link.slides}

    @property
    def numbers(self) -> range:
        """All of them."""
        return range(1, len(self.links) + 1)

    def of_joint(self, name: str) -> list[int]:
        """The numbers of the pairs of a joint, in the order of the tree."""
        return [link.index + 1 for link in self.links if link.joint.name == name]

    @cached_property
    def joints_of_pairs(self) -> dict[str, list[int]]:
        """The joints of several pairs, by name."""
        series: dict[str, list[int]] = {}
        for link in self.links:
            series.setdefault(link.joint.name, []).append(link.index + 1)
        return {name: pairs for name, pairs in series.items() if len(pairs) > 1}

    # -- sets --------------------------------------------------------------------------------------
    def carrier(self, k: int) -> int:
        """The number of the link that carries a pair."""
        return self.paths[k][-2] if len(self.paths[k]) > 1 else 0

    @cached_property
    def behind_each(self) -> dict[int, list[int]]:
        """The links that each pair carries."""
        behind: dict[int, list[int]] = {number: [] for number in self.numbers}
        for number in self.numbers:
            for at in self.paths[number]:
                behind[at].append(number)
        return behind

    def moved_by(self, link: int) -> list[int]:
        """The pairs with a freedom on the way to a link."""
        return [at for at in self.paths[link] if at in self.moving]

    def turned_by(self, link: int) -> list[int]:
        """The hinges and screws on the way to a link."""
        return [at for at in self.paths[link] if at in self.turning]

    def turned_before(self, pair: int) -> list[int]:
        """The hinges and screws on the way to the carrier of a pair."""
        return [at for at in self.paths[pair][:-1] if at in self.turning]

    # -- as printed --------------------------------------------------------------------------------
    def parent(self, index: Index) -> IndexFunction:
        """The number of what carries."""
        return IndexFunction("{0}-1" if self.is_chain else "p({0})", (index,), self.carrier)

    def pairs_to(self, index: Index, link: Index) -> IndexSet:
        """The pairs with a freedom on the way to a link."""
        return self._range(index, link, self.moved_by)

    def hinges_to(self, index: Index, link: Index) -> IndexSet:
        """The hinges on the way to a link."""
        return self._range(index, link, self.turned_by)

    def links_to(self, index: Index, link: Index) -> IndexSet:
        """All links on the way to a link, with it."""
        return self._range(index, link, lambda number: self.paths[number])

    def _range(self, index: Index, link: Index, members: object) -> IndexSet:
        pattern, upper = ("{0} = 1", "{1}") if self.is_chain else ("{0} to {1}", "")
        return IndexSet(index, pattern, (link,), members, upper)  # type: ignore[arg-type]

    def hinges_before(self, index: Index, pair: Index) -> IndexSet:
        """The hinges that turn the segment to a pair."""
        return IndexSet(index, "{0} < {1}" if self.is_chain else "{0} to {1}, {0} < {1}", (pair,), self.turned_before)

    def lower_hinges(self, index: Index, other: Index) -> IndexSet:
        """The hinges on the way to a hinge, without it."""
        return IndexSet(index, "{0} < {1}" if self.is_chain else "{0} to {1}, {0} < {1}", (other,), self.turned_before)

    def between(self, index: Index, after: Index, link: Index) -> IndexSet:
        """The links on the way from a link, without it, to one behind it."""
        pattern = "{1} < {0} <= {2}" if self.is_chain else "{0} to {2}, {0} > {1}"
        return IndexSet(index, pattern, (after, link), lambda a, b: [at for at in self.paths[b] if at > a])

    def links_behind(self, index: Index, pair: Index) -> IndexSet:
        """The links that a pair carries."""
        pattern, upper = ("{0} = {1}", str(len(self.links))) if self.is_chain else ("{0} behind {1}", "")
        return IndexSet(index, pattern, (pair,), lambda number: self.behind_each[number], upper)

    def pairs_of(self, index: Index, joint: Index) -> IndexSet:
        """The pairs with a freedom of a joint."""
        return IndexSet(
            index, "{0} of {1}", (joint,), lambda name: [at for at in self.joints_of_pairs[name] if at in self.moving]
        )

    def last(self, joint: Index) -> IndexFunction:
        """The number of the body that a joint of several pairs carries."""
        return IndexFunction("l({0})", (joint,), lambda name: self.joints_of_pairs[name][-1])

    # -- conditions --------------------------------------------------------------------------------
    def on_way(self, pair: Index, link: Index) -> IndexCondition:
        """A pair on the way to a link."""
        pattern = "{0} <= {1}" if self.is_chain else "{0} to {1}"
        return IndexCondition(pattern, (pair, link), lambda a, b: a in self.paths[b])

    def in_order(self, first: Index, second: Index, link: Index, *, same: bool) -> IndexCondition:
        """Two pairs on the way to a link, one not after the other."""
        sign = "<=" if same else "<"
        pattern = f"{{0}} {sign} {{1}} <= {{2}}" if self.is_chain else f"{{0}} {sign} {{1}}, both to {{2}}"
        return IndexCondition(pattern, (first, second, link), lambda a, b, c: {a, b} <= set(self.paths[c]) and (a <= b))

    def base(self, index: Index) -> IndexCondition:
        """The world."""
        return IndexCondition("{0} = 0", (index,), lambda number: number == 0)

    def turns(self, pair: Index) -> IndexCondition:
        """A hinge or screw."""
        return IndexCondition("{0} turns", (pair,), lambda number: number in self.turning)

    def only_slides(self, pair: Index) -> IndexCondition:
        """A slide."""
        return IndexCondition(
            "{0} slides", (pair,), lambda number: number in self.sliding and number not in self.turning
        )

    # -- domains: for which values of its indices a symbol is listed ---------------------------------
    def singles(self) -> Iterator[tuple[int, ...]]:
        """Every link."""
        return ((number,) for number in self.numbers)

    def freedoms(self) -> Iterator[tuple[int, ...]]:
        """Every pair with a freedom."""
        return ((number,) for number in sorted(self.moving))

    def of_pairs(self) -> Iterator[tuple[str]]:
        """Every joint of several pairs."""
        return ((name,) for name in self.joints_of_pairs)

    def pairs_in_series(self) -> Iterator[tuple[int, ...]]:
        """Every pair with a freedom of a joint of several."""
        return ((at,) for pairs in self.joints_of_pairs.values() for at in pairs if at in self.moving)

    def carried(self) -> Iterator[tuple[int, ...]]:
        """Every pair with the one that carries it: (p(k), k)."""
        return ((self.carrier(number), number) for number in self.numbers)

    def moves(self) -> Iterator[tuple[int, ...]]:
        """Pair and link, of those that the pair moves."""
        return ((a, number) for number in self.numbers for a in self.moved_by(number))

    def products(self) -> Iterator[tuple[int, ...]]:
        """Two pairs and a link that both move."""
        for number in self.numbers:
            moving = self.moved_by(number)
            yield from ((a, b, number) for a in moving for b in moving)

    def reaches(self) -> Iterator[tuple[int, ...]]:
        """Link and pair, of those that the pair carries."""
        return ((number, at) for at in self.numbers for number in self.behind_each[at])

    def turned(self) -> Iterator[tuple[int, ...]]:
        """Hinge and link, of those that the hinge turns."""
        return ((a, number) for number in self.numbers for a in self.turned_by(number))

    def turned_pairs(self) -> Iterator[tuple[int, ...]]:
        """Two hinges in order and a link that both turn."""
        for number in self.numbers:
            turning = self.turned_by(number)
            yield from ((a, b, number) for a in turning for b in turning if a < b)

    def turned_segments(self) -> Iterator[tuple[int, ...]]:
        """Hinge and pair, of those whose segment the hinge turns."""
        return ((a, number) for number in self.numbers for a in self.turned_before(number))

    def segment_pairs(self) -> Iterator[tuple[int, ...]]:
        """Two hinges in order and a pair whose segment both turn."""
        for number in self.numbers:
            turning = self.turned_before(number)
            yield from ((a, b, number) for a in turning for b in turning if a < b)
