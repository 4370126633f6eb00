"""Rules on a file of records: in how large a crowd each record stands, and what the crowd gives away."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from policies.rules.rule import Rule, Share
from sluice.errors import DataError, did_you_mean
from sluice.risk.classes import equivalence_classes, k_anonymity, l_diversity, sample_uniques, t_closeness
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.risk.resolution import on_grid, resolution
from sluice.variables import Kind, Role, Variable, Variables, with_role
from sluice.verdict import Finding, Verdict

ROUNDING = 1e-9  # entropy and distances are sums of logarithms and quotients; a limit that is met exactly is met

Columns = Annotated[tuple[str, ...], Field(min_length=1)]


class MicrodataRule(Rule):
    """A rule on the combinations of key columns of a file of records."""

    def find(self, frame: pd.DataFrame, variables: Variables, stage: str, unit: str = "records") -> list[Finding]:
        keys = self.keys(variables)
        if not keys:
            return [self.unknown(stage, "No variable of the file is declared a quasi-identifier.", len(frame))]
        _refuse_missing_columns(self.rule, keys, frame, variables)
        if not len(frame):
            return [self.unknown(stage, f"The file holds no {unit}.", 0)]
        return self.judge(frame, variables, keys, stage, unit)

    def keys(self, variables: Variables) -> list[str]:
        """The columns whose combinations are looked at: the quasi-identifiers, unless the rule names others."""
        return with_role(variables, Role.QUASI_IDENTIFIER)

    @abstractmethod
    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        """The findings on a file with at least one record and at least one key column."""

    def finding(
        self,
        passes: bool,
        observed: float | None,
        limit: float,
        records: int,
        says: str,
        stage: str = "",
        scope: str = "",
    ) -> Finding:
        """A finding for which all records were looked at."""
        return Finding(
            rule=self.rule,
            verdict=Verdict.PASS if passes else Verdict.FAIL,
            stage=stage,
            scope=scope,
            observed=observed,
            limit=limit,
            attempted=records,
            completed=records,
            says=says,
        )


class _OnFrequencies(MicrodataRule):
    """A rule on how many records share each record's combination."""

    missing_matches: Literal["category", "any"] = Field(
        default="category", description="a missing key is a category of its own, or matches any value"
    )
    columns: Columns | None = Field(default=None, description="all quasi-identifiers, when not given")

    def keys(self, variables: Variables) -> list[str]:
        return super().keys(variables) if self.columns is None else list(self.columns)

    def frequencies(self, frame: pd.DataFrame, keys: list[str]) -> equivalence_classes.IntArray:
        if self.missing_matches == "any":
            return equivalence_classes.matching_frequencies(frame, keys)
        return equivalence_classes.classes_of(frame, keys).frequencies

    @property
    def of_what(self) -> str:
        named = "the quasi-identifiers" if self.columns is None else listed(self.columns)
        return named + (", a missing value matching any" if self.missing_matches == "any" else "")


class KAnonymity(_OnFrequencies):
    """Every combination of key values is shared by at least k records."""

    rule: Literal["k_anonymity"] = "k_anonymity"
    k: int = Field(ge=2)

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        frequencies = self.frequencies(frame, keys)
        n, observed = len(frame), k_anonymity.k_anonymity(frequencies)
        below, alone = k_anonymity.records_below(frequencies, self.k), sample_uniques.sample_uniques(frequencies)
        if observed >= self.k:
            says = f"Every combination of {listed(keys)} is shared by at least {observed:,} of the {n:,} {unit}"
        elif alone == below:
            says = _alone(alone, n, unit, keys)
        else:
            says = f"{below:,} of {n:,} {unit} share their combination of {listed(keys)} with too few others"
            says += f", and {alone:,} of these {_are(alone)} alone with it" if alone else ""
        asks = f"the policy asks that at least {self.k:,} share every combination"
        says += f"; {asks}{_missing_note(self.missing_matches)}."
        return [self.finding(observed >= self.k, observed, self.k, n, says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return f"At least {self.k:,} records share every combination of {self.of_what} (k-anonymity)."


class SampleUniquesShare(_OnFrequencies):
    """At most a share of the records is alone with its combination of key values."""

    rule: Literal["sample_uniques_share"] = "sample_uniques_share"
    at_most: Share = Field(lt=1, description="share of the records, not percent")

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        frequencies = self.frequencies(frame, keys)
        n, observed = len(frame), sample_uniques.sample_uniques_share(frequencies)
        says = (
            f"{_alone(sample_uniques.sample_uniques(frequencies), n, unit, keys)} ({100 * observed:.3g} %); the policy "
            f"allows at most {100 * self.at_most:.3g} %{_missing_note(self.missing_matches)}."
        )
        return [self.finding(observed <= self.at_most, observed, self.at_most, n, says, stage, ", ".join(keys))]

    def describe(self) -> str:
        return f"At most {100 * self.at_most:.3g} % of the records are alone with their combination of {self.of_what}."


class OnSensitiveVariables(MicrodataRule):
    """A rule on each sensitive variable within the classes of the quasi-identifiers; one finding a variable."""

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")
    others_known: bool = Field(
        default=False, description="for each variable, the other sensitive ones count as quasi-identifiers"
    )

    def judge(self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str) -> list[Finding]:
        sensitive = with_role(variables, Role.SENSITIVE) if self.columns is None else list(self.columns)
        if not sensitive:
            return [self.unknown(stage, "No variable of the file is declared sensitive.", len(frame))]
        _refuse_missing_columns(self.rule, sensitive, frame, variables)
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


class LDiversity(OnSensitiveVariables):
    """Whoever knows a person's quasi-identifiers still has at least l sensitive values to choose from."""

    rule: Literal["l_diversity"] = "l_diversity"
    variant: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct",
        description="different values; exp(entropy): equally frequent values would count as many; or the most frequent "
        "value occurs less than c times as often as the l-th and all rarer ones together",
    )
    l: float = Field(gt=1)  # noqa: E741  the name that everybody knows
    c: float | None = Field(default=None, gt=0, description="of recursive (c,l)-diversity; for no other variant")

    @model_validator(mode="after")
    def _c_for_recursive(self) -> Self:
        if (self.variant == "recursive") != (self.c is not None):
            raise ValueError("c is needed for variant 'recursive' and for no other")
        if self.variant == "recursive" and not float(self.l).is_integer():
            raise ValueError(f"l of variant 'recursive' must be a whole number; got {self.l:g}")
        return self

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        codes = equivalence_classes.category_codes(distinguishable(column))
        if self.c is not None:
            ratios = l_diversity.recursive_ratio(classes, codes, int(self.l))
            return self._judge_recursive(ratios, self.c, variable, len(column), unit)
        measure = l_diversity.distinct_values if self.variant == "distinct" else l_diversity.effective_values
        values = measure(classes, codes)
        failing = int((values < self.l - ROUNDING).sum())
        said = (
            "different values" if self.variant == "distinct" else "different values, weighed by how often they occur,"
        )
        says = (
            f"In {groups(failing, len(values), unit)}, there are fewer than {self.l:g} {said} of "
            f"{word(variable.name)} (fewest in any group: {values.min():.4g}); the policy asks for at least "
            f"{self.l:g} in each."
        )
        return self.finding(not failing, float(values.min()), self.l, len(column), says)

    def _judge_recursive(
        self, ratios: l_diversity.FloatArray, c: float, variable: Variable, records: int, unit: str
    ) -> Finding:
        failing = int((ratios >= c).sum())
        says = (
            f"In {groups(failing, len(ratios), unit)}, one value of {word(variable.name)} occurs at least {c:g} times "
            f"as often as the {self.l:g}th most frequent and all rarer ones together; the policy allows it in none."
        )
        # A ratio without an end, where fewer than l values occur, has no number that a report could hold.
        worst = float(ratios.max()) if np.isfinite(ratios).all() else None
        return self.finding(not failing, worst, c, records, says)

    def describe(self) -> str:
        if self.c is not None:
            return (
                f"Within {self.who_share}, the most frequent value of {self.of_what} occurs less than {self.c:g} times "
                f"as often as the {self.l:g}th and all rarer ones together (recursive l-diversity)."
            )
        kind = "different" if self.variant == "distinct" else "effectively different (by entropy)"
        return (
            f"{self.who_share[0].upper()}{self.who_share[1:]} show at least {self.l:g} {kind} values of {self.of_what} "
            "(l-diversity)."
        )


class TCloseness(OnSensitiveVariables):
    """Whoever knows a person's quasi-identifiers learns little that the whole file does not tell of everybody."""

    rule: Literal["t_closeness"] = "t_closeness"
    t: Share = Field(gt=0, lt=1, description="largest allowed earth mover's distance, more than 0 and less than 1")
    ground_distance: Literal["equal", "ordered", "hierarchical"] | None = Field(
        default=None,
        description="by kind when not given: ordered for numbers, dates and ordinal categories, else equal; "
        "hierarchical takes the variable's hierarchy in the contract",
    )

    def judge_one(
        self, classes: EquivalenceClasses, column: "pd.Series[Any]", variable: Variable, unit: str
    ) -> Finding:
        name, kind = variable.name, variable.kind
        has_order = kind.is_numeric or kind in (Kind.ORDINAL, Kind.DATE)
        if self.ground_distance == "ordered" and not has_order:
            raise DataError(f"t_closeness: 'ordered' needs values with an order; '{name}' is {kind}. Use 'equal'.")
        if self.ground_distance == "hierarchical":
            if variable.hierarchy is None:
                raise DataError(f"t_closeness: 'hierarchical' needs a hierarchy; '{name}' has none in the contract.")
            levels = t_closeness.hierarchy_levels(column, variable.hierarchy)
            distances = t_closeness.hierarchical_distance(classes, levels)
        else:
            ordered = has_order and self.ground_distance != "equal"
            measure = t_closeness.ordered_distance if ordered else t_closeness.equal_distance
            distances = measure(classes, equivalence_classes.category_codes(column))
        failing = int((distances > self.t + ROUNDING).sum())
        says = (
            f"In {groups(failing, len(distances), unit)}, the values of {word(name)} differ from those of the whole "
            f"file by more than {self.t:g} on a scale from 0 to 1 (most in any group: {distances.max():.4g}); the "
            f"policy allows {self.t:g}."
        )
        return self.finding(not failing, float(distances.max()), self.t, len(column), says)

    def describe(self) -> str:
        return (
            f"Within {self.who_share}, the values of {self.of_what} differ from those of the whole file by at most "
            f"{self.t:g} on a scale from 0 to 1 (t-closeness)."
        )


def distinguishable(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Numbers on their grid: 0.0001 and 0.0002 are no two answers to what somebody earns."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return pd.Series(on_grid(numbers, resolution(numbers)))


def _refuse_missing_columns(rule: str, names: Sequence[str], frame: pd.DataFrame, variables: Variables) -> None:
    for name in names:
        if name not in variables or name not in frame.columns:
            raise DataError(f"{rule}: the file has no column '{name}'.{did_you_mean(name, variables)}")


def word(name: str) -> str:
    return name.replace("_", " ")


def listed(names: Sequence[str]) -> str:
    """'age, years married and children'"""
    *most, last = (word(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def groups(count: int, total: int, unit: str) -> str:
    few = f"{count:,} of {total:,}" if count else f"none of the {total:,}"
    return f"{few} groups of {unit} that cannot be told apart by their quasi-identifiers"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _alone(count: int, n: int, unit: str, keys: Sequence[str]) -> str:
    whose = "its" if count == 1 else "their"
    return f"{count:,} of {n:,} {unit} {_are(count)} alone with {whose} combination of {listed(keys)}"


def _missing_note(missing_matches: str) -> str:
    return " (a missing value counts as matching any)" if missing_matches == "any" else ""
