"""Suppression at a node: which records must go so that the others satisfy every model, and whether that is allowed.

The records of a class that breaks a model by itself are suppressed. Then the others are compared with the file that is
left, where a model asks for that; the records of those that break it follow, and so on, until none is left that does. A
model of the whole file that is still broken may have further classes suppressed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.privacy_model import (
    NO_CLASS,
    WHOLE_FILE,
    PrivacyModel,
    ReleasedFile,
    SensitiveModel,
    Suppressed,
)


@dataclass(frozen=True)
class Requirements:
    """What a transformation must satisfy.

    models     : all of them
    limit      : the most records that may be suppressed
    suppressed : what becomes of them
    incomplete : the sensitive columns of which some records have no value
    overlapping : whether somebody has records in several classes, so that people of united classes do not add up
    """

    models: tuple[PrivacyModel, ...]
    limit: int
    suppressed: Suppressed
    incomplete: frozenset[str] = frozenset()
    overlapping: bool = False

    @classmethod
    def of(
        cls,
        models: Sequence[PrivacyModel],
        records: int,
        share: float,
        suppressed: Suppressed,
        incomplete: Iterable[str] = (),
        overlapping: bool = False,
    ) -> "Requirements":
        """share : of the records those that may be suppressed at most, 0 to 1; raises DataError outside, or without a
        model"""
        if not 0 <= share <= 1:
            raise DataError(
                f"the suppression limit must be a share of the records, 0 to 1; got {share:g}. Is it a percentage?"
            )
        if not models:
            raise DataError("a search needs at least one privacy model; got none.")
        return cls(tuple(models), int(share * records + 1e-9), suppressed, frozenset(incomplete), overlapping)

    @cached_property
    def certain(self) -> tuple[PrivacyModel, ...]:
        """The models of which what fails at a node fails at every node below it."""
        models = [model for model in self.models if not (self.overlapping and isinstance(model, SensitiveModel))]
        if not self.limit:
            return tuple(model for model in models if model.monotone)
        return tuple(
            model
            for model in models
            if model.monotone_with_suppression
            # A class without values breaks nothing, until it is united with one whose values do.
            and not (isinstance(model, SensitiveModel) and model.sensitive in self.incomplete)
        )

    @cached_property
    def others(self) -> tuple[tuple[PrivacyModel, ...], tuple[PrivacyModel, ...]]:
        """All other models: those on a class alone, and those that compare it with what is left of the file."""
        others = [model for model in self.models if model not in self.certain]
        if self.suppressed in WHOLE_FILE:
            return tuple(others), ()
        return tuple(one for one in others if not one.compares), tuple(one for one in others if one.compares)


@dataclass(frozen=True)
class Failure:
    """A model that a node breaks, and how many records lie in classes that break it."""

    model: PrivacyModel
    records: int


@dataclass(frozen=True)
class Suppression:
    """What a node needs.

    hidden   : shape (c,), the classes whose records are suppressed, as far as was looked
    certain  : shape (c,), those of them whose records are suppressed at every node below, too
    records  : how many records `hidden` has
    over     : whether this node, and so every node below it, breaks a model whatever is suppressed, or needs more
               suppression than is allowed
    feasible : whether the limit allows it and the file satisfies every model
    """

    hidden: BoolArray
    certain: BoolArray
    records: int
    over: bool
    feasible: bool


def certain_suppression(node: Node, requirements: Requirements) -> tuple[BoolArray, bool]:
    """Shape (c,), the classes whose records are suppressed at this node and every one below it, and whether all of
    these are ruled out. Cost: that of the models in `certain`."""
    file = ReleasedFile(node, np.ones(len(node.sizes), dtype=np.bool_), requirements.suppressed)
    certain = ~file.kept
    for model in requirements.certain:
        certain |= model.failing(file)
    over = int(node.sizes[certain].sum()) > requirements.limit or (
        not requirements.limit and any(model.file_fails(file) for model in requirements.certain)
    )
    return certain, over


def failing_alone(node: Node, requirements: Requirements, certain: BoolArray) -> tuple[BoolArray, IntArray]:
    """Shape (c,), the classes that break a model of those that ask a class alone; and how many records of each class
    are suppressed at this node and every one below it, at least. Cost: that of these models.

    certain : the classes of which all are

    A class may break such a model here, and parts of it satisfy it below. But the parts that stay are, together, no
    further from the file than the model allows, which bounds how many records they have.
    """
    file = ReleasedFile(node, np.ones_like(certain), requirements.suppressed)
    failing, lost = np.zeros_like(certain), np.where(certain, node.sizes, 0)
    for model in requirements.others[0]:
        broken = model.failing(file)
        failing |= broken
        if node.having or requirements.suppressed not in WHOLE_FILE or not isinstance(model, SensitiveModel):
            continue
        asked = broken & ~certain
        if (crowding := model.crowding) and asked.any():
            from sluice.generalization.lattice.node_kernel import crowded_out  # compiled code, loaded where needed

            of = node.histograms[model.sensitive]
            lost = np.maximum(lost, crowded_out(of.start, of.value, of.records, of.shares, *crowding, asked))
    return failing, lost


def suppression(
    node: Node,
    requirements: Requirements,
    found: tuple[BoolArray, bool] | None = None,
    apart: BoolArray | None = None,
    hopeless: Callable[[BoolArray], bool] = lambda hidden: False,
) -> Suppression:
    """Which classes are suppressed at the node. Cost: the models', as many times as more classes fail.

    found    : what `certain_suppression` is, where somebody asked already
    apart    : the same of the classes of `failing_alone`
    hopeless : whether nobody wants the node once these classes are suppressed, and others perhaps; it ends there
    """
    models, limit = requirements.models, requirements.limit
    certain, over = certain_suppression(node, requirements) if found is None else found
    if over:
        return Suppression(certain, certain, int(node.sizes[certain].sum()), over=True, feasible=False)
    alone, comparing = requirements.others
    kept = ~certain & ~(failing_alone(node, requirements, certain)[0] if apart is None else apart)
    file = ReleasedFile(node, kept, requirements.suppressed)
    while file.hidden <= limit:
        failing = np.zeros_like(kept)
        for model in comparing:
            failing |= model.failing(file)
        failing &= kept
        if not failing.any():
            for model in (*alone, *comparing):
                failing |= model.relief(file)
        if not failing.any():
            break
        kept = kept & ~failing
        file = ReleasedFile(node, kept, requirements.suppressed)
        if hopeless(~kept):
            return Suppression(~kept, certain, file.hidden, over=False, feasible=False)
    records = file.hidden
    feasible = records <= limit and not (
        (file.hidden_class and any(model.hidden_class_fails(file) for model in models))
        or (requirements.suppressed != "released" and records == node.records)
        or any(model.file_fails(file) for model in models)
        or (requirements.suppressed == "without_keys" and records and _broken_without_keys(node, ~kept, models))
    )
    return Suppression(~kept, certain, records, over=False, feasible=feasible)


def _broken_without_keys(node: Node, hidden: BoolArray, models: Iterable[PrivacyModel]) -> bool:
    """Whether the file breaks a model in which the records of hidden classes show no key, and so are one class."""
    together = hidden.copy()
    if node.unknown != NO_CLASS:
        together[node.unknown] = True
    into = np.where(together, 0, np.cumsum(~together))
    classes, first = np.unique(into, return_index=True)
    count = len(classes)
    groups = [len(key.leaves[level]) for key, level in zip(node.keys, node.levels, strict=True)]
    released = replace(
        node.united(into, count),
        # What a class shows is taken for a value: how coarse it is was looked at before.
        keys=tuple(Key(key.name, np.arange(of_key)[None]) for key, of_key in zip(node.keys, groups, strict=True)),
        levels=(0,) * len(node.keys),
        words=node.words[first],
        unknown=0,
    )
    file = ReleasedFile(released, np.ones(count, dtype=np.bool_), "ignored")
    return any(model.failing(file).any() or model.file_fails(file) for model in models)


def failures(node: Node, requirements: Requirements) -> tuple[Failure, ...]:
    """Which models the node breaks, each by itself when nothing is suppressed; first those that fail most records."""
    whole = ReleasedFile(node, np.ones(len(node.sizes), dtype=np.bool_), requirements.suppressed)
    found = []
    for model in requirements.models:
        records = node.records if model.file_fails(whole) else int(node.sizes[model.failing(whole)].sum())
        if records:
            found.append(Failure(model, records))
    return tuple(sorted(found, key=lambda failure: -failure.records))


@dataclass(frozen=True)
class Refinement:
    """The transformation one level finer in one key: why it was not taken.

    failures   : the models that it breaks, with the records of the classes that do so when nothing is suppressed
    suppressed : the records that it would suppress, as far as was looked: no further once the limit is passed
    feasible   : whether it may be released; it then loses more, by the suppressed records
    value      : its loss where it is feasible, else None
    """

    key: str
    levels: tuple[int, ...]
    failures: tuple[Failure, ...]
    suppressed: int
    feasible: bool
    value: float | None


@dataclass(frozen=True)
class Solution:
    """The best transformation that was found.

    levels             : the level of each key
    value              : its loss
    bound              : no transformation that satisfies the models loses less; equal to `value` when the search ended
    optimal            : whether none loses less
    checked, nodes     : how many transformations were looked at, of how many
    suppressed_records : shape (n,), the records that are suppressed
    frontier           : for each key that is generalised, the transformation one level finer in it
    """

    levels: tuple[int, ...]
    value: float
    bound: float
    optimal: bool
    checked: int
    nodes: int
    suppressed_records: BoolArray
    frontier: tuple[Refinement, ...]

    @property
    def suppressed(self) -> int:
        """How many records are suppressed."""
        return int(self.suppressed_records.sum())

    @property
    def excess(self) -> float:
        """By what share of the best possible loss this one may exceed it at most; 0 when it is optimal."""
        if self.value <= self.bound:
            return 0.0
        return self.value / self.bound - 1 if self.bound > 0 else float("inf")
