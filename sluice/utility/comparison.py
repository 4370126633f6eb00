"""Comparison: the files that a masked file is judged by, for attacks, the reference standard and utility."""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from sluice.ground.comparable_values import plain_values
from sluice.ground.frame_columns import with_columns
from sluice.ground.record_rule import RecordRule
from sluice.ground.released_values import released_as
from sluice.ground.variables import Role, Variable, Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import Block
from sluice.masking.plan import ByStratum
from sluice.risk.people_of_records import groups_of_people, person_variable
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.cell_changes import cell_changes, changed_cells, changed_in_few, tells_of_few
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.utility.continuous.released_numbers import ReleasedNumbers, released_numbers
from sluice.utility.folds import Fold, folds
from sluice.utility.record_weights import UNWEIGHTED, Weights, effective_records, record_weights


@dataclass(frozen=True)
class Comparison:
    """A masked file, the original behind it, and what else is needed to judge one by the other.

    original : the records at risk, typed by `variables`, index 0..n-1
    recoded  : the same records in the same order after the recodings of the plan alone, typed by `released`: what an
               intruder makes of the original who knows the published categories
    masked   : typed by `released`; with `paired`, row i is the masked record of row i of `original`
    holdout  : other people of the same population, typed by `variables`; None when none were set aside
    recoded_holdout : the same after the recodings of the plan alone, typed by `released`
    rng      : for sampling; the same release draws the same
    paired   : False for a file whose rows belong to nobody, such as a synthetic one, or whose order is unknown
    unit     : what a record is, in the plural and in the reader's words
    carried_out : the steps that masked the file, with the thresholds read off the data; None where nobody said
    minimum_cell : no count of records below this is reported
    blocks : variables that left their records together, and for each row of `original` the row of `masked` that holds
               its values of them, -1 where none does
    knowledge : who knows which variables of a person, as the contract names them
    numbers_alone : whether the contract says that every variable is a measured number, and none a quasi-identifier
    analyses : what the submitter wants to see done with both files, beside what the policy asks for
    record_rules : conditions over values of one record that the original keeps, as the contract names them
    undeclared : variables whose categories were found in the data: no contract lists them, so they form no subgroups
    left_out : original records that a sample left out, and the same after the recodings alone: they are at no risk, and
               lost to whoever analyses the file. None: nobody was left out
    """

    original: pd.DataFrame
    recoded: pd.DataFrame
    masked: pd.DataFrame
    holdout: pd.DataFrame | None
    variables: Variables
    released: Variables
    rng: np.random.Generator
    recoded_holdout: pd.DataFrame | None = None
    paired: bool = True
    unit: str = "records"
    minimum_cell: int = 10

    @property
    def masked_with_people(self) -> tuple[pd.DataFrame, dict[str, Variable]]:
        """The masked file with the person of each record beside it, and its variables; without pairs as it is."""
        variables = dict(self.released)
        person = person_variable(self.original, self.variables)
        if not self.paired or person is None or person in self.masked:
            return self.masked, variables
        return with_columns(self.masked, {person: self.original[person]}), variables | {person: self.variables[person]}

    knowledge: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numbers_alone: bool = False
    carried_out: Sequence[MaskingStep | ByStratum] | None = None
    blocks: Sequence[Block] = ()
    left_out: tuple[pd.DataFrame, pd.DataFrame] | None = None
    record_rules: Sequence[RecordRule] = ()
    undeclared: frozenset[str] = frozenset()
    analyses: Analyses = field(default_factory=Analyses)

    @cached_property
    def as_fold(self) -> Fold:
        """The file with those who were set aside. Raises ValueError where nobody was."""
        if self.holdout is None or self.recoded_holdout is None:
            raise ValueError("nobody was set aside")
        own, theirs = (groups_of_people(each, self.variables) for each in (self.original, self.holdout))
        units = own, theirs + own.max(initial=-1) + 1
        return Fold(self.recoded, self.masked, self.recoded_holdout, units)

    @cached_property
    def folds(self) -> Sequence[Fold]:
        """The file, and files that its plan makes of other parts of the people; the file alone where no plan is known.
        Raises ValueError where nobody was set aside."""
        if self.carried_out is None or self.holdout is None:
            return (self.as_fold,)
        files = self.original, self.holdout
        return folds(self.as_fold, files, self.variables, self.carried_out, self.record_rules, self.rng)

    @cached_property
    def common_bins(self) -> tuple[CommonBins, ...]:
        """Original and masked values on common bins of the unrecoded original, but for the weights of the records."""
        return self._bins(self.original, self.recoded)

    @cached_property
    def released_numbers(self) -> ReleasedNumbers:
        """Every number of the unrecoded original beside what the masked file tells of it; weights, too."""
        return released_numbers(self.original, self.recoded, self.masked, self.variables, self.released)

    @cached_property
    def bins_of_all(self) -> tuple[CommonBins, ...]:
        """As `common_bins`, of the original with those that a sample left out, so that sampling counts as loss."""
        if self.left_out is None:
            return self.common_bins
        files = zip((self.original, self.recoded), self.left_out, strict=True)
        return self._bins(*(pd.concat(parts, ignore_index=True) for parts in files))

    def _bins(self, original: pd.DataFrame, recoded: pd.DataFrame) -> tuple[CommonBins, ...]:
        described = {name: each for name, each in self.variables.items() if each.role is not Role.WEIGHT}
        found = common_bins(original, recoded, self.masked, described, self.released)
        return tuple(each.lost_if_constant for each in found)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Names of the original's variables of which the masked file tells something, in the order of `bins_of_all`."""
        lost = {each.name for bins in (self.common_bins, self.bins_of_all) for each in bins if each.is_lost}
        return tuple(each.name for each in self.bins_of_all if each.name in self.told_of - lost)

    @cached_property
    def weights_of_all(self) -> Weights:
        """As `weights`, of the records of `bins_of_all`."""
        weight, masked = self.weights
        more = None if self.left_out is None else record_weights(self.left_out[0], self.variables)
        return weight if weight is None or more is None else np.concatenate([weight, more]), masked

    @cached_property
    def told_of(self) -> frozenset[str]:
        """Names of the original's variables that were released, as values or as distributions over them."""
        return frozenset(name for name in self.variables if released_as(name, self.variables, self.released))

    @cached_property
    def of_few(self) -> frozenset[str]:
        """Released variables of which a comparison of the two files would tell the values of a few people."""
        numbers = self.released_numbers
        paired = self.paired and len(self.original) == len(self.masked)
        few = tells_of_few(
            numbers.original, numbers.masked, self.minimum_cell, paired_records=paired, weight=self.weights[0]
        )
        found = {name for name, tells in zip(numbers.names, few.tolist(), strict=True) if tells}
        found |= {name for name in self.released if self._changed_in_few(name)}
        if self.few_weigh or any(self.variables[name].role is Role.WEIGHT for name in found & {*self.variables}):
            found |= self.told_of  # every weighted figure is about these few
        return frozenset(found - {*numbers.removed})

    @cached_property
    def few_weigh(self) -> bool:
        """Whether effectively fewer records than the minimum cell, but some, make up all that is weighted."""
        weights = [weight for weight in self.weights if weight is not None and weight.any()]
        return any(effective_records(weight, len(weight)) < self.minimum_cell for weight in weights)

    @cached_property
    def only_of_few(self) -> bool:
        """Whether nothing else of the released variables was changed, so that every comparison tells of these few."""
        others = self.told_of - self.of_few
        return bool(self.of_few) and all(self._is_unchanged(name) for name in others)

    def _is_unchanged(self, name: str) -> bool:
        if name not in self.original or name not in self.masked:
            return False
        before, after = (plain_values(file[name]) for file in (self.original, self.masked))
        if len(before) != len(after):
            return False
        if not self.paired:
            before, after = (np.sort(values.astype(str)) for values in (before, after))
        return bool(((before == after) | (pd.isna(before) & pd.isna(after))).all())

    def _changed_in_few(self, name: str) -> bool:
        """Whether fewer cells of a category than the minimum, but some, were changed or blanked after recoding."""
        if not len(self.masked) or name not in self.recoded or name not in self.masked:
            return False
        if self.paired and len(self.recoded) == len(self.masked):
            changes = cell_changes(self.recoded[name], self.masked[name])
            return changed_in_few(changes, len(self.masked), self.minimum_cell) or self._few_weigh_of(name)
        if not self.released[name].kind.is_categorical:
            return False
        before, after = (file[name].astype(str).value_counts() for file in (self.recoded, self.masked))
        moved = before.sub(after, fill_value=0).to_numpy(np.float64)
        return bool(0 < max(np.maximum(moved, 0).sum(), np.maximum(-moved, 0).sum()) < self.minimum_cell)

    def _few_weigh_of(self, name: str) -> bool:
        """Whether effectively fewer records than the minimum, but some, make up what changed of a variable."""
        weight = self.weights[0]
        if weight is None:
            return False
        weight = weight[changed_cells(self.recoded[name], self.masked[name])]
        return bool(weight.any()) and effective_records(weight, len(weight)) < self.minimum_cell

    @cached_property
    def weights(self) -> Weights:
        """What each original and each masked record weighs, where the contract and the released file say so."""
        return record_weights(self.original, self.variables), record_weights(self.masked, self.released)

    @property
    def lost_weight(self) -> str | None:
        """The original's weight, where the masked file has none."""
        if any(each.role is Role.WEIGHT for each in self.released.values()):
            return None
        return next((name for name, each in self.variables.items() if each.role is Role.WEIGHT), None)

    @property
    def unweighted(self) -> Self | None:
        """The same files, where each record counts once: with the same draws, and of the same few people nothing is
        told; None where no record has a weight."""
        if all(weight is None for weight in self.weights):
            return None
        for name in ("of_few", "only_of_few", "few_weigh"):
            getattr(self, name)  # whoever may not be told of by weighted figures may not be by their twins
        other = self.drawing(deepcopy(self.rng))
        vars(other).update(weights=UNWEIGHTED, weights_of_all=UNWEIGHTED)
        return other

    def drawing(self, rng: np.random.Generator) -> Self:
        """The same files with what was worked out of them so far; what is drawn is drawn from `rng`."""
        other = copy(self)
        object.__setattr__(other, "rng", rng)
        return other

    def of_block(self, block: Block) -> Self:
        """The same files with row i of `masked` the record that holds the block of row i of `original`; whose block a
        sample left out is not among them."""
        kept = np.flatnonzero(block.rows >= 0)
        return replace(
            self,
            original=self.original.iloc[kept].reset_index(drop=True),
            recoded=self.recoded.iloc[kept].reset_index(drop=True),
            masked=self.masked.iloc[block.rows[kept]].reset_index(drop=True),
            blocks=(),
        )
