"""Attribute inference: how much better a person's sensitive value is guessed because the person is in the file.

A random forest learns from the masked file how the sensitive variable follows from what an intruder knows, and guesses
the original people's values. The same forest learns from a file that the person is not in: a holdout, or the original
without the fold of the person and the household (cross-fitting). What it reaches there is what the population tells of
everybody; only the excess is the price of taking part.

Source: the comparison is that of Lasko and Vinterbo (2010), section II.A, with prediction of one attribute in place of
its distances; Breiman (2001). The interval of the excess is that of matched pairs, by whole households.

Masking makes the masked file the worse teacher of the two, so a negative excess is the rule and no fault of the attack.
Whether the attack can see anything at all, a third forest tells: one that learns from the unmasked file with the person
in it.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import codes_of, plain_values
from sluice.ground.errors import DataError
from sluice.ground.released_values import released_column
from sluice.risk.attacks.attack_success import LEVEL
from sluice.risk.attacks.attribute_gain import gain_interval
from sluice.risk.measurement import Measurement
from sluice.risk.spread import spread

_SMALL = 50_000  # records times trees: to hand fewer to several threads takes longer than to grow the trees


@dataclass(frozen=True)
class LabelledFile:
    """What one file teaches of one variable.

    known : shape (n, p), what the intruder knows, as numbers, in the precision of a forest; NaN where missing
    value : shape (n,), the variable: whole numbers for labels, NaN where missing
    """

    known: npt.NDArray[np.floating[Any]]
    value: FloatArray

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, chosen: npt.NDArray[Any]) -> "LabelledFile":
        return LabelledFile(self.known[chosen], self.value[chosen])


@dataclass(frozen=True)
class AttributeInference:
    """How often a forest guesses right, and what that is compared with.

    measurement : value is the share guessed right by the forest from the masked file, baseline the share by the forest
                  from a file without the person; higher is worse. The interval is the baseline plus the 95 % interval
                  of the excess, person by person: it is the excess that is to be judged
    control     : the same, with the unmasked file with the person in it in place of the masked one. Where its interval
                  does not lie above the baseline, the attack is blind
    of_all      : the share guessed right by the forest from the masked file, also of those who are not asked about
    """

    measurement: Measurement
    control: Measurement
    of_all: float

    @property
    def blind(self) -> bool:
        low = self.control.interval[0] if self.control.interval else 0.0
        return self.control.baseline is None or low <= self.control.baseline


def attribute_inference(
    original: LabelledFile,
    masked: LabelledFile,
    rng: np.random.Generator,
    *,
    holdout: LabelledFile | None = None,
    paired: bool = True,
    tolerance: float | None = None,
    records: int = 10_000,
    trees: int = 50,
    folds: int = 5,
    asked: BoolArray | None = None,
    units: IntArray | None = None,
) -> AttributeInference:
    """Attack at most `records` of the original people, drawn at random.

    original  : the people, by the categories of the release (after the recodings of the plan alone)
    masked    : the released records; with `paired`, row i is that of person i
    holdout   : other people; None: cross-fitting on the original
    tolerance : None: labels, guessed right when equal. Otherwise numbers, guessed right within so much
    folds     : of the cross-fitting: each forest learns from the people of all other folds
    units     : shape (n,), who belongs together, is of one fold, and may be guessed together; None: everybody is alone
    asked     : shape (n,), about whom is asked, such as those whose value is not harmless; None: everybody. The forests
                learn from all, and guess knowing nothing of this
    returns   : attempted counts the people, completed those attacked whose value is known. A masked record without a
                value teaches nothing; a missing known value is a branch of its own
    raises    : DataError when nothing is known, when paired files differ in length, or when a tolerance is negative
    cost      : folds + 2 forests, of about 1 s each at 30,000 records, 8 variables and 50 trees

    The files that the forests learn from are of one size, but for the fold left out. Of a paired file the records of
    the attacked are taken, so that nobody is attacked with a file that his record was left out of by chance. Of an
    unpaired one all records are taken, even if they are more: the excess is then rather too large than too small.
    """
    n = len(original)
    if original.known.shape[1] == 0:
        raise DataError("attribute inference needs at least one variable that the intruder knows; got none")
    if paired and len(masked) != n:
        raise DataError(f"paired files must be of one length; got {n} and {len(masked)}. Is paired=False meant?")
    if tolerance is not None and tolerance < 0:
        raise DataError(f"tolerance of attribute inference must be at least 0; got {tolerance}")
    order = _in_order(original, masked) if paired else _in_order(original)
    size = min(n, records, *([len(holdout)] if holdout else []))
    people = order[np.sort(rng.choice(n, size, replace=False))]
    people = people[~np.isnan(original.value[people])]
    attacked = original.rows(people)
    if len(people) < folds or np.isnan(masked.value).all() or (holdout and np.isnan(holdout.value).all()):
        nothing = Measurement(0.0, n, 0)
        return AttributeInference(nothing, nothing, 0.0)
    together = np.arange(n) if units is None else units
    forest = _Forest(rng, trees, tolerance)
    hits = forest.hits(masked.rows(people if paired else _in_order(masked)), attacked)
    if holdout:
        others = _in_order(holdout)
        if paired:
            others = others[np.sort(rng.choice(len(holdout), size, replace=False))]
        without = forest.hits(holdout.rows(others), attacked)
    else:
        without = np.zeros(len(people), np.bool_)
        codes, names = pd.factorize(together[people])
        fold = (rng.permutation(len(names)) % folds)[codes]
        for left_out in range(folds):
            inside = fold == left_out
            without[inside] = forest.hits(attacked.rows(~inside), attacked.rows(inside))
    unmasked = forest.hits(attacked, attacked)
    of = np.ones(len(people), np.bool_) if asked is None else asked[people]
    if not of.any():
        return AttributeInference(Measurement(0.0, n, 0), Measurement(0.0, n, 0), float(hits.mean()))
    found, control = (_compared(each[of], without[of], together[people][of], n) for each in (hits, unmasked))
    return AttributeInference(found, control, float(hits.mean()))


def _in_order(*files: LabelledFile) -> IntArray:
    """The rows of all files, sorted by value: the order in which they came then steers no draw."""
    return np.lexsort([column for file in files for column in (*file.known.T, file.value)])


@dataclass(frozen=True)
class _Forest:
    """The same forest, grown anew from each file."""

    rng: np.random.Generator
    trees: int
    tolerance: float | None

    def hits(self, taught: LabelledFile, attacked: LabelledFile) -> BoolArray:
        """Which of the attacked the forest guesses right, shape (len(attacked),)."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        jobs = -1 if len(taught) * self.trees > _SMALL else None
        settings = {"n_estimators": self.trees, "n_jobs": jobs, "random_state": int(self.rng.integers(2**31))}
        held = ~np.isnan(taught.value)
        if not held.any():
            return np.zeros(len(attacked), np.bool_)
        kind = RandomForestRegressor if self.tolerance is not None else RandomForestClassifier
        value = taught.value[held] if self.tolerance is not None else taught.value[held].astype(np.int64)
        # scikit-learn's threads put each other's warning filters back; none are left then, and all that follows warns
        with warnings.catch_warnings():
            forest = kind(**settings).fit(taught.known[held], value)
        with warnings.catch_warnings():
            guessed = forest.predict(attacked.known)
        if self.tolerance is None:
            return np.asarray(guessed == attacked.value)
        return np.asarray(np.abs(guessed - attacked.value) <= self.tolerance)


def _compared(hits: BoolArray, without: BoolArray, units: IntArray, attempted: int) -> Measurement:
    value, baseline = float(hits.mean()), float(without.mean())
    low, high = gain_interval(hits.astype(np.float64) - without, units, LEVEL)
    return Measurement(
        value,
        attempted,
        len(hits),
        interval=(min(value, baseline + low), max(value, baseline + high)),
        baseline=baseline,
    )


def labelled_files(
    frames: Sequence[pd.DataFrame], known: Sequence[str], target: str
) -> tuple[list[LabelledFile], float | None]:
    """Typed files as `attribute_inference` takes them, all on the same codes; and the target's spread in the first of
    them, or None where the target is taken by its labels: it is no number in one of the files.

    frames  : files with the columns `known` and `target`. A distribution over labels (columns 'area=north', ... of
              probabilities) may stand in any of them for the column 'area'
    raises  : DataError when a column is in one file, and neither it nor its distribution in another
    """
    columns = [[released_column(frame, name) for frame in frames] for name in known]
    targets = [released_column(frame, target) for frame in frames]
    plain = [_most_probable(each) for each in targets]
    numeric = all(each.dtype.kind == "f" for each in plain)
    values = plain if numeric else _codes(plain)
    tables = [np.empty((len(value), sum(map(_width, columns))), np.float32) for value in values]
    at = 0
    for parts in columns:  # one after the other: those of a large file take as much as all that is made of them
        for table, part in zip(tables, _as_numbers(parts), strict=True):
            with np.errstate(over="ignore"):  # a forest refuses what is beyond single precision
                table[:, at : at + part.shape[1]] = part
        at += _width(parts)
    return [*map(LabelledFile, tables, values)], spread(values[0]) if numeric else None


def _width(columns: "Sequence[pd.Series[Any] | pd.DataFrame]") -> int:
    """How many numbers `_as_numbers` makes of each value."""
    return next((each.shape[1] for each in columns if isinstance(each, pd.DataFrame)), 1)


def _as_numbers(columns: "Sequence[pd.Series[Any] | pd.DataFrame]") -> list[FloatArray]:
    """One known variable of every file as numbers: codes of its labels, or a probability a label where any file has
    such."""
    distribution = next((each for each in columns if isinstance(each, pd.DataFrame)), None)
    if distribution is None:
        series = [each for each in columns if isinstance(each, pd.Series)]
        if all(isinstance(each.dtype, pd.CategoricalDtype) for each in series):
            return [numbers[:, None] for numbers in _codes_of_categories(series)]
        plain = [plain_values(each) for each in series]
        return [v[:, None] for v in (plain if all(p.dtype.kind == "f" for p in plain) else _codes(plain))]
    labels = list(distribution.columns)
    return [
        each[labels].to_numpy(np.float64, na_value=np.nan)
        if isinstance(each, pd.DataFrame)
        else (plain_values(each)[:, None] == np.array(labels, object)).astype(np.float64)
        for each in columns
    ]


def _codes_of_categories(columns: "Sequence[pd.Series[Any]]") -> list[FloatArray]:
    """The same as `_codes`, of which each category is looked at once."""
    held = [np.bincount(column.cat.codes + 1, minlength=len(column.cat.categories) + 1) for column in columns]
    labels = {
        str(label)
        for column, times in zip(columns, held, strict=True)
        for label in column.cat.categories[np.flatnonzero(times[1:])]
    }
    rank = {label: float(place) for place, label in enumerate(sorted(labels))}
    return [
        np.array([np.nan, *(rank.get(str(label), np.nan) for label in column.cat.categories)])[codes_of(column) + 1]
        for column in columns
    ]


def _most_probable(column: "pd.Series[Any] | pd.DataFrame") -> npt.NDArray[Any]:
    if isinstance(column, pd.Series):
        return plain_values(column)
    shares = column.to_numpy(np.float64, na_value=0.0)
    labels = np.array(column.columns, dtype=object)[shares.argmax(axis=1)]
    return np.where(shares.max(axis=1) > 0, labels, np.nan)


def _codes(columns: Sequence[npt.NDArray[Any]]) -> list[FloatArray]:
    """The same label has the same number in every file; missing is NaN."""
    codes, _ = pd.factorize(np.concatenate([each.astype(object) for each in columns]), sort=True)
    numbers = np.where(codes < 0, np.nan, codes.astype(np.float64))
    return list(np.split(numbers, np.cumsum([len(each) for each in columns])[:-1]))
