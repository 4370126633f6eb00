"""Redrawing: records that a step made impossible are drawn again, until they keep the rules of the contract.

Perturbed values must satisfy the edit rules of a survey. Each record is drawn from the step's own distribution under
the condition that its rules hold. The original value is never put back: it may be drawn again, as it might have been
before, and nobody can tell. A rule is kept by the last step that masks a variable of it: a step that drew until its
values went with those that are still to be masked would tell these. Records whose originals break the rule are drawn
again, too: they alone would be impossible in the masked file, and so be known. A method that treats records together (a
swap, a group mean, fixed moments) would lose what it promises if some of them were drawn anew. What it breaks is found
in the masked file and needs a decision.

Source: Shlomo and de Waal (2008) on PRAM and noise under edit constraints.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.frame_columns import with_columns
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Variables
from sluice.masking.masking_step import MaskingStep, RecordDraws

# Whoever is left impossible is known to have what is hard to mend: with a retention of 0.9, one in 40,000.
_TURNS = 100
_IN_VAIN = 5  # turns after which it is given up, if none of the records was mended: an equation between numbers
_NO_MORE = 20  # turns in a row that mended nobody, if others were before

Draw = Callable[[RecordDraws | None], pd.DataFrame]


def rules_on(
    step: MaskingStep,
    rules: Sequence[RecordRule],
    original: Variables,
    variables: Variables,
    later: Sequence[MaskingStep],
) -> tuple[RecordRule, ...]:
    """The rules that the step can keep, by drawing again where it draws each record by itself: on what it masks, of
    variables none of which was taken out or recoded to other categories before, and none is masked by a later step.

    original : the variables that the rules were written for
    """
    to_come = {name for each in later for name in each.columns}

    def as_before(name: str) -> bool:
        before, now = original.get(name), variables.get(name)
        if before is None or now is None:
            return False
        if before.kind.is_numeric:
            return now.kind.is_numeric
        return (before.kind, before.categories) == (now.kind, now.categories)

    if not step.keeps_rules:
        return ()
    return tuple(
        rule
        for rule in rules
        if {*rule.columns} & {*step.columns} and not {*rule.columns} & to_come and all(map(as_before, rule.columns))
    )


def correction(step: MaskingStep, rules: Sequence[RecordRule]) -> str:
    """What whoever analyses the masked variables has to allow for, records that were drawn again among it."""
    if not step.keeps_rules or not any({*rule.columns} & {*step.columns} for rule in rules):
        return step.correction()
    return (
        f"{step.correction()} Records that would have become impossible were drawn again, so that near a rule between "
        "variables (whoever is under 15 is not married) all this holds only roughly."
    )


def redrawn(
    step: MaskingStep,
    masked: pd.DataFrame,
    rules: Sequence[RecordRule],
    draw: Draw,
    draws: RecordDraws | None = None,
    member_of: IntArray | None = None,
) -> pd.DataFrame:
    """`masked`, where records that break a rule have other draws; some may be left that no draw mended.

    masked    : length n
    draw      : the step on all of what it masked, once more; by these draws of the records, where they have their own
    member_of : shape (n,), the household of each record, where all members are drawn together
    cost      : that of the step and its rules, at most 100 times, most often a few
    """
    if not rules:
        return masked
    wrong = _together(broken(rules, masked), member_of)
    left = at_first = int(wrong.sum())
    in_vain = 0
    for turn in range(1, _TURNS + 1):
        if left == 0 or in_vain == (_IN_VAIN if left == at_first else _NO_MORE):
            break
        again = draw(None if draws is None else replace(draws, step=f"{draws.step}\0{turn}"))
        columns = {name: masked[name].where(~wrong, again[name]) for name in step.columns}
        masked = with_columns(masked, columns)
        wrong = _together(broken(rules, masked), member_of)
        in_vain = 0 if wrong.sum() < left else in_vain + 1
        left = int(wrong.sum())
    return masked


def broken(rules: Sequence[RecordRule], frame: pd.DataFrame) -> BoolArray:
    """The records that break any of the rules, shape (n,)."""
    return np.asarray(~np.logical_and.reduce([rule.holds(frame) for rule in rules]))


def _together(wrong: BoolArray, member_of: IntArray | None) -> BoolArray:
    """With everybody of the household of a record that is wrong."""
    return wrong if member_of is None else np.asarray((np.bincount(member_of, wrong) > 0)[member_of])
