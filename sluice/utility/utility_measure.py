"""Measure: how one figure of utility is declared, and the ladder by which what a file gives becomes what is told.

A measure stands beside its engine: its name, what a policy's limit on it means, its unit, what helps where it is beyond
its limit. From the declarations follow the fields of a policy's `utility`, the findings, the advice and the list in
docs/utility.md.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any, NamedTuple

from numpy.random import Generator

from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, Limit, Measured, ShareLimit, written_number, written_percent

_FEW_RECORDS = Sentence("utility.few_records", "{what} is not told: fewer than {minimum:,} records stand behind it")


class Figure(NamedTuple):
    """What was found of a file; NaN where it could not be computed, and then `says` says why."""

    value: float
    says: Saying  # without the stop at its end
    completed: int = 0
    scope: str = ""
    tells_of_few: bool = False


class Occasion(NamedTuple):
    """What a file gives a measure to look at, and what is said where that is nothing.

    of         : parts of the original that are compared, such as variables, pairs or subgroups; 0: there are none
    left       : of these what the file still has; 0: all is lost
    records    : that stand behind the figure; None: those of the smaller file
    few        : variables of which the figure would tell the values of a few people
    """

    of: int
    not_compared: Saying
    no_records: Saying
    left: int = 1
    lost: Saying = ()
    records: int | None = None
    few: Collection[str] = ()


@dataclass(frozen=True)
class Measure:
    """One figure of utility.

    name        : of its limit in a policy, and of its findings
    description : of the limit: what is measured, of what, in which unit
    what        : what is not told where it would tell of a few people
    advice      : what to do where it is beyond its limit
    limit       : how a policy writes it
    written     : a limit, in the unit of the finding
    all_lost    : the figure where nothing is left of what it compares
    where_asked : it takes long, and is measured where it has a limit
    where_any   : it is reported where the file has an occasion for it, or a limit was set
    largest     : the largest figure that it can have, of a file that has lost nothing whole; inf: there is none
    asks        : without a limit, anything above 0 needs a decision, and above this it fails
    """

    name: str
    description: str
    what: str
    advice: str
    limit: type[Limit] = Limit
    written: Callable[[float], str] = written_number
    all_lost: float = inf
    where_asked: bool = False
    where_any: bool = False
    largest: float = inf
    asks: float | None = None

    def judge(self, files: Comparison, occasion: Occasion, figure: Callable[[], Figure]) -> Measured:
        """The ladder: not compared, not known without records, lost, of few, or the figure, which may be not known."""
        return self.unmeasured(files, occasion) or self.measured(files, occasion, figure())

    def unmeasured(self, files: Comparison, occasion: Occasion) -> Measured | None:
        """The upper rungs of the ladder; None where there is something to measure."""
        if not occasion.of:
            return Measured(nan, occasion.not_compared, "", 0, 0, self.written, applicable=False)
        if not len(files.original) or not len(files.masked):
            return Measured(nan, occasion.no_records, "", occasion.of, 0, self.written)
        if not occasion.left:
            return Measured(self.all_lost, occasion.lost, "", occasion.of, 0, self.written)
        return None

    def measured(self, files: Comparison, occasion: Occasion, found: Figure) -> Measured:
        """The lower rungs."""
        measured = Measured(
            found.value,
            found.says,
            found.scope,
            occasion.of,
            found.completed,
            self.written,
            True,
            found.tells_of_few,
            self.asks,
        ).told(self.what, occasion.few)
        records = min(len(files.original), len(files.masked)) if occasion.records is None else occasion.records
        if not isfinite(found.value) or measured.tells_of_few or records >= files.minimum_cell:
            return measured
        hidden = _FEW_RECORDS(what=self.what, minimum=files.minimum_cell)
        return measured._replace(says=hidden, scope="", tells_of_few=True)


@dataclass(frozen=True)
class ShareMeasure(Measure):
    """One whose limit is a share, and whose figures are told in per cent."""

    limit: type[Limit] = ShareLimit
    written: Callable[[float], str] = written_percent
    largest: float = 1.0


@dataclass(frozen=True)
class Family:
    """Measures that are computed together; one without any measure is shown in the report alone.

    find   : what the measures, all of them and no others, are of a file
    weighs : whether its figures count records by their weights
    """

    find: Callable[[Comparison], Found]
    measures: Sequence[Measure] = ()
    weighs: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.measures)

    def __call__(self, files: Comparison) -> Found:
        found = self.find(files)
        if set(found.measured) != set(self.names):
            raise ValueError(f"{self.find.__name__} declares {self.names} and measures {tuple(found.measured)}")
        return found


@dataclass(frozen=True)
class AnalysisKind:
    """One kind of analysis that a policy or a definition asks for by name, with limits of its own.

    name   : of the list in `utility` and `analyses`, of its findings and of its part of the report
    advice : what to do where an analysis is beyond a limit
    judge  : the findings on one analysis, and what the report shows of it. It is given the files, generators of which
             a kind that draws takes the next, and who answers queries
    refuse : raises DataError for one that does not fit the variables of the data
    draws  : whether it draws at random
    """

    name: str
    advice: str
    judge: Callable[[Any, Comparison, Iterator[Generator], Callable[..., Any]], tuple[Sequence[Finding], Any]]
    refuse: Callable[[Any, Variables], object] = lambda analysis, variables: None
    draws: bool = False
