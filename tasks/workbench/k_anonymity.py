"""`sluice.k_anonymity`: in how large a crowd each record stands."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pandas as pd

from sluice.ground.sentence import listed
from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.k_anonymity import k_anonymity as smallest_frequency
from sluice.risk.classes.k_anonymity import records_below
from sluice.risk.classes.sample_uniques import sample_uniques
from sluice.risk.people_of_records import people_of
from tasks.workbench.arguments import one_of, whole_number
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
