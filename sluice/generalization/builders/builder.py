"""What every builder of a hierarchy is: parameters that a contract writes, and the groups that follow from them.

A builder sees what a contract declares and no record, so that a hierarchy tells nothing about one: its leaves are the
declared domain of a variable, every value that the contract allows.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DocumentError
from sluice.ground.hierarchy import ROOT, Hierarchy
from sluice.ground.values import moment
from sluice.ground.variables import Kind, Variable

MOST_LEAVES = 100_000
Bound = TypeVar("Bound", float, int)
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")

Groups = Sequence[str]
"""The group of each leaf at one level, in the order of the leaves."""

Levels = Sequence[Groups]
"""The groups of each level above the leaves, from the narrowest."""


class HierarchyBuilder(BaseModel, ABC):
    """The parameters of one builder; the first field names it in a contract."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: ClassVar[tuple[Kind, ...]]
    """Of the variables whose values it groups."""

    @classmethod
    def key(cls) -> str:
        """The key by which a contract asks for this builder."""
        return next(iter(cls.model_fields))

    def build(self, variable: Variable) -> Hierarchy:
        """The hierarchy over the declared domain of a variable; above several widest groups stands '*'.

        raises : DocumentError for a kind that the builder does not treat, an undeclared domain, and what `grouped` says
        cost   : O(leaves x levels)
        """
        if variable.kind not in self.kinds:
            raise DocumentError(
                f"hierarchy by {self.key()} is for {', '.join(self.kinds)} variables; '{variable.name}' is "
                f"{variable.kind}. Write it by another key (docs/hierarchies.md), or leave it out"
            )
        leaves = self.leaves(variable)
        return hierarchy_of(variable.name, leaves, self.grouped(variable, leaves))

    def leaves(self, variable: Variable) -> tuple[str, ...]:
        """The values that are grouped. Raises DocumentError."""
        return declared_values(variable)

    @abstractmethod
    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        """The groups of the leaves. Raises DocumentError."""


def hierarchy_of(name: str, leaves: Sequence[str], levels: Levels) -> Hierarchy:
    """The hierarchy with these groups, and '*' above them where the widest level has several.

    raises : DocumentError for levels that are not nested
    """
    if not levels or len(set(levels[-1])) > 1:
        levels = [*levels, [ROOT] * len(leaves)]
    try:
        return Hierarchy(rows=dict(zip(leaves, zip(*levels, strict=True), strict=True)))
    except ValidationError as error:
        says = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DocumentError(f"hierarchy of '{name}': {says}") from None


def declared_values(variable: Variable) -> tuple[str, ...]:
    """The categories, the whole numbers from minimum to maximum, or the days from minimum to maximum, in their order.

    raises : DocumentError for a kind whose values cannot be listed, a domain that is not declared, and one of more than
             MOST_LEAVES values
    cost   : O(values)
    """
    if variable.kind.is_categorical:
        if not variable.categories:
            raise DocumentError(
                f"'{variable.name}' has no categories: a hierarchy is built over declared ones. Declare them, or name "
                "a file that lists all of them."
            )
        return variable.categories
    if variable.kind is Kind.INTEGER:
        smallest, largest = _bounds(variable, float, "a number")
        first, last = math.ceil(smallest), math.floor(largest)
        _refuse_unlistable(variable, last - first + 1)
        return tuple(map(str, range(first, last + 1)))
    if variable.kind is Kind.DATE:
        begin, end = _bounds(variable, _day, "an ISO date such as 2024-12-31")
        _refuse_unlistable(variable, end - begin + 1)
        return tuple(np.arange(begin, end + 1).astype("datetime64[D]").astype(str).tolist())
    raise DocumentError(
        f"'{variable.name}' is {variable.kind}: its values cannot be listed, as the leaves of a hierarchy must be. "
        "Numbers without end are cut by the bins of global_recoding."
    )


def whole_numbers(variable: Variable, leaves: tuple[str, ...]) -> IntArray:
    """The leaves as numbers, shape (leaves,). Raises DocumentError, with a count, unless all are whole numbers."""
    others = sum(not _WHOLE.fullmatch(leaf) for leaf in leaves)
    if others:
        raise DocumentError(
            f"'{variable.name}': intervals need whole numbers; {others} of {len(leaves)} declared values are not "
            "whole numbers"
        )
    return np.array([int(leaf) for leaf in leaves], dtype=np.int64)


def _day(text: str) -> int:
    """Days since 1 January 1970. Raises ValueError."""
    return int(np.datetime64(moment(text).date(), "D").astype(np.int64))


def _bounds(variable: Variable, read: Callable[[str], Bound], wanted: str) -> tuple[Bound, Bound]:
    if variable.minimum is None or variable.maximum is None:
        raise DocumentError(f"'{variable.name}' needs minimum and maximum: a hierarchy lists every value between them")
    try:
        return read(str(variable.minimum)), read(str(variable.maximum))
    except (ValueError, OverflowError):
        raise DocumentError(f"'{variable.name}': 'minimum' and 'maximum' must each be {wanted}") from None


def _refuse_unlistable(variable: Variable, values: int) -> None:
    if values < 1:
        raise DocumentError(f"'{variable.name}': 'minimum' is above 'maximum'")
    if values > MOST_LEAVES:
        raise DocumentError(
            f"'{variable.name}' has {values:,} values from minimum to maximum; a hierarchy lists at most "
            f"{MOST_LEAVES:,}. Round the variable, or cut it by the bins of global_recoding."
        )
