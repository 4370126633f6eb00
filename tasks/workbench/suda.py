"""`sluice.suda`: special uniques, the records that few columns suffice to single out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.sentence import word
from sluice.risk.classes.equivalence_classes import category_codes
from sluice.risk.classes.suda import minimal_sample_uniques
from sluice.risk.classes.suda import suda as suda_scores
from tasks.workbench.arguments import share, whole_number
from tasks.workbench.records import Columns, ContractGiven, HoldsRecords, read_records
from tasks.workbench.result import COLOURS, Figure, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        return f"{says}, most of all by {most}, which has a part in {self.per_key.max():.0%} of the score."

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
