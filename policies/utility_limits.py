"""Utility limits: how much a masked file may have lost, and what it did lose."""

from collections.abc import Callable
from math import isfinite, isnan, nan
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from policies.original_and_masked import OriginalAndMasked
from policies.rules.rule import Share
from sluice.utility.cell_changes import CellChanges, cell_changes
from sluice.utility.comparable_columns import as_numbers, comparable_columns
from sluice.utility.entropy import entropies
from sluice.utility.information_loss import il1s
from sluice.utility.item_loss import item_loss
from sluice.utility.moments import moment_differences
from sluice.variables import NAMES, Kind
from sluice.verdict import Finding, Verdict


class Limit(BaseModel):
    """The largest loss that is tolerated; not binding means reported only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_most: float = Field(ge=0, allow_inf_nan=False)
    binding: bool = True


class ShareLimit(Limit):
    at_most: Share = Field(ge=0, description="share of the records, not percent")


class _Measured(NamedTuple):
    """One measure of one file: NaN when it could not be computed, and then `says` says why."""

    value: float
    says: str
    scope: str
    attempted: int
    completed: int
    written: Callable[[float], str]  # the limit, in the unit of `says`
    applicable: bool = True  # False: the file has too few variables of the kind that is compared


class UtilityLimits(BaseModel):
    """A limit for any of the measures; every measure is reported, with a limit or without."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean: Limit | None = Field(default=None, description="median shift of a mean, in standard deviations")
    variance: Limit | None = Field(default=None, description="median relative change of a variance")
    correlation: Limit | None = Field(default=None, description="median change of a correlation")
    rank_correlation: Limit | None = Field(default=None, description="median change of a rank correlation")
    il1s: Limit | None = Field(default=None, description="mean change of a value, in sqrt(2) standard deviations")
    changed_share: ShareLimit | None = Field(default=None, description="changed cells of the variable changed most")
    suppressed_share: ShareLimit | None = Field(
        default=None, description="suppressed cells of the variable with most of them"
    )
    entropy: ShareLimit | None = Field(default=None, description="share of its bits that a variable lost at most")
    item_penalty: ShareLimit | None = Field(
        default=None, description="of sets of items: mean share of all items that a released item stands for (NCP)"
    )
    items_left_out: ShareLimit | None = Field(default=None, description="of sets of items: occurrences left out")
    top_items: ShareLimit | None = Field(
        default=None, description="of sets of items: the 100 most frequent items and pairs that no longer are (tKd)"
    )
    pair_counts: Limit | None = Field(
        default=None, description="of sets of items: median relative error of the counts of pairs, 0 to 2"
    )

    def find(self, files: OriginalAndMasked) -> list[Finding]:
        """One finding for each measure, in the order of the fields, stage "utility".

        A measure within its limit passes, one beyond it fails, and one that could not be computed is `UNKNOWN`.
        Without a limit it is reported and does not decide; nor does one that the file gives no occasion for: of fewer
        than two numbers there is no correlation. Those of sets of items are for files that have any.
        """
        measured = _moments(files)
        measured["il1s"] = _il1s(files)
        measured |= _shares(files)
        measured["entropy"] = _entropy(files)
        measured |= _items(files)
        reported = [name for name in type(self).model_fields if name in measured or getattr(self, name) is not None]
        return [_finding(name, measured.get(name, _NO_SETS), getattr(self, name)) for name in reported]


def _finding(name: str, measure: _Measured, limit: Limit | None) -> Finding:
    if isnan(measure.value):
        verdict = Verdict.UNKNOWN if measure.applicable else Verdict.PASS
    else:
        verdict = Verdict.FAIL if limit is not None and measure.value > limit.at_most else Verdict.PASS
    allows = "no limit is set" if limit is None else f"the policy allows {measure.written(limit.at_most)}"
    return Finding(
        rule=name,
        verdict=verdict,
        stage="utility",
        scope=measure.scope,
        observed=measure.value if isfinite(measure.value) else None,
        limit=None if limit is None else limit.at_most,
        attempted=measure.attempted,
        completed=measure.completed,
        binding=limit is not None and limit.binding and measure.applicable,
        says=f"{measure.says}; {allows}.",
    )


def _number(value: float) -> str:
    return f"{value:.3g}" if isfinite(value) else "∞ (a constant variable was changed)"


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %" if isfinite(value) else _number(value)


def _moments(files: OriginalAndMasked) -> dict[str, _Measured]:
    names = comparable_columns(files.original, files.masked, files.variables, files.released)
    moments = moment_differences(as_numbers(files.original, names), as_numbers(files.masked, names))

    def measured(value: float, what: str, written: Callable[[float], str], unit: str = "", of: int = 1) -> _Measured:
        if len(names) < of:
            says = f"{what} are not compared: the file has {'one number' if names else 'no number'} to compare"
        elif isnan(value):
            says = f"{what} could not be compared: the two files have too few numeric variables or values in common"
        else:
            says = f"{what} moved by {written(value)}{unit} in the middle case, over {len(names):,} numeric variables"
        return _Measured(value, says, "", len(files.released), len(names), written, len(names) >= of)

    return {
        "mean": measured(moments.mean, "Averages", _number, " standard deviations"),
        "variance": measured(moments.variance, "Variances", _percent),
        "correlation": measured(moments.correlation, "Correlations", _number, of=2),
        "rank_correlation": measured(moments.rank_correlation, "Rank correlations", _number, of=2),
    }


def _il1s(files: OriginalAndMasked) -> _Measured:
    original, masked = files.original, files.masked
    names = comparable_columns(original, masked, files.variables, files.released)
    value = nan
    if not names:
        says = "How far single values moved is not measured: the file has no number to compare"
    elif not files.paired or len(original) != len(masked):
        why = "the two files have different numbers of records" if files.paired else "nobody said whose each row is"
        says = f"How far single values moved is not known: {why}"
    elif isnan(value := il1s(as_numbers(original, names), as_numbers(masked, names))):
        says = "How far single values moved is not known: the two files have no numeric value in common"
    else:
        says = f"A value moved by {_number(value)} on average (IL1s: in standard deviations, divided by the root of 2)"
    return _Measured(value, says, "", len(files.released), 0 if isnan(value) else len(names), _number, bool(names))


def _entropy(files: OriginalAndMasked) -> _Measured:
    expected = [
        name
        for name, variable in files.released.items()
        if name in files.variables and variable.kind is not Kind.TEXT and variable.role not in NAMES
    ]
    found = {name: entropies(files.original[name], files.masked[name], files.minimum_cell) for name in expected}
    compared = {name: each for name, each in found.items() if not isnan(each.lost)}
    if not expected or len(compared) < len(expected):
        says = "The loss of entropy is not known: not every variable has values that are frequent enough in both files"
        return _Measured(nan, says, "", len(expected), len(compared), _percent)
    worst = max(compared, key=lambda name: compared[name].lost)
    before, after, value = compared[worst].before, compared[worst].after, compared[worst].lost
    says = f"A variable lost at most {_percent(value)} of its entropy" + (
        f" ({worst}: {before:.2f} bits before, {after:.2f} after)" if value else ""
    )
    return _Measured(value, says, worst if value else "", len(expected), len(compared), _percent)


def _items(files: OriginalAndMasked) -> dict[str, _Measured]:
    """Of sets of items, the worst variable by each measure; nothing where the original has no sets."""
    expected = [name for name, variable in files.variables.items() if variable.kind is Kind.ITEMS]
    expected = [name for name in expected if name in files.released]
    if not expected:
        return {}
    aligned = files.paired and len(files.original) == len(files.masked)
    losses = {
        name: item_loss(files.original[name], files.masked[name], files.variables[name], files.released[name], aligned)
        for name in expected
        if files.released[name].kind is Kind.ITEMS
    }

    def measured(which: str, what: str, written: Callable[[float], str]) -> _Measured:
        known = {name: float(getattr(loss, which)) for name, loss in losses.items()}
        if len(known) < len(expected) or any(map(isnan, known.values())):
            says = f"{what.format('an unknown share')}: not every set could be compared"
            return _Measured(nan, says, "", len(expected), len(known), written)
        worst = max(known, key=lambda name: known[name])
        return _Measured(
            known[worst], f"{what.format(written(known[worst]))} ({worst})", worst, len(expected), len(known), written
        )

    return {
        "item_penalty": measured("penalty", "A released item stands for {} of all items on average", _percent),
        "items_left_out": measured("left_out", "Of the items of sets, {} were left out", _percent),
        "top_items": measured("top", "Of the most frequent items and pairs, {} are no longer among them", _percent),
        "pair_counts": measured(
            "pairs", "The count of a frequent pair of items is off by {} in the middle case", _number
        ),
    }


_NO_SETS = _Measured(nan, "Sets of items are not compared: the file has none", "", 0, 0, _number, False)


def _shares(files: OriginalAndMasked) -> dict[str, _Measured]:
    recoded, masked = files.recoded, files.masked
    changes: dict[str, CellChanges] = {}
    expected = [
        name for name in files.released if name in files.variables
    ]  # of a new variable no cell was changed or suppressed
    if not files.paired and len(recoded) and len(masked):
        # Without pairs, the missing values that the masked file has beyond the original's.
        changes = {
            name: CellChanges(nan, max(0.0, float(masked[name].isna().mean() - recoded[name].isna().mean())))
            for name in expected
            if name in recoded.columns
        }
    elif len(recoded) == len(masked) > 0:
        changes = {name: cell_changes(recoded[name], masked[name]) for name in expected if name in recoded.columns}

    def measured(which: str, done: str) -> _Measured:
        # The worst of some variables is not the worst of all: unless every one was compared, it is not known.
        if not expected or len(changes) < len(expected):
            says = f"The share of {done} cells is not known: not every variable could be compared record by record"
            return _Measured(nan, says, "", len(expected), len(changes), _percent)
        worst = max(changes, key=lambda name: float(getattr(changes[name], which)))
        value = float(getattr(changes[worst], which))
        if isnan(value):
            says = f"The share of {done} cells is not known: nobody said whose each row is"
            return _Measured(nan, says, "", len(expected), 0, _percent)
        says = f"At most {_percent(value)} of the cells of a variable were {done}" + (f" ({worst})" if value else "")
        return _Measured(value, says, worst if value else "", len(expected), len(changes), _percent)

    return {
        "changed_share": measured("changed", "changed"),
        "suppressed_share": measured("suppressed", "suppressed"),
    }
