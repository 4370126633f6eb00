"""SensitiveRule: a rule on what the look-alikes of a record give away of its sensitive values."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from policies.rules.microdata_rule import Columns, MicrodataRule, refuse_missing_columns
from policies.rules.words import listed
from sluice.risk.classes import equivalence_classes, l_diversity
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.risk.resolution import on_grid, resolution
from sluice.variables import Role, Variable, Variables, with_role
from sluice.verdict import Finding

ROUNDING = 1e-9  # entropy and distances are sums of logarithms and quotients; a limit that is met exactly is met


class SensitiveRule(MicrodataRule):
    """A rule on each sensitive variable within the classes of the quasi-identifiers; one finding a variable."""

    needs: ClassVar[str] = (
        "Declare in the contract which variables are quasi-identifiers and which are sensitive, and see that the "
        "released file holds both."
    )

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")
    others_known: bool = Field(
        default=False, description="for each variable, the other sensitive ones count as quasi-identifiers"
    )

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        sensitive = with_role(variables, Role.SENSITIVE) if self.columns is None else list(self.columns)
        if not sensitive:
            return [self.unknown(stage, "No variable of the file is declared sensitive.", len(frame))]
        refuse_missing_columns(self.rule, sensitive, frame, variables)
        classes, findings = equivalence_classes.classes_of(frame, keys), []
        for name in sensitive:
            others = [other for other in sensitive if self.others_known and other != name]
            known = [*keys, *others]
            if others:
                codes = [equivalence_classes.category_codes(frame[other]) for other in others]
                among = l_diversity.knowing_others(classes, codes)
            else:
                among = classes
            finding = self.judge_one(among, frame[name], variables[name], unit)
            findings.append(finding.model_copy(update={"stage": stage, "scope": f"{name} by {', '.join(known)}"}))
        return findings

    @abstractmethod
    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        """The finding on one sensitive variable, without stage and scope."""

    @property
    def of_what(self) -> str:
        return "every sensitive variable" if self.columns is None else listed(self.columns)

    @property
    def who_share(self) -> str:
        """Within whom the values are compared, in words."""
        others = " and their other sensitive values" if self.others_known else ""
        return f"records that share their quasi-identifiers{others}"


def distinguishable(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Numbers on their grid: 0.0001 and 0.0002 are no two answers to what somebody earns."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return pd.Series(on_grid(numbers, resolution(numbers)))


def groups(count: int, total: int, unit: str) -> str:
    few = f"{count:,} of {total:,}" if count else f"none of the {total:,}"
    return f"{few} groups of {unit} that cannot be told apart by their quasi-identifiers"
