"""Files masked elsewhere, nobody says how, of which everything comes back for whoever guesses the method.

The noise is strong, and no record is like its original one: neither distances nor learned weights find anybody.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sluice.utility.comparison import Comparison
from tests.red_team.case import Attack, Case
from tests.red_team.files import files_of, nhanes

_STRENGTH = 3.0


def shrunk_noise(draws: NDArray[np.float64]) -> Comparison:
    """Three times as much noise as data, correlated like them, and shrunk so that means and covariances stay."""
    frame, variables = nhanes(len(draws))
    values = frame.to_numpy()
    noise = _STRENGTH * draws @ np.linalg.cholesky(np.cov(values, rowvar=False)).T
    moved = values.mean(axis=0) + (values - values.mean(axis=0) + noise) / np.sqrt(1 + _STRENGTH**2)
    return files_of(frame, frame.assign(**dict(zip(frame, moved.round(3).T, strict=True))), variables)


def one_draw_for_each(people: int, interviewer: int) -> Comparison:
    """Noise that the people of one interviewer share; whose are one interviewer's is not in the file."""
    rng = np.random.default_rng(8)
    of = rng.permutation(people) // interviewer
    return shrunk_noise(rng.normal(size=(of.max() + 1, 14))[of])


def changes_of_others(files: Comparison) -> float:
    """Who is the only one to have a record that a change of somebody among the first half makes of theirs.

    The changes are computed with the shrinkage, as whoever describes the method tells it.
    """
    before, after = files.original.to_numpy(), files.masked.to_numpy()
    changes = np.sqrt(1 + _STRENGTH**2) * (after - before.mean(axis=0)) - (before - before.mean(axis=0))
    half, spread = len(before) // 2, before.std(axis=0)
    known, right = changes[:half] / spread, 0
    people = range(half, half + 100)
    for person in people:
        near = np.abs(known - changes[person] / spread).max(axis=1) < 0.02
        if near.any():
            made = before.mean(axis=0) + (
                before[person] - before.mean(axis=0) + known[near][0] * spread
            ) / np.sqrt(1 + _STRENGTH**2)  # fmt: skip
            right += int((np.abs(after - made) / spread).sum(axis=1).argmin() == person)
    return right / len(people)


def rolled(rows: int) -> Comparison:
    """Each column moved down by so many rows more than the one before."""
    frame, variables = nhanes(1_500)
    moved = {name: np.roll(frame[name], (at + 1) * rows) for at, name in enumerate(frame)}
    return files_of(frame, frame.assign(**moved), variables)


def rows_put_back(rows: int) -> Attack:
    def attack(files: Comparison) -> float:
        back = [np.roll(files.masked[name], -(at + 1) * rows) for at, name in enumerate(files.masked)]
        return float((np.column_stack(back) == files.original.to_numpy()).mean())

    return attack


def moving_average(rows: int) -> Comparison:
    frame, variables = nhanes(1_500)
    return files_of(frame, frame.rolling(rows, min_periods=1).mean().round(3), variables)


def rows_taken_away(rows: int) -> Attack:
    """Each released value times the rows that it is made of, less those that were computed before."""

    def attack(files: Comparison) -> float:
        after, before = files.masked.to_numpy(), files.original.to_numpy()
        computed = np.zeros_like(after)
        for row in range(len(after)):
            first = max(0, row - rows + 1)
            computed[row] = after[row] * (row + 1 - first) - computed[first:row].sum(axis=0)
        return float((np.abs(computed - before) < 0.1 * before.std(axis=0)).mean())

    return attack


def mixed(part: float) -> Comparison:
    """Each record, and more of another one, in numbers of which many people have the same."""
    frame, variables = nhanes(1_500)
    others = frame.iloc[np.random.default_rng(3).permutation(len(frame))].reset_index(drop=True)
    return files_of(frame, (part * frame + (1 - part) * others).round(3), variables)


def other_record(part: float) -> Attack:
    """From how many people's released values all values of another one come back."""

    def attack(files: Comparison) -> float:
        before = files.original.to_numpy()
        left, spread = (files.masked.to_numpy() - part * before) / (1 - part), before.std(axis=0)
        return float(np.mean([(np.abs(before - row) / spread).max(axis=1).min() < 0.01 for row in left]))

    return attack


def shuffled_with_seeds() -> Comparison:
    """Each column with its number as the seed."""
    frame, variables = nhanes(1_500)
    moved = {name: frame[name].sample(frac=1, random_state=seed).to_numpy() for seed, name in enumerate(frame)}
    return files_of(frame, frame.assign(**moved), variables)


def order_of_seeds(files: Comparison) -> float:
    read = np.zeros(files.masked.shape)
    for seed, name in enumerate(files.masked):
        read[np.random.RandomState(seed).permutation(len(read)), seed] = files.masked[name]
    return float((read == files.original.to_numpy()).mean())


CASES = (
    Case(
        "one draw of noise for all people of an interviewer",
        partial(one_draw_for_each, 1_500, 20), changes_of_others, 0.9,
    ),
    Case("columns rolled by 100 rows and more", partial(rolled, 100), rows_put_back(100), 0.99, 0.1),
    Case("a moving average over twelve rows", partial(moving_average, 12), rows_taken_away(12), 0.5, 0.1),
    Case("mixed with another record", partial(mixed, 0.3), other_record(0.3), 0.9),
    Case("shuffled with seeds from 0", shuffled_with_seeds, order_of_seeds, 0.99, 0.1),
)  # fmt: skip
