"""SensitiveRule: a rule on what the look-alikes of a record give away of its sensitive values."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Background, Need
from sluice.ground.sentence import Saying, Sentence, listed, word
from sluice.ground.variables import Kind, Role, Variable, Variables, as_label, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes import equivalence_classes
from sluice.risk.classes.class_values import ClassFigures, SensitiveValues, knowing_others
from sluice.risk.classes.equivalence_classes import EquivalenceClasses
from sluice.risk.classes.microdata_rule import Columns, MicrodataRule, refuse_missing_columns
from sluice.risk.classes.privacy_model import PrivacyModel, SensitiveModel
from sluice.risk.people import people_of

GROUPS = "{count:,} of {total:,} groups of {unit} that cannot be told apart by their quasi-identifiers"
_NOTHING_SENSITIVE = Sentence("nothing_sensitive", "No variable of the file is declared sensitive.")
_NOTHING_SENSITIVE_RELEASED = Sentence(
    "nothing_sensitive_released",
    "No released variable is declared sensitive: the contract calls none so, or the plan removes all of them.",
)
_SETS = Sentence(
    "sensitive_sets", "{name:word} holds sets of items: different sets may share the item that is sensitive."
)
_NO_VALUES = Sentence("no_sensitive_values", "Nobody has a value of {name:word}.")
_RELEASED = Sentence("counted_released", " Counted are the released values.")
_ORIGINAL = Sentence("counted_original", " Counted are the original values of those who share a released group.")
_EXCUSED = Sentence("harmless_values", " {excused:,} more hold only values that the contract calls harmless: {why}.")
_HARMLESS = Sentence("harmless_blanks", " In {blank:,} nobody has a value, which the contract calls harmless: {why}.")
_BLANK = Sentence(
    "blanks",
    " In {blank:,} nobody has a value: a person must decide whether that tells something of them; the contract can "
    "call it harmless.",
)
_SUCH_GROUPS = Sentence("such_groups", " Such groups are: {groups}.")

_NAMED = 3  # groups that a finding names


class SensitiveRule(MicrodataRule):
    """A rule on each sensitive variable within the classes of the quasi-identifiers; one finding a variable.

    The values are the original ones of those who share a released class, where it is known whose record is whose:
    masking the sensitive variable hides nothing of a class whose people are all alike. They are looked at as released,
    too, and the worse counts. A blank is no value.
    """

    needs: ClassVar[str] = (
        "Say in the contract which variables are quasi-identifiers and which are sensitive, and let the plan leave "
        "both in the file, with values. A file that is to hold nothing sensitive can never pass this rule: release "
        "it under a policy without it, which those adopt who answer for it."
    )

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive, when not given")
    others_known: bool = Field(
        default=False, description="for each variable, the other sensitive ones count as quasi-identifiers"
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.columns else (*super().requires, (Need.SENSITIVE,))

    def judge(
        self, frame: pd.DataFrame, variables: Variables, keys: list[str], stage: str, unit: str, background: Background
    ) -> list[Finding]:
        sensitive = with_role(variables, Role.SENSITIVE) if self.columns is None else list(self.columns)
        if not sensitive:
            return [self.unknown(stage, _nothing_sensitive(stage), len(frame))]
        refuse_missing_columns(self.rule, sensitive, frame, variables)
        classes = equivalence_classes.classes_of(frame, keys, people_of(frame, variables))
        findings = []
        for name in sensitive:
            others = self._others(name, sensitive)
            found = []
            for among, values, said in self._views(classes, frame, name, others, stage, background):
                finding = self._judge_one(among, values, variables[name], unit, frame[keys], stage, background)
                found.append(finding.adding(said))
            worst = max(found, key=lambda one: one.verdict)  # of equals the one by original values
            scope = f"{name} by {', '.join([*keys, *others])}"
            findings.append(worst.model_copy(update={"stage": stage, "scope": scope}))
        return findings

    def failing(self, frame: pd.DataFrame, variables: Variables, keys: list[str], background: Background) -> BoolArray:
        sensitive = with_role(variables, Role.SENSITIVE) if self.columns is None else list(self.columns)
        classes = equivalence_classes.classes_of(frame, keys, people_of(frame, variables))
        found = np.zeros(len(frame), dtype=np.bool_)
        for name in (name for name in sensitive if variables[name].kind is not Kind.ITEMS):
            for among, column, _ in self._views(
                classes, frame, name, self._others(name, sensitive), "masked", background
            ):
                values = SensitiveValues.of(among, column, variables[name], self.near_share)
                if len(values.column):
                    broken = self.measure(values).failing & ~values.all_harmless
                    found[values.rows[broken[values.classes.labels]]] = True
        return found

    def _others(self, name: str, sensitive: Sequence[str]) -> list[str]:
        return [other for other in sensitive if self.others_known and other != name]

    def _views(
        self, classes: EquivalenceClasses, frame: pd.DataFrame, name: str, others: Sequence[str], stage: str,
        background: Background,
    ) -> Iterator[tuple[EquivalenceClasses, "pd.Series[Any]", Saying]]:  # fmt: skip
        """The values that are looked at, within which classes, and how that is said."""
        views: list[tuple[pd.DataFrame, Saying]] = [(frame, () if stage == "original" else _RELEASED())]
        if background.original is not None and {name, *others} <= set(background.original):
            views = [(background.original, _ORIGINAL()), *views]
        for values, said in views:
            codes = [equivalence_classes.category_codes(values[other]) for other in others]
            yield knowing_others(classes, codes) if others else classes, values[name], said

    def _judge_one(
        self,
        classes: EquivalenceClasses,
        column: "pd.Series[Any]",
        variable: Variable,
        unit: str,
        keys: pd.DataFrame,
        stage: str,
        background: Background,
    ) -> Finding:
        """The finding on one sensitive variable, without stage and scope."""
        if variable.kind is Kind.ITEMS:
            return self.unknown(stage, _SETS(name=variable.name), len(column))
        values = SensitiveValues.of(classes, column, variable, self.near_share)
        if not len(values.column):
            return self.unknown(stage, _NO_VALUES(name=variable.name), len(column))
        figures = self.measure(values)
        failing = figures.failing & ~values.all_harmless
        excused = int((figures.failing & values.all_harmless).sum())
        blank = len(classes.sizes) - len(values.classes.sizes)
        count, total = int(failing.sum()), len(failing)
        worst = figures.worst(~(figures.failing & values.all_harmless))
        limit = self.threshold(variable)
        says = self.say(count, total, unit, variable.name, worst, limit)
        if count and stage != "original":
            says += _named(keys.iloc[values.records_of(failing)], values.sizes(failing), background.minimum_cell, unit)
        harmless = variable.harmless
        if excused and harmless is not None:
            says += _EXCUSED(excused=excused, why=harmless.why)
        if blank and harmless is not None and harmless.missing:
            says += _HARMLESS(blank=blank, why=harmless.why)
        elif blank:
            says += _BLANK(blank=blank)
        finding = self.finding(not count, worst if np.isfinite(worst) else None, limit, len(column), says)
        if blank and not count and (harmless is None or not harmless.missing):
            return finding.model_copy(update={"verdict": Verdict.REVIEW})
        return finding

    @abstractmethod
    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        """The privacy model that every class must keep to. Raises DataError where it does not fit the variable.

        categories : the variable's, by code; of numbers none
        """

    def models(self, variables: Variables) -> list[tuple[str, PrivacyModel | None]]:
        if self.others_known:
            return [(self.rule, None)]
        names = with_role(variables, Role.SENSITIVE) if self.columns is None else self.columns
        return [(f"{self.rule} of {name}", self._searched(variables.get(name))) for name in names]

    def _searched(self, variable: Variable | None) -> SensitiveModel | None:
        if variable is None or not variable.kind.is_categorical:
            return None
        try:
            return self.model(variable, variable.categories or ())
        except DataError:
            return None

    def measure(self, values: SensitiveValues) -> ClassFigures:
        """The figure of each class, and whether it breaks the rule."""
        model = self.model(values.variable, values.categories)
        return ClassFigures(model.figures(values.in_classes), model.broken(values.in_classes), model.worse)

    @abstractmethod
    def say(self, count: int, total: int, unit: str, name: str, worst: float, limit: float) -> Saying:
        """What was found: in `count` of `total` groups of look-alikes a variable breaks the rule."""

    @abstractmethod
    def threshold(self, variable: Variable) -> float:
        """What the figure of a variable is held to."""

    @property
    def near_share(self) -> float | None:
        """Numbers within this share of their spread are one value; None where the measure takes them as they are."""
        return None

    @property
    def of_what(self) -> str:
        return "every sensitive variable" if self.columns is None else listed(self.columns)

    @property
    def who_share(self) -> str:
        """Within whom the values are compared, in words."""
        others = " and their other sensitive values" if self.others_known else ""
        return f"records that share their quasi-identifiers{others}"


class NearValuesRule(SensitiveRule):
    """A rule that counts values: numbers that lie near each other are one."""

    near: Share = Field(
        default=0.1, description="numbers and dates that lie within this share of the variable's spread are one value"
    )

    @property
    def near_share(self) -> float | None:
        return self.near


def _nothing_sensitive(stage: str) -> Saying:
    """Why nothing is judged: of a masked file the contract may declare some that the plan takes out."""
    return _NOTHING_SENSITIVE() if stage == "original" else _NOTHING_SENSITIVE_RELEASED()


def _named(keys: pd.DataFrame, sizes: Sequence[int], minimum_cell: int, unit: str) -> Saying:
    """The largest groups by their categories; small ones are left out."""
    order = np.argsort(sizes)[::-1]
    large = [at for at in order.tolist() if sizes[at] >= minimum_cell][:_NAMED]
    if not large:
        return ()
    named = [
        ", ".join(f"{word(str(name))} {_category(keys[name].iloc[at])}" for name in keys) + f" ({sizes[at]:,} {unit})"
        for at in large
    ]
    return _SUCH_GROUPS(groups="; ".join(named))


def _category(value: Any) -> str:
    return "missing" if pd.isna(value) else str(as_label(value))
