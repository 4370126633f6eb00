"""Hidden names: released columns that tell nothing but who is who, under a function that nobody told."""

from typing import Any

import numpy as np
import pandas as pd

from policies.reported_shares import disclosed_share
from sluice.ground.arrays import IntArray
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import NAMES, Kind
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.transparency import unexamined
from sluice.risk.reference.idle_columns import alone_share, idle_columns, is_drawn_alike, is_tied
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "hidden_names",
    by_plan="The plan says how every released value was made.",
    none="No released columns have a different value for most records and are unrelated to all others.",
    found="{share:Percent} of the {unit} are alone with their {names:listed}, which is unrelated to all other "
    "variables: it may name people under a secret function, which can be learned from a few known people.",
)

HIDDEN_NAMES = (
    Declaration(
        "hidden_names",
        about="Hidden names: columns of a file masked elsewhere that are different for nearly everybody and tell "
        "nothing of the others, such as a number of the case, encrypted.",
        asks="No released columns together name most of the people and tell nothing of any other variable, unless they "
        "are the original ones, perturbed, or drawn as these are distributed.",
        helps="Remove the columns that the finding names: nobody can analyse what goes with nothing. If they are "
        "measurements, let the owner of the policy state in a waiver what they measure.",
        source="Source: Article 29 Data Protection Working Party (2014), section 4.",
    ),
)

_MOST = 0.5  # of the records are alone with their values
_RECORDS = 5_000  # that are looked at for what goes with what
_FEWEST = 200


def judge_hidden_names(files: Comparison) -> list[Finding]:
    """REVIEW for columns that tell nothing and name most people; of a file whose methods are known there are none.

    A released column is excused that is its original one in another form (with pairs), or whose values are the
    original's, or distributed like these: permuted, or drawn from a model.
    """
    if files.carried_out is not None and not unexamined(files.carried_out):
        return [_finding(Verdict.PASS, None, len(files.masked), _SAYS.by_plan())]
    names = [
        name
        for name, variable in files.released.items()
        if name in files.masked and variable.role not in NAMES and variable.kind is not Kind.ITEMS
    ]
    records = len(files.masked)
    if records < _FEWEST or len(names) < 2:
        return [_finding(Verdict.PASS, None, records, _SAYS.none())]
    some = np.sort(files.rng.choice(records, min(records, _RECORDS), replace=False))
    sample = {name: files.masked[name].iloc[some] for name in names}
    idle = idle_columns(sample)
    left = [
        name
        for name in names
        if name in idle and not (name in files.original and _is_excused(files, name, sample[name], some))
    ]
    left = _fewest(files, left)
    share = alone_share(files.masked, left) if left else 0.0
    if share < _MOST:
        return [_finding(Verdict.PASS, None, records, _SAYS.none())]
    said = disclosed_share(share, records, files.minimum_cell)
    return [_finding(Verdict.REVIEW, share, records, _SAYS.found(share=said, unit=files.unit, names=left))]


def _is_excused(files: Comparison, name: str, sample: "pd.Series[Any]", rows: IntArray) -> bool:
    if files.paired and is_tied(sample, files.original[name].iloc[rows]):
        return True
    return is_drawn_alike(files.masked[name], files.original[name])


def _fewest(files: Comparison, names: list[str]) -> list[str]:
    """Of these columns those of most values, as many as it takes to name most people; else all that vary."""
    values = {name: files.masked[name].nunique() for name in names}
    ordered = sorted((name for name in names if values[name] > 1), key=lambda name: -values[name])
    for count in range(1, len(ordered)):
        if alone_share(files.masked, ordered[:count]) >= _MOST:
            return ordered[:count]
    return ordered


def _finding(verdict: Verdict, share: float | None, records: int, says: Saying) -> Finding:
    return Finding(
        rule="hidden_names", verdict=verdict, stage="reference", observed=share, limit=_MOST, attempted=records,
        completed=records, **as_fields(says),
    )  # fmt: skip
