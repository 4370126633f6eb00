"""A variable of a data set: its name, kind and role, as the engine needs to know it.

A *typed frame* is a pandas DataFrame whose columns follow the kinds of its variables:

==============================  =================================================================
kind                            dtype (missing value)
==============================  =================================================================
continuous                      float64 (NaN), finite otherwise
integer                         Int64 (<NA>)
ordinal, nominal, binary        category with text categories (NaN); ordinal in the declared order
date                            datetime64[us] (NaT)
text                            str (NaN)
items                           category: each set of items as one text, in its canonical form (NaN)
==============================  =================================================================

The canonical form of a set of items: each item once, in the order of their texts, with the variable's separator
between them. A set without items is a missing value.

`Variables` is an ordered mapping from name to `Variable`, in the order of the columns.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sluice.ground.date_format import PATTERN, USUAL, refuse_no_format
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.visible_text import Name, Prose


class Kind(StrEnum):
    CONTINUOUS = "continuous"
    INTEGER = "integer"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    BINARY = "binary"
    DATE = "date"
    TEXT = "text"
    ITEMS = "items"

    @property
    def is_numeric(self) -> bool:
        return self in (Kind.CONTINUOUS, Kind.INTEGER)

    @property
    def is_categorical(self) -> bool:
        """Whether values are equal or not, at least; of sets of items, as wholes."""
        return self in (Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.ITEMS)


class Role(StrEnum):
    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    WEIGHT = "weight"
    PERSON = "person"  # of whom a file may hold several records: a patient with several stays
    HOUSEHOLD = "household"
    CONTRIBUTOR = "contributor"
    HOLDING = "holding"  # to which a contributor belongs: an enterprise group
    OTHER = "other"


SEPARATOR = ";"
"""Between the items of a set, unless its variable says otherwise."""

GROUPS = (Role.PERSON, Role.HOUSEHOLD, Role.CONTRIBUTOR, Role.HOLDING)  # records that belong together, by a name
NAMES = (Role.IDENTIFIER, *GROUPS)  # they name somebody, and tell no quantity, even where they are numbers


def as_label(value: Any) -> Any:
    """A category as text: 3 and 3.0 are both '3'; true, false and numbers need no quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


Label = Annotated[Name, BeforeValidator(as_label, json_schema_input_type=str | int | float | bool)]


class Harmless(BaseModel):
    """What may be known of a person by a sensitive variable, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    values: tuple[Label, ...] = Field(default=(), description="values that hurt nobody when they are known")
    missing: bool = Field(default=False, description="true: that a person has no value, such as a child no occupation")
    why: Prose = Field(min_length=1, description="the reason, which the report repeats")

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.values and not self.missing:
            raise ValueError("'harmless' names nothing: give 'values', or 'missing: true'")
        return self


class Variable(BaseModel):
    """One variable: what its values mean and how they may be used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name = Field(min_length=1)
    kind: Kind
    role: Role = Role.OTHER
    unit: Name | None = None
    description: Prose = ""
    universe: Prose = Field(default="", description="of whom it is known: 'people aged 15 and over', for the codebook")
    minimum: float | str | None = Field(default=None, description="smallest allowed value; an ISO date for dates")
    maximum: float | str | None = Field(default=None, description="largest allowed value; an ISO date for dates")
    categories: tuple[Label, ...] | None = Field(
        default=None, description="allowed categories; in rising order for an ordinal variable"
    )
    items: tuple[Label, ...] | None = Field(
        default=None, description="items that a set may hold; without it those of the hierarchy, or those found"
    )
    date_format: str | None = Field(
        default=None,
        exclude_if=lambda written: written is None,  # a contract that says nothing of it stays the one it was
        json_schema_extra={"pattern": PATTERN, "examples": [*USUAL[:3]]},
        description="how the source writes dates where not as 2024-12-31: DD.MM.YYYY, MM/DD/YYYY, DD-MON-YYYY; they "
        "are published as 2024-12-31",
    )
    separator: str | None = Field(
        default=None, min_length=1, max_length=1, description="between the items of a set; ';' when not given"
    )
    labels: dict[Label, Prose] = Field(
        default_factory=dict, description="what each code means: of a category, an item, or a missing code"
    )
    missing_codes: tuple[Label, ...] = Field(default=(), description="values that stand for 'missing' at the source")
    nullable: bool = False
    max_missing_share: float | None = Field(default=None, ge=0, le=1, description="share of records, at the source")
    hierarchy: Hierarchy | None = Field(default=None, description="leaf to ever wider groups, for generalisation")
    harmless: Harmless | None = Field(
        default=None,
        description="of a sensitive variable: what groups of people may tell of themselves",
    )

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.kind is Kind.ORDINAL and not self.categories:
            raise ValueError(f"'{self.name}' is ordinal: 'categories' must list its categories in rising order")
        if self.kind is Kind.BINARY and self.categories is not None and len(self.categories) != 2:
            raise ValueError(f"'{self.name}' is binary: 'categories' must list 2; got {len(self.categories)}")
        if self.categories is not None:
            if not self.kind.is_categorical:
                raise ValueError(f"'{self.name}' is {self.kind}: 'categories' is for ordinal, nominal and binary")
            if len(set(self.categories)) != len(self.categories):
                raise ValueError(f"'{self.name}' lists a category twice")
        if self.kind is Kind.ITEMS:
            self._refuse_incoherent_items()
        elif self.items is not None or self.separator is not None:
            raise ValueError(f"'{self.name}' is {self.kind}: 'items' and 'separator' are for sets of items")
        if self.date_format is not None:
            if self.kind is not Kind.DATE:
                raise ValueError(f"'{self.name}' is {self.kind}: 'date_format' is for dates")
            refuse_no_format(self.name, self.date_format)
        if self.harmless is not None and self.role is not Role.SENSITIVE:
            raise ValueError(f"'{self.name}' has role {self.role}: 'harmless' is for sensitive variables")
        if (self.minimum is not None or self.maximum is not None) and self.kind in (
            Kind.ORDINAL,
            Kind.NOMINAL,
            Kind.BINARY,
            Kind.TEXT,
            Kind.ITEMS,
        ):
            raise ValueError(f"'{self.name}' is {self.kind}: 'minimum' and 'maximum' are for numbers and dates")
        return self

    @property
    def between_items(self) -> str:
        """The separator of a set of items."""
        return self.separator or SEPARATOR

    @property
    def labels_of_values(self) -> dict[str, str]:
        """Those that are not of a missing code."""
        return {code: means for code, means in self.labels.items() if code not in self.missing_codes}

    @property
    def declared_items(self) -> tuple[str, ...] | None:
        """The items that a set may hold, where they are declared: by `items`, or as the leaves of the hierarchy.

        None for a variable that holds no sets.
        """
        if self.kind is not Kind.ITEMS or self.items is not None or self.hierarchy is None:
            return self.items
        return tuple(self.hierarchy.rows)

    def _refuse_incoherent_items(self) -> None:
        mark = self.between_items
        if mark.isalnum() or mark.isspace() or mark in '"\r\n':
            raise ValueError(f"'{self.name}': 'separator' must be a mark such as ';' or '|'; got {mark!r}")
        if self.categories is not None or self.harmless is not None:
            raise ValueError(f"'{self.name}' is items: 'categories' and 'harmless' are for single values; use 'items'")
        if self.items is not None and len(set(self.items)) != len(self.items):
            raise ValueError(f"'{self.name}' lists an item twice")
        groups = [] if self.hierarchy is None else [group for row in self.hierarchy.rows.values() for group in row]
        if any(mark in name for name in (*(self.declared_items or ()), *groups)):
            raise ValueError(
                f"'{self.name}': an item or a group of items holds the separator, {mark!r}; choose another"
            )
        meant: dict[str, frozenset[str]] = {}
        rows = {} if self.hierarchy is None else self.hierarchy.rows
        for level in range(0 if self.hierarchy is None else self.hierarchy.depth + 1):
            holds: dict[str, set[str]] = {}
            for leaf, groups_of_leaf in rows.items():
                holds.setdefault((leaf, *groups_of_leaf)[level], set()).add(leaf)
            if any(meant.setdefault(name, frozenset(held)) != held for name, held in holds.items()):
                raise ValueError(f"'{self.name}': a name in 'hierarchy' stands for different items at two levels")


Variables = Mapping[str, Variable]


def with_role(variables: Variables, role: Role) -> list[str]:
    """Names of the variables that have this role, in column order."""
    return [name for name, variable in variables.items() if variable.role is role]
