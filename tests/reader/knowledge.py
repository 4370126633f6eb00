"""What each kind of reader knows of the suppressed cells beforehand, as bounds in whole units.

Everything follows from published files, the rules (which are published, too) and, for insiders, their own records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from tests.reader.published import Booleans, Cell, Integers, Published
from tests.reader.solve import UNBOUNDED, suppressed

Bounds = tuple[Integers, Integers]


@dataclass(frozen=True)
class Insider:
    """One or several contributors: what their parts of each cell add up to, and which cells they are alone in.

    uses_parts : of cells that others have a part in, too; False: they use only what they know of cells of theirs alone
    rules      : of magnitudes, where one contributor reads a file that tells which cells are secondary: these rules let
                 such a cell out, whatever the others have in it
    """

    parts: Mapping[Cell, int]
    alone: frozenset[Cell] = frozenset()
    uses_parts: bool = True
    rules: Sequence[Mapping[str, float]] = ()

    def bounds(self, published: Published) -> dict[int, tuple[int, int]]:
        """By suppressed cell: it is at least their part of it, or just that."""
        at, hidden = published.place, suppressed(published)
        return {
            at[cell]: (part, part)
            if cell in self.alone
            else (least_of_secondary(part, self.rules) if published.word[at[cell]] == "secondary" else part, UNBOUNDED)
            for cell, part in self.parts.items()
            if cell in at and hidden[at[cell]] and (self.uses_parts or cell in self.alone)
        }


def least_of_secondary(part: int, rules: Sequence[Mapping[str, float]]) -> int:
    """The least that a cell can be in which somebody has a part, and which no rule calls sensitive.

    By the p% rule what is left beside the two largest must be p percent of the largest: somebody else has one unit,
    and others, who have no more, the rest.
    """
    asked = [part]
    for rule in rules:
        if rule["rule"] == "p_percent" and part:
            asked.append(part + 1 + ceil(Fraction(str(rule["p"])) / 100 * part))
    return max(asked)


def anybody(published: Published, counts: bool) -> Bounds:
    """Nothing is negative; of counts, what is listed is not empty."""
    least = np.where(suppressed(published) & counts, 1, 0)
    return least.astype(np.int64), np.full(len(least), UNBOUNDED)


def who_knows_the_status(published: Published, primary: Booleans, largest: int, once: bool = True) -> Bounds:
    """Of counts: sensitive cells are at most `largest`, the other suppressed ones above it.

    primary : shape (c,), by the words of the file where these tell it, else as some insider knows
    once    : each record is a contributor of its own; else a sensitive cell may have many records of few
    """
    lower, upper = anybody(published, counts=True)
    hidden = suppressed(published)
    lower[hidden & ~primary] = largest + 1
    if once:
        upper[hidden & primary] = largest
    return lower, upper


def with_nothing_published(published: Published) -> Published:
    """The same table with all cells suppressed: what is known of it is known whatever the agency suppresses."""
    word = tuple("withheld" if word == "withheld" else "suppressed" for word in published.word)
    return replace(published, word=word, value=np.full(len(word), -1, dtype=np.int64))


def told_primary(published: Published) -> Booleans:
    """Which cells the file calls primary."""
    return np.array([word == "primary" for word in published.word])


def largest_sensitive_count(rules: list[dict[str, float]]) -> int:
    """The largest count of people that a policy's rules call sensitive, each person counting 1."""
    largest = 0
    for count in range(1, 100):
        for rule in rules:
            kind = rule["rule"]
            sensitive = (
                (kind == "minimum_frequency" and count < rule["n"])
                or (kind == "p_percent" and 100 * (count - min(count, 1 + rule.get("coalition", 1))) < rule["p"])
                or (kind == "dominance" and 100 * min(count, rule["n"]) > rule["k"] * count)
            )
            largest = count if sensitive else largest
    return largest
