"""Linkage: an intruder who knows how likely a method makes each released record of a known one.

The likeliest record is taken.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping", whose candidate sets are likelihoods
of one or nothing. Here any method states its likelihood; those of several columns, steps and methods that draw
independently of each other multiply, and by Bayes' rule (each released record as likely beforehand) the intruder also
knows how sure to be.

Where more than one linkage fits a masking, an intruder tries them on known people, and takes the strongest.

For values whose masking has no closed form, learned closeness is what true pairs show of how far they move. An intruder
who knows plan and parameters masks a file of his own and sees it; see `learned_variable` for the weights. Several steps
on one variable, variants without a bound and households masked as one are attacked so.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.ground.variables import Kind
from sluice.risk.attacks.attack_success import share_at_risk
from sluice.risk.linkage.learned_variable import compared_variables
from sluice.risk.transparency.attack import Attack, Leak, Pairs

_EXAMPLES = 5000  # true pairs to learn from

_TRIED = 200  # people on whom the linkages are compared

Likelihood = Callable[[IntArray], FloatArray]
"""From people, shape (q,), how likely the method makes each released record of each of them, shape (q, m): natural
logarithms up to a constant for each person; minus infinity where the method rules it out."""

_CELLS = 2_000_000  # likelihoods that a thread holds at a time
_EQUAL = 1e-6  # logarithms that differ by less are equal but for rounding


@dataclass(frozen=True)
class Linkage(Attack):
    """An attack that finds a known person's record."""

    knows_person: ClassVar[bool] = True
    kinds: ClassVar[tuple[Kind, ...]] = tuple(Kind)  # as released; of others the attack cannot be played

    @abstractmethod
    def likelihood(self, pairs: Pairs) -> Likelihood:
        """What is computed once for a file; the answer is asked for some of `pairs.rows` at a time."""

    def restricted(self, columns: tuple[str, ...]) -> Self:
        """The same attack on some of its variables."""
        return replace(self, columns=columns)

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        return links(self, pairs)


@dataclass(frozen=True)
class Together(Linkage):
    """Several linkages at once: what was masked independently is combined."""

    parts: tuple[Linkage, ...]

    @classmethod
    def of(cls, parts: Sequence[Linkage]) -> "Linkage":
        if len(parts) == 1:
            return parts[0]
        return cls(tuple(dict.fromkeys(name for part in parts for name in part.columns)), tuple(parts))

    @property
    def knows(self) -> str:
        return " and ".join(dict.fromkeys(part.knows for part in self.parts))

    def restricted(self, columns: tuple[str, ...]) -> "Together":
        own = [(part, tuple(name for name in part.columns if name in columns)) for part in self.parts]
        return Together(columns, tuple(part.restricted(names) for part, names in own if names))

    def likelihood(self, pairs: Pairs) -> Likelihood:
        each = [part.likelihood(pairs) for part in self.parts]

        def of(rows: IntArray) -> FloatArray:
            total = each[0](rows)
            for other in each[1:]:
                total += other(rows)
            return total

        return of


def links(attack: Linkage, pairs: Pairs) -> tuple[Leak, Leak]:
    """Share of the people whose record is found, and of those of whom the intruder is rightly sure.

    cost : O(q m) for q people and m records beside the likelihoods, in blocks
    """
    q, m = len(pairs.rows), len(pairs.masked)
    right, sure = np.zeros(q), np.zeros(q, dtype=np.bool_)
    likelihood = attack.likelihood(pairs)
    each = max(1, _CELLS // max(m, 1))

    def find(start: int) -> None:
        rows = pairs.rows[start : start + each]
        right[start : start + each], sure[start : start + each] = found(likelihood(rows), rows)

    starts = range(0, q, each)
    list(counted(each_in_threads(find, starts), "people who are looked for", len(starts)))
    surely_right = sure & (right > 0.5)
    claims = float(sure.mean()) if q else 0.0
    return (
        Leak("identified", share_at_risk(right, len(pairs.masked), baseline=1 / m if m else None), ""),
        Leak("confident", share_at_risk(surely_right.astype(np.float64), len(pairs.masked), baseline=0.0), "", claims),
    )


def found(logs: FloatArray, own: IntArray) -> tuple[FloatArray, BoolArray]:
    """Of each person the share of the likeliest records that is the own one, and whether the intruder is more than half
    sure, shapes (q,).

    logs : likelihoods as `Likelihood` gives them, (q, m); own : rows of the own records, (q,)
    """
    from sluice.risk.transparency.linkage_kernel import likeliest

    right, odds = np.empty(len(own)), np.empty(len(own))
    likeliest(logs, own, _EQUAL, right, odds)
    return right, odds < 2  # more than half of all chances


@dataclass(frozen=True)
class Strongest(Linkage):
    """Take the linkage that finds most of some people, others than those attacked where there are any."""

    choices: tuple[Linkage, ...]

    @property
    def knows(self) -> str:
        return self.choices[0].knows

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]  # those that all choices compare
        return tuple(kind for kind in Kind if all(kind in choice.kinds for choice in self.choices))

    def restricted(self, columns: tuple[str, ...]) -> "Strongest":
        return Strongest(columns, tuple(choice.restricted(columns) for choice in self.choices))

    def likelihood(self, pairs: Pairs) -> Likelihood:
        others = np.setdiff1d(np.arange(len(pairs.masked)), pairs.rows)
        tried = np.sort(pairs.rng.permutation(others if len(others) >= _TRIED else pairs.rows)[:_TRIED])
        asked = replace(pairs, rows=np.union1d(pairs.rows, tried))
        each = [choice.likelihood(asked) for choice in self.choices]
        right = [sum(float(found(of(row), row)[0].sum()) for row in tried[:, None]) for of in each]
        return each[int(np.argmax(right))]


@dataclass(frozen=True)
class LearnedCloseness(Linkage):
    """Compare values by the distances that masking leaves between true pairs, learned on other people's."""

    @property
    def knows(self) -> str:
        return "how far such masking moves values"

    def likelihood(self, pairs: Pairs) -> Likelihood:
        variables = {name: pairs.variables[name] for name in self.columns}
        compared = compared_variables(pairs.original, pairs.recoded, pairs.masked, variables, pairs.released)
        everyone = pairs.rng.permutation(len(pairs.masked))
        # Each half of the people is attacked with what the other half shows.
        halves = [everyone[everyone % 2 == parity][:_EXAMPLES] for parity in (1, 0)]
        learned = [[variable.learn(half) for variable in compared] for half in halves]

        def of(rows: IntArray) -> FloatArray:
            from sluice.risk.transparency.linkage_kernel import add_levels

            logs = np.zeros((len(rows), len(pairs.masked)))
            for parity in (0, 1):
                at = np.flatnonzero(rows % 2 == parity)
                of_half = np.zeros((len(at), len(pairs.masked)))
                for variable in learned[parity]:
                    add_levels(variable.weights(rows[at]), variable.compared.released, of_half)
                logs[at] = of_half
            return logs

        return of
