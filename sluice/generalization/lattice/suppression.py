"""Suppression at a node: which records must go so that the others satisfy every model, and whether that is allowed.

The records of a class that breaks a model are suppressed. Others may break one then, since the file that a class is
compared with has changed; theirs follow, until none is left that breaks any. Then a model of the whole file that is
still broken may have further classes suppressed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sluice.arrays import BoolArray
from sluice.errors import DataError
from sluice.generalization.lattice.node import Node
from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile, Suppressed


@dataclass(frozen=True)
class Requirements:
    """What a transformation must satisfy.

    models     : all of them
    limit      : the most records that may be suppressed
    suppressed : what becomes of them
    """

    models: tuple[PrivacyModel, ...]
    limit: int
    suppressed: Suppressed

    @classmethod
    def of(cls, models: Sequence[PrivacyModel], records: int, share: float, suppressed: Suppressed) -> "Requirements":
        """share : of the records those that may be suppressed at most, 0 to 1; raises DataError outside, or without a
        model"""
        if not 0 <= share <= 1:
            raise DataError(
                f"the suppression limit must be a share of the records, 0 to 1; got {share:g}. Is it a percentage?"
            )
        if not models:
            raise DataError("a search needs at least one privacy model; got none.")
        return cls(tuple(models), int(share * records + 1e-9), suppressed)

    @cached_property
    def certain(self) -> tuple[PrivacyModel, ...]:
        """The models of which what fails at a node fails at every node below it."""
        return tuple(
            model for model in self.models if (model.monotone_with_suppression if self.limit else model.monotone)
        )

    @cached_property
    def others(self) -> tuple[PrivacyModel, ...]:
        """All other models."""
        return tuple(model for model in self.models if model not in self.certain)


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


def suppression(node: Node, requirements: Requirements) -> Suppression:
    """Which classes are suppressed at the node. Cost: the models', as many times as more classes fail."""
    models, limit = requirements.models, requirements.limit
    kept = np.ones(len(node.sizes), dtype=np.bool_)
    file = ReleasedFile(node, kept, requirements.suppressed)
    certain = ~kept
    for model in requirements.certain:
        certain |= model.failing(file)
    records = int(node.sizes[certain].sum())
    if records > limit or (not limit and any(model.file_fails(file) for model in requirements.certain)):
        return Suppression(certain, certain, records, over=True, feasible=False)
    kept = ~certain
    file = ReleasedFile(node, kept, requirements.suppressed)
    while requirements.others:
        failing = np.zeros_like(kept)
        for model in requirements.others:
            failing |= model.failing(file)
        failing &= kept
        if not failing.any():
            for model in requirements.others:
                failing |= model.relief(file)
        if not failing.any():
            break
        kept = kept & ~failing
        file = ReleasedFile(node, kept, requirements.suppressed)
        if file.hidden > limit:
            break
    records = file.hidden
    feasible = records <= limit and not (
        (file.hidden_class and any(model.hidden_class_fails(file) for model in models))
        or (requirements.suppressed != "released" and records == node.records)
        or any(model.file_fails(file) for model in models)
    )
    return Suppression(~kept, certain, records, over=False, feasible=feasible)


def failures(node: Node, requirements: Requirements) -> tuple[Failure, ...]:
    """Which models the node breaks, each by itself when nothing is suppressed; first those that fail most records."""
    whole = ReleasedFile(node, np.ones(len(node.sizes), dtype=np.bool_), requirements.suppressed)
    found = []
    for model in requirements.models:
        records = node.records if model.file_fails(whole) else int(node.sizes[model.failing(whole)].sum())
        if records:
            found.append(Failure(model, records))
    return tuple(sorted(found, key=lambda failure: -failure.records))
