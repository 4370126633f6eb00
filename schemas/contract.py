"""The contract: what one data set must look like, written by the people who own it.

From it come the typing of the staged data, the pandera schemas of the staged and of the released table, and the
Great Expectations suite that runs at the source.
"""

from collections.abc import Mapping
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schemas.cross_field import CrossFieldExpression, read_expression
from schemas.declared_hierarchy import declared_hierarchy
from schemas.reference_period import ReferencePeriod
from sluice.documents.document_reading import Written, named_file, parse_document, read_yaml
from sluice.ground.errors import DocumentError, did_you_mean
from sluice.ground.record_rule import RecordRule
from sluice.ground.rule import FileOf
from sluice.ground.values import moment
from sluice.ground.variables import GROUPS, NAMES, Kind, Label, Role, Variable
from sluice.ground.visible_text import Name, Prose
from sluice.publication.study import Study

HASHED = NAMES  # a variable with one of these roles leaves its source only as a keyed hash
_SCENARIOS = ("everything", "any")  # what a policy calls intruders whom no set of variables describes


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CrossFieldRule(_Strict):
    """A condition that every record meets, over one or more of its values."""

    name: Name
    expression: Prose = Field(
        description="for instance: years_married <= age - 12; names, numbers, 'text', comparisons, and/or/not"
    )
    says: Prose = Field(description="the rule in words")
    of: Literal["source and masked", "source"] = Field(
        default="source and masked",
        description="source: masked records may break it, such as a sum of incomes that are perturbed one by one; the "
        "report says how many do",
    )


class RowCount(_Strict):
    minimum: int = Field(default=1, ge=1)
    maximum: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError(f"'maximum' must be at least 'minimum', {self.minimum}; got {self.maximum}")
        return self


class Freshness(_Strict):
    """The newest record is not older than so many days when the release runs."""

    column: str
    max_age_days: float = Field(gt=0)


class Drift(_Strict):
    """How far a distribution may move from the last published release."""

    max_distance: float = Field(
        default=0.1, gt=0, le=1, description="largest total variation distance of a column's distribution, 0 to 1"
    )
    columns: tuple[str, ...] | None = Field(default=None, description="all variables that are not keys, when not given")


class Contract(_Strict):
    """One data set: its variables, its record key and what must hold of it as a whole."""

    dataset: Name = Field(min_length=1)
    version: Label = Field(min_length=1)
    description: Prose = ""
    records_are: Name = Field(
        default="records", min_length=1, description="what a record is, in the plural: women, firms"
    )
    record_key: tuple[str, ...] = Field(
        default=(),
        description="variables that together name one record; unique. An identifier here is kept as a keyed hash",
    )
    variables: tuple[Variable, ...] = Field(min_length=1)
    quasi_identifiers: Literal["declared", "none"] = Field(
        default="declared",
        exclude_if=lambda given: given == "declared",  # a contract that says nothing of it stays the one it was
        description="none: every variable is a measured number, such as an amount of a firm, which nobody shares; no "
        "groups of look-alikes are formed, and intruders who know the numbers decide",
    )
    knowledge: dict[Annotated[Name, Field(min_length=1)], Annotated[tuple[str, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="who knows what of a person, such as register: [sex, birth_date, region]; policies name these sets",
    )
    rules: tuple[CrossFieldRule, ...] = ()
    rows: RowCount = RowCount()
    freshness: Freshness | None = None
    drift: Drift | None = None
    editions: Literal["fresh_samples"] | None = Field(
        default=None,
        exclude_if=lambda editions: editions is None,  # a contract that says nothing of it stays the one it was
        description="fresh_samples: each edition is of other people. Without it, one that shares nobody with an "
        "earlier edition of the same data set or source needs a decision",
    )
    reference_period: ReferencePeriod | None = Field(
        default=None, description="the time that the data are about; without it editions go by when they were received"
    )

    study: Study | None = Field(
        default=None,
        exclude_if=lambda study: study is None,  # a contract that says nothing of it stays the one it was
        description="who collected the data, where, when and how, for citations, archives and catalogues",
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        names = [variable.name for variable in self.variables]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"variable named twice: {', '.join(twice)}")
        wanted = [("record_key", name) for name in self.record_key]
        if self.freshness:
            wanted.append(("freshness.column", self.freshness.column))
            if self.freshness.column in names and self.by_name[self.freshness.column].kind is not Kind.DATE:
                raise ValueError(f"freshness.column: '{self.freshness.column}' must be a date")
        if self.drift:
            wanted += [("drift.columns", name) for name in self.drift.columns or ()]
        wanted += [(f"knowledge.{who}", name) for who, known in self.knowledge.items() for name in known]
        for field, name in wanted:
            if name not in names:
                raise ValueError(f"{field}: the contract has no variable '{name}'.{did_you_mean(name, names)}")
        if self.reference_period:
            self.reference_period.refuse_unfit(self.staged, names)
        for role in (Role.WEIGHT, *GROUPS):
            if sum(variable.role is role for variable in self.variables) > 1:
                raise ValueError(f"more than one variable has the role '{role}'; at most 1 is allowed")
        if len(set(self.record_key)) != len(self.record_key):
            raise ValueError("record_key names a variable twice")
        for variable in self.variables:
            _refuse_incoherent(variable)
        if self.numbers_alone:
            _refuse_keys(self.staged)
        for who, known in self.knowledge.items():
            _refuse_unknowable(who, known, self.by_name)
        for name in (self.drift.columns or ()) if self.drift else ():
            if name not in self.staged or self.staged[name].kind is Kind.TEXT:
                given = self.by_name[name]
                raise ValueError(
                    f"drift.columns: '{name}' must be a number, a date or categories, and not be hashed; "
                    f"it is {given.kind} with role {given.role}. Leave it out."
                )
        _ = self.expressions  # reads every rule
        return self

    @property
    def by_name(self) -> dict[str, Variable]:
        """The variables by name, in order."""
        return {variable.name: variable for variable in self.variables}

    @property
    def numbers_alone(self) -> bool:
        """Whether it says that nobody is recognised by anything but measured numbers."""
        return self.quasi_identifiers == "none"

    @cached_property
    def undeclared(self) -> frozenset[str]:
        """Variables with categories of which it lists none: those of the data may not be named."""
        return frozenset(
            name for name, each in self.staged.items() if each.kind.is_categorical and each.categories is None
        )

    @cached_property
    def staged(self) -> dict[str, Variable]:
        """The variables of the typed frame, in order: no identifier but as a key.

        Identifiers in the record key, the household and the contributor come as keyed hashes, which are text without
        range, categories or hierarchy. A nominal or binary variable without declared categories has none yet here;
        `schemas.reading.typing.SourceTyping.variables` fills in those that were found.
        """
        staged = {}
        for variable in self.variables:
            if variable.role is Role.IDENTIFIER and variable.name not in self.record_key:
                continue
            if variable.role in HASHED:
                variable = Variable(
                    name=variable.name,
                    kind=Kind.TEXT,
                    role=variable.role,
                    description=variable.description,
                    nullable=variable.nullable,
                    max_missing_share=variable.max_missing_share,
                )
            if variable.date_format is not None:  # they are dates from here on, and written as ISO 8601 has them
                variable = variable.model_copy(update={"date_format": None})
            staged[variable.name] = variable
        return staged

    @cached_property
    def expressions(self) -> dict[str, CrossFieldExpression]:
        """The cross-field rules by name, ready to be evaluated on the typed frame."""
        expressions: dict[str, CrossFieldExpression] = {}
        for rule in self.rules:
            if rule.name in expressions:
                raise ValueError(f"rules: two rules are named '{rule.name}'")
            try:
                expressions[rule.name] = read_expression(rule.expression, self.staged)
            except ValueError as error:
                raise ValueError(f"rules: '{rule.name}': {error}") from None
        return expressions

    @property
    def record_rules(self) -> tuple[RecordRule, ...]:
        """The cross-field rules as conditions on frames that are typed as the original."""
        return tuple(
            RecordRule(
                rule.name,
                rule.says,
                self.expressions[rule.name].names,
                self.expressions[rule.name].holds,
                kept=rule.of != "source",
            )
            for rule in self.rules
        )


def _refuse_incoherent(variable: Variable) -> None:
    """Raise ValueError for a variable whose settings contradict each other."""
    name, categories = variable.name, set(variable.categories or ())
    if variable.role is Role.WEIGHT and not variable.kind.is_numeric:
        raise ValueError(f"'{name}' is the weight: it must be continuous or integer; got {variable.kind}")
    bounds = [
        _bound(variable, field, value)
        for field, value in (("minimum", variable.minimum), ("maximum", variable.maximum))
    ]
    if None not in bounds and bounds[0] > bounds[1]:
        raise ValueError(f"'{name}': 'minimum' is above 'maximum'")
    if variable.nullable is False and variable.max_missing_share:
        raise ValueError(f"'{name}': a 'max_missing_share' above 0 needs nullable: true")
    if variable.kind is Kind.ITEMS:
        _refuse_undeclared_items(variable)
    if not categories:
        return
    both = sorted(categories & set(variable.missing_codes))
    if both:
        raise ValueError(f"'{name}': a category is also a missing code: {', '.join(both)}")
    harmless = variable.harmless.values if variable.harmless else ()
    labelled = set(variable.labels) - set(variable.missing_codes)  # "refused" is the meaning of a missing code
    for field, named in (("labels", labelled), ("harmless.values", set(harmless))):
        unknown = sorted(named - categories)
        if unknown:
            hint = did_you_mean(unknown[0], categories)
            raise ValueError(f"'{name}': '{field}' names texts that are not categories: {', '.join(unknown)}.{hint}")
    if variable.hierarchy is not None and categories - set(variable.hierarchy.rows):
        absent = ", ".join(sorted(categories - set(variable.hierarchy.rows)))
        raise ValueError(f"'{name}': 'hierarchy' has no row for: {absent}")


def _refuse_keys(variables: Mapping[str, Variable]) -> None:
    """Raise ValueError for a variable by which somebody can be recognised, though there is to be none."""
    for name, each in variables.items():
        if each.role not in NAMES and (each.role is Role.QUASI_IDENTIFIER or not each.kind.is_numeric):
            raise ValueError(
                f"quasi_identifiers: none is for measured numbers alone; '{name}' is {each.kind} with role "
                f"{each.role}. Give it the role identifier, so that it never leaves the source, or declare what can be "
                "known of somebody"
            )


def _refuse_undeclared_items(variable: Variable) -> None:
    """Raise ValueError where labels or hierarchy do not fit the items that are declared."""
    items = variable.declared_items
    if items is None:
        return
    if both := sorted(set(variable.missing_codes) & set(items)):
        raise ValueError(f"'{variable.name}': an item is also a missing code: {', '.join(both)}")
    if unknown := sorted(set(variable.labels) - {*items, *variable.missing_codes}):
        raise ValueError(f"'{variable.name}': 'labels' names texts that are not items: {', '.join(unknown)}")
    if variable.hierarchy is not None and (absent := sorted(set(items) - set(variable.hierarchy.rows))):
        raise ValueError(f"'{variable.name}': 'hierarchy' has no row for: {', '.join(absent)}")


def _refuse_unknowable(who: str, known: tuple[str, ...], variables: Mapping[str, Variable]) -> None:
    """Raise ValueError for a set of known variables by which no released record could be looked up."""
    if who in _SCENARIOS:
        raise ValueError(f"knowledge: '{who}' is an intruder of every policy; give the set another name")
    if len(set(known)) != len(known):
        raise ValueError(f"knowledge.{who} names a variable twice")
    for name in known:
        if variables[name].role in HASHED or variables[name].kind is Kind.TEXT:
            raise ValueError(
                f"knowledge.{who}: '{name}' is never compared with a released record: it is {variables[name].kind} "
                f"with role {variables[name].role}. Leave it out."
            )


def _bound(variable: Variable, field: str, value: float | str | None) -> Any:
    if value is None:
        return None
    try:
        return moment(str(value)) if variable.kind is Kind.DATE else float(value)
    except ValueError:
        wanted = "an ISO date such as 2024-12-31" if variable.kind is Kind.DATE else "a number"
        raise ValueError(f"'{variable.name}': '{field}' must be {wanted}; got {value!r}") from None


def load_contract(path: Path, file_of: FileOf = named_file) -> Contract:
    """The contract in a YAML file, with hierarchies read from their files or built. Raises DocumentError."""
    written = read_yaml(path)
    content = Written(_with_dates_as_text(written))
    content.root = written.root
    _refuse_empty_roles(path, content)
    for index, variable in enumerate(content.get("variables") or []):
        if isinstance(variable, dict) and isinstance(given := variable.get("hierarchy"), dict):
            where = f"{path}: variables.{index}.hierarchy"
            variable["hierarchy"] = declared_hierarchy(given, variable, path.parent, where, file_of)
    return parse_document(Contract, content, str(path))


def _with_dates_as_text(content: Any) -> Any:
    """YAML reads 2024-12-31 as a date; a document holds it as text."""
    if isinstance(content, dict):
        return {_with_dates_as_text(key): _with_dates_as_text(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_with_dates_as_text(value) for value in content]
    return content.isoformat() if isinstance(content, date) else content


def _refuse_empty_roles(path: Path, content: dict[str, Any]) -> None:
    """A drafted contract leaves the roles to a person: raise DocumentError while one of them is not filled in."""
    variables = content.get("variables")
    given = [variable for variable in variables if isinstance(variable, dict)] if isinstance(variables, list) else []
    empty = [str(variable.get("name")) for variable in given if "role" in variable and variable["role"] is None]
    if empty:
        roles = ", ".join(Role)
        raise DocumentError(f"{path}: no role is chosen yet for {', '.join(empty)}. A role is one of {roles}.")
