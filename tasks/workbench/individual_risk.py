"""`sluice.individual_risk`: the chance that somebody who looks a record up in the population names the right person."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.sentence import listed
from sluice.ground.variables import Role, with_role
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.population.household_risk import household_risk
from sluice.risk.population.individual_risk import estimated_population, expected_share
from sluice.risk.population.individual_risk import individual_risk as risk_of_classes
from tasks.workbench.arguments import one_of
from tasks.workbench.records import Columns, ContractGiven, HoldsRecords, read_records
from tasks.workbench.result import COLOURS, Figure, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
            f"with a chance of {100 * self.highest:.3g} %."
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
