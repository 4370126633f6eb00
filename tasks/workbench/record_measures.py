"""`sluice.k_anonymity`, `individual_risk` and `suda`: what makes a single record stand out.

How large a crowd it stands in, the chance that somebody who looks it up in the population names the right person, and
the few columns that suffice to single it out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.sentence import listed, percent, word
from sluice.ground.variables import Role, with_role
from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import category_codes, classes_of
from sluice.risk.classes.k_anonymity import k_anonymity as smallest_frequency
from sluice.risk.classes.k_anonymity import records_below
from sluice.risk.classes.sample_uniques import sample_uniques
from sluice.risk.classes.suda import minimal_sample_uniques
from sluice.risk.classes.suda import suda as suda_scores
from sluice.risk.people_of_records import people_of
from sluice.risk.population.household_risk import household_risk
from sluice.risk.population.individual_risk import estimated_population, expected_share
from sluice.risk.population.individual_risk import individual_risk as risk_of_classes
from tasks.workbench.arguments import one_of, share, whole_number
from tasks.workbench.records import Columns, ContractGiven, HoldsRecords, read_records
from tasks.workbench.result import COLOURS, Figure, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # of the groups of class sizes that are drawn


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KAnonymity(Result):
    """How many records share each combination of quasi-identifiers.

    per_record : column frequency, the records that share the record's combination, itself included; the frame's index
    """

    k: Annotated[int, Figure("records", "fewest that share one combination (k-anonymity)")]
    threshold: Annotated[int, Figure("records", "fewest that should")]
    records_below: Annotated[int, Figure("records", "share theirs with fewer than that")]
    sample_uniques: Annotated[int, Figure("records", "are alone with theirs (sample uniques)")]
    combinations: Annotated[int, Figure("combinations", "that occur")]
    records: Annotated[int, Figure("records", "looked at")]
    quasi_identifiers: tuple[str, ...]
    unit: str
    per_record: pd.DataFrame

    @property
    def says(self) -> str:
        return (
            f"{self.records_below:,} of {self.records:,} {self.unit} share their combination of "
            f"{listed(self.quasi_identifiers)} with fewer than {self.threshold - 1:,} others, {self.sample_uniques:,} "
            f"of them with nobody; the file is k-anonymous up to k = {self.k:,}."
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Records by the size of their class; those below the threshold stand out."""
        ax, frequency = axes(ax), self.per_record["frequency"].to_numpy()
        edges = sorted({*_EDGES, self.threshold})
        edges = [edge for edge in edges if edge <= frequency.max()]
        counts = np.histogram(frequency, bins=[*edges, np.inf])[0]
        ends = [*(edge - 1 for edge in edges[1:]), None]
        labels = [
            f"{low:,}+" if high is None else f"{low:,}" if low == high else f"{low:,}–{high:,}"
            for low, high in zip(edges, ends, strict=True)
        ]
        colours = [COLOURS["fail"] if edge < self.threshold else COLOURS["masked"] for edge in edges]
        ax.bar(labels, counts, color=colours)
        ax.set_xlabel("records that share a combination")
        ax.set_ylabel(self.unit, parse_math=False)
        return ax


def k_anonymity(
    frame: pd.DataFrame | HoldsRecords,
    quasi_identifiers: Iterable[str] | None = None,
    *,
    contract: ContractGiven | None = None,
    k: int = 5,
    missing_matches: Literal["category", "any"] = "category",
) -> KAnonymity:
    """In how large a crowd each record stands, by its combination of quasi-identifiers.

    frame             : records, or what `sluice.mask` returned
    quasi_identifiers : columns by which somebody can be recognised; or a contract that says which they are
    k                 : fewest records that should share a combination, at least 2
    missing_matches   : a missing value is a category of its own; any: it may stand for any value, and so hides its own
                        record, but no other
    With a contract that names the person of each record, people are counted.
    raises            : TypeError, DataError, DocumentError
    source            : Sweeney (2002)
    """
    threshold = whole_number(k, "k", 2)
    one_of(missing_matches, "missing_matches", ("category", "any"))
    records = read_records(frame, "frame", Columns(contract, quasi_identifiers))
    keys = records.keys
    people = people_of(records.frame, records.variables)
    classes = classes_of(records.frame, keys, people)
    frequency = classes.frequencies if missing_matches == "category" else matching_records(records.frame, keys, people)
    return KAnonymity(
        k=smallest_frequency(frequency),
        threshold=threshold,
        records_below=records_below(frequency, threshold),
        sample_uniques=sample_uniques(frequency),
        combinations=len(classes.sizes),
        records=len(records),
        quasi_identifiers=tuple(keys),
        unit=records.unit,
        per_record=pd.DataFrame({"frequency": frequency}, index=records.index),
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class IndividualRisk(Result):
    """Risk by record, estimated from sampling weights.

    per_record : columns frequency (records of the class), population (people of the population in it, estimated), risk
                 (chance, 0 to 1) and, with a household, household_risk; the frame's index
    """

    expected: Annotated[float, Figure("records", "expected to be named rightly")]
    expected_share: Annotated[float, Figure("share, 0 to 1", "expected to be named rightly")]
    highest: Annotated[float, Figure("chance, 0 to 1", "of the record most at risk")]
    expected_by_household: Annotated[float | None, Figure("records", "expected in households of which one is named")]
    population: Annotated[float, Figure("people", "in the population, by the weights")]
    records: Annotated[int, Figure("records", "looked at")]
    quasi_identifiers: tuple[str, ...]
    unit: str
    per_record: pd.DataFrame

    @property
    def says(self) -> str:
        return (
            f"{self.expected:,.4g} of {self.records:,} {self.unit} are expected to be named rightly by somebody who "
            f"knows their {listed(self.quasi_identifiers)} and looks them up in the population; the one most at risk "
            f"with a chance of {percent(self.highest)}."
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The risks of all records in falling order."""
        ax, risks = axes(ax), np.sort(self.per_record["risk"].to_numpy())[::-1]
        ax.step(100 * np.arange(1, len(risks) + 1) / len(risks), 100 * risks, where="pre", color=COLOURS["masked"])
        ax.set_yscale("log")
        ax.set_xlabel(f"% of the {self.unit}, those most at risk first", parse_math=False)
        ax.set_ylabel("individual risk, %")
        return ax


def individual_risk(
    frame: pd.DataFrame | HoldsRecords,
    quasi_identifiers: Iterable[str] | None = None,
    *,
    weight: str | None = None,
    household: str | None = None,
    contract: ContractGiven | None = None,
    formula: Literal["exact", "approximate"] = "exact",
) -> IndividualRisk:
    """The chance of each record to be named rightly by somebody who looks it up in the population.

    frame             : records, or what `sluice.mask` returned
    quasi_identifiers : columns by which somebody can be recognised
    weight            : column of the sampling weights, the people of the population that a record stands for
    household         : column of the households' names or numbers; who finds one member finds all
    contract          : says which columns these are, in place of the three
    formula           : approximate is that of sdcMicro, a few percent higher at most
    raises            : TypeError, DataError, DocumentError
    source            : Franconi and Polettini (2004); see `sluice.risk.population.individual_risk`, which also says
                        where the estimate is too low
    """
    one_of(formula, "formula", ("exact", "approximate"))
    records = read_records(frame, "frame", Columns(contract, quasi_identifiers, weight=weight, household=household))
    keys, weights = records.keys, with_role(records.variables, Role.WEIGHT)
    if not weights:
        raise DataError("weight must name the column of the sampling weights; without them no population is known.")
    classes = classes_of(records.frame, keys)
    people = estimated_population(classes, records.frame[weights[0]].to_numpy(np.float64, na_value=np.nan))
    risks = risk_of_classes(classes.sizes, people, formula)[classes.labels]
    per_record = pd.DataFrame(
        {"frequency": classes.frequencies, "population": people[classes.labels], "risk": risks}, index=records.index
    )
    households = with_role(records.variables, Role.HOUSEHOLD)
    if households:
        per_record["household_risk"] = household_risk(risks, records.frame[households[0]])
    expected = expected_share(risks).value
    return IndividualRisk(
        expected=expected * len(records),
        expected_share=expected,
        highest=float(risks.max()),
        expected_by_household=float(per_record["household_risk"].sum()) if households else None,
        population=float(people.sum()),
        records=len(records),
        quasi_identifiers=tuple(keys),
        unit=records.unit,
        per_record=per_record,
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Suda(Result):
    """SUDA scores.

    per_record   : columns score (0: without a minimal sample unique) and, with a sampling fraction, dis: the chance of
                   a right match, 0 to 1; the frame's index
    per_key      : by quasi-identifier, the share of the file's score in which it has a part, 0 to 1
    minimal_sample_uniques : sets of quasi-identifiers that single somebody out while no part of them does: columns
                   keys (tuple of names) and records, the most records first
    """

    special_uniques: Annotated[int, Figure("records", "singled out by some minimal set of columns")]
    highest_score: Annotated[float, Figure("points", "SUDA score of the record that is riskiest")]
    total_score: Annotated[float, Figure("points", "of all records together")]
    highest_dis: Annotated[float | None, Figure("chance, 0 to 1", "of a right match, for the record that is riskiest")]
    records: Annotated[int, Figure("records", "looked at")]
    size: Annotated[int, Figure("columns", "that an intruder knows at most")]
    unit: str
    per_record: pd.DataFrame
    per_key: pd.Series
    minimal_sample_uniques: pd.DataFrame

    @property
    def says(self) -> str:
        says = f"{self.special_uniques:,} of {self.records:,} {self.unit} are singled out by up to {self.size} columns"
        if not self.special_uniques:
            return f"{says}."
        most = word(str(self.per_key.idxmax()))
        return f"{says}, most of all by {most}, which has a part in {percent(self.per_key.max())} of the score."

    @property
    def table(self) -> pd.DataFrame:
        shares = self.per_key.sort_values(ascending=False)
        return pd.DataFrame({"column": shares.index, "share of the score": shares.to_numpy()})

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """What part each quasi-identifier has in the score."""
        ax, shares = axes(ax), self.per_key.sort_values()
        ax.barh(range(len(shares)), 100 * shares.to_numpy(), color=COLOURS["masked"])
        ax.set_yticks(range(len(shares)), [str(name) for name in shares.index], parse_math=False)
        ax.set_xlabel("% of the SUDA score in which the column has a part")
        return ax


def suda(
    frame: pd.DataFrame | HoldsRecords,
    quasi_identifiers: Iterable[str] | None = None,
    *,
    contract: ContractGiven | None = None,
    size: int | None = None,
    sampling_fraction: float | None = None,
) -> Suda:
    """The records that few columns suffice to single out.

    frame             : records, or what `sluice.mask` returned
    quasi_identifiers : columns by which somebody can be recognised; or a contract that says which they are
    size              : most columns that an intruder knows; all when not given
    sampling_fraction : records per person of the population, above 0 to 1; needed for the chance of a right match (DIS)
    raises            : TypeError, DataError, DocumentError
    source            : Elliot et al. (2005); Manning, Haglin and Keane (2008); see `sluice.risk.classes.suda`
    cost              : 100,000 different records take a tenth of a second with 7 columns, minutes with 16
    """
    fraction = None if sampling_fraction is None else share(sampling_fraction, "sampling_fraction")
    most = None if size is None else whole_number(size, "size", 1)
    records = read_records(frame, "frame", Columns(contract, quasi_identifiers))
    keys = records.keys
    if most is not None and most > len(keys):
        raise DataError(f"size must be at most {len(keys)}, the number of quasi-identifiers; got {most}.")
    codes = [category_codes(records.frame[name]) for name in keys]
    found = suda_scores(codes, most)
    per_record = pd.DataFrame({"score": found.score}, index=records.index)
    if fraction is not None:
        per_record["dis"] = found.dis(fraction)
    sets = [(tuple(keys[at] for at in subset), len(rows)) for subset, rows in minimal_sample_uniques(codes, most)]
    return Suda(
        special_uniques=int((found.score > 0).sum()),
        highest_score=float(found.score.max()),
        total_score=float(found.score.sum()),
        highest_dis=None if fraction is None else float(per_record["dis"].max()),
        records=len(records),
        size=most or len(keys),
        unit=records.unit,
        per_record=per_record,
        per_key=pd.Series(found.key_shares, index=keys, name="share"),
        minimal_sample_uniques=pd.DataFrame(sets, columns=["keys", "records"]).sort_values(
            "records", ascending=False, ignore_index=True, kind="stable"
        ),
    )
