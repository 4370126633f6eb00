"""SensitiveRule: a rule on what the look-alikes of a record give away of its sensitive values."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.document_parts import Share
from sluice.ground.errors import DataError
from sluice.ground.rule import AnyOf, Need
from sluice.ground.sentence import Saying, Sentence, listed, word
from sluice.ground.variables import Kind, Role, Variable, Variables, as_label, with_role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.class_values import ClassValues, SensitiveValues, knowing_others
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes
from sluice.risk.classes.microdata_rule import Columns, KeyedRecords, MicrodataRule, refuse_missing_columns
from sluice.risk.classes.privacy_model import BesideHarmless, PrivacyModel, SensitiveModel

GROUPS = "{count:,} of {total:count,_group} of {unit} that cannot be told apart by their quasi-identifiers"
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
_EXCUSED = Sentence(
    "harmless_values",
    " In {excused:,} more there are only values that the contract calls harmless: {why}.",
)
_HARMLESS = Sentence("harmless_blanks", " In {blank:,} nobody has a value, which the contract calls harmless: {why}.")
_BLANK = Sentence(
    "blanks",
    " In {blank:,} nobody has a value: whether that tells something of them needs a decision; the contract can call it "
    "harmless.",
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

    columns: Columns | None = Field(default=None, description="all variables with the role sensitive by default")
    others_known: bool = Field(
        default=False, description="for each variable, the other sensitive ones count as quasi-identifiers"
    )

    @property
    def requires(self) -> tuple[AnyOf, ...]:
        return super().requires if self.columns else (*super().requires, (Need.SENSITIVE,))

    def misfits(self, variables: Variables) -> list[str]:
        looked_at = (variables[name] for name in self._sensitive(variables) if name in variables)
        return [*super().misfits(variables), *filter(None, map(self.misfit, looked_at))]

    def misfit(self, variable: Variable) -> str:
        """Why the rule cannot be put to a sensitive variable, whatever its values are; empty where it can."""
        return ""

    def judge(self, file: KeyedRecords) -> list[Finding]:
        sensitive = self._sensitive(file.variables)
        if not sensitive:
            return [self.unknown(file.stage, _nothing_sensitive(file.stage), len(file))]
        refuse_missing_columns(self.rule, sensitive, file.frame, file.variables)
        findings = []
        for name in sensitive:
            others = self._others(name, sensitive)
            views = self._views(file, name, others)
            found = [self._judge_one(file, among, values, name).adding(said) for among, values, said in views]
            worst = max(found, key=lambda one: one.verdict)  # of equals the one by original values
            findings.append(worst.model_copy(update={"scope": f"{name} by {', '.join([*file.keys, *others])}"}))
        return findings

    def failing(self, file: KeyedRecords) -> BoolArray:
        sensitive, variables = self._sensitive(file.variables), file.variables
        found = np.zeros(len(file), dtype=np.bool_)
        for name in (name for name in sensitive if variables[name].kind is not Kind.ITEMS):
            for among, column, _ in self._views(file, name, self._others(name, sensitive)):
                values = SensitiveValues.of(among, column, variables[name], self.near_share)
                if len(values.column):
                    model, measured = self.measure(values)
                    found[values.rows[model.broken(measured)[values.classes.labels]]] = True
        return found

    def _sensitive(self, variables: Variables) -> list[str]:
        return with_role(variables, Role.SENSITIVE) if self.columns is None else list(self.columns)

    def _others(self, name: str, sensitive: Sequence[str]) -> list[str]:
        return [other for other in sensitive if self.others_known and other != name]

    def _views(
        self, file: KeyedRecords, name: str, others: Sequence[str]
    ) -> Iterator[tuple[EquivalenceClasses, "pd.Series[Any]", Saying]]:
        """The values that are looked at, within which classes, and how that is said."""
        original = file.background.original
        views: list[tuple[pd.DataFrame, Saying]] = [(file.frame, () if file.stage == "original" else _RELEASED())]
        if original is not None and {name, *others} <= set(original):
            views = [(original, _ORIGINAL()), *views]
        for values, said in views:
            codes = [category_codes(values[other]) for other in others]
            yield knowing_others(file.classes, codes) if others else file.classes, values[name], said

    def _judge_one(
        self, file: KeyedRecords, classes: EquivalenceClasses, column: "pd.Series[Any]", name: str
    ) -> Finding:
        """The finding on one sensitive variable, without its scope."""
        variable = file.variables[name]
        if variable.kind is Kind.ITEMS:
            return self.unknown(file.stage, _SETS(name=name), len(column))
        values = SensitiveValues.of(classes, column, variable, self.near_share)
        if not len(values.column):
            return self.unknown(file.stage, _NO_VALUES(name=name), len(column))
        model, measured = self.measure(values)
        failing, plain = model.broken(measured), replace(measured, harmless=None)
        excused = model.broken(plain) & ~failing if measured.harmless is not None else np.zeros_like(failing)
        blank = len(classes.sizes) - len(values.classes.sizes)
        count, total = int(failing.sum()), len(failing)
        judged = measured.has_harmful
        figures = model.figures(measured)[judged] if judged.any() else model.figures(plain)
        worst = model.worst(figures)
        limit = self.threshold(variable)
        says = self.say({"count": count, "total": total, "unit": file.unit, "name": name}, worst, limit)
        if count and file.stage != "original":
            says += _named(file, values.records_of(failing), values.sizes(failing))
        harmless = variable.harmless
        if excused.any() and harmless is not None:
            says += _EXCUSED(excused=int(excused.sum()), unit=file.unit, why=harmless.why)
        if blank and harmless is not None and harmless.missing:
            says += _HARMLESS(blank=blank, why=harmless.why)
        elif blank:
            says += _BLANK(blank=blank)
        finding = self.finding(file, not count, worst if np.isfinite(worst) else None, limit, says)
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
        names = self._sensitive(variables)
        return [(f"{self.rule} of {name}", self._searched(variables.get(name))) for name in names]

    def _searched(self, variable: Variable | None) -> SensitiveModel | None:
        """None also where the rule does not fit the variable: a later step may change that, or the rule refuses it."""
        if variable is None:
            return None
        harmless, named = variable.harmless, () if variable.harmless is None else variable.harmless.values
        valued = harmless is None or not harmless.missing  # a group in which nobody has a value needs a decision
        if not variable.kind.is_categorical:
            of_number = self.model_of_number(variable) if variable.kind.is_numeric and not named else None
            return of_number and replace(of_number, valued=valued)
        categories = variable.categories or ()
        try:
            model = replace(self.model(variable, categories), valued=valued)
        except DataError:
            return None
        codes = tuple(code for code, each in enumerate(categories) if each in named)
        return BesideHarmless(variable.name, model, codes) if codes else model

    def model_of_number(self, variable: Variable) -> SensitiveModel | None:
        """The model of a search, which knows numbers by their order; None: only the judgement of the file has one."""
        return None

    def measure(self, values: SensitiveValues) -> tuple[SensitiveModel, ClassValues]:
        """The model, and what it is asked of: how often each value occurs in each class."""
        return self.model(values.variable, values.categories), values.in_classes

    @abstractmethod
    def say(self, groups: Mapping[str, Any], worst: float, limit: float) -> Saying:
        """What was found, where the worst figure of any group is this and the policy's limit that.

        groups : count and total: in so many of all groups of look-alikes; unit: of what; name: of the variable
        """

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
        default=0.1, description="numbers and dates within this share of the variable's spread are one value"
    )

    @property
    def near_share(self) -> float | None:
        return self.near


def _nothing_sensitive(stage: str) -> Saying:
    """Why nothing is judged: of a masked file the contract may declare some that the plan takes out."""
    return _NOTHING_SENSITIVE() if stage == "original" else _NOTHING_SENSITIVE_RELEASED()


def _named(file: KeyedRecords, records: IntArray, sizes: Sequence[int]) -> Saying:
    """The largest groups by their categories, of which a record each is given; small ones are left out."""
    keys, order = file.frame[file.keys].iloc[records], np.argsort(sizes)[::-1]
    large = [at for at in order.tolist() if sizes[at] >= file.background.minimum_cell][:_NAMED]
    if not large:
        return ()
    named = [
        ", ".join(f"{word(str(name))} {_category(keys[name].iloc[at])}" for name in keys)
        + f" ({sizes[at]:,} {file.unit})"
        for at in large
    ]
    return _SUCH_GROUPS(groups="; ".join(named))


def _category(value: Any) -> str:
    return "missing" if pd.isna(value) else str(as_label(value))
