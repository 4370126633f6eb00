"""Each record turned by a secret of its own, where all numbers are uncorrelated: means and covariances stay.

No map leads anybody to their record, as there are as many as records. But a turn leaves lengths as they are: of a whole
record, or of each two directions that were turned together. Such a length is a sum of products of numbers, known and
released, and several of them are nearly unique.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, own_is_nearest
from tests.red_team.case import Case
from tests.red_team.cases.secrets_of_parts import amounts, census_survey
from tests.red_team.files import Data, files_of

_SECRET = 3
_LOOKED_FOR = 300


def whitened(values: Floats) -> tuple[Floats, Floats]:
    spread, axes = np.linalg.eigh(np.cov(values, rowvar=False))
    root = axes * np.sqrt(np.maximum(spread, 1e-9 * spread.max()))
    return (values - values.mean(axis=0)) @ np.linalg.pinv(root).T, root


def whole(white: Floats, rng: np.random.Generator) -> Floats:
    """All directions together."""
    turns = np.linalg.qr(rng.normal(size=(len(white), white.shape[1], white.shape[1])))[0]
    return np.einsum("ni,nij->nj", white, turns)


def by_two(white: Floats, rng: np.random.Generator) -> Floats:
    """Directions two by two, each two by an angle of their own."""
    mixed = np.linalg.qr(rng.normal(size=(white.shape[1],) * 2))[0]
    at, made = white @ mixed, white @ mixed
    for one in range(0, white.shape[1] - 1, 2):
        angle = rng.uniform(0, 2 * np.pi, len(white))
        made[:, one] = np.cos(angle) * at[:, one] - np.sin(angle) * at[:, one + 1]
        made[:, one + 1] = np.sin(angle) * at[:, one] + np.cos(angle) * at[:, one + 1]
    return made @ mixed.T


def numbers_of_survey() -> Data:
    frame, variables = census_survey()
    names = [name for name in frame if pd.api.types.is_float_dtype(frame[name])]
    return frame[names].head(2_000), {name: variables[name] for name in names}


def turned(turn, data, noise: float) -> Comparison:
    frame, variables = data()
    values, rng = frame.to_numpy(float), np.random.default_rng(_SECRET)
    white, root = whitened(values)
    made = turn(white, rng)
    made = made + noise * rng.normal(size=made.shape)
    return files_of(frame, pd.DataFrame(values.mean(axis=0) + made @ root.T, columns=frame.columns), variables)


def by_products(files: Comparison) -> float:
    """Least squares of the released products of two numbers from the known ones, learned on half; whose record is
    nearest, in units of what is left."""
    sides = []
    for frame in (files.original, files.masked):
        white, _ = whitened(frame.to_numpy(float))
        one, other = np.triu_indices(white.shape[1])
        sides.append(np.column_stack([white, white[:, one] * white[:, other]]))
    order = np.random.default_rng(7).permutation(len(sides[0]))
    learners, people = order[: len(order) // 2], order[len(order) // 2 :][:_LOOKED_FOR]
    known, released = ((side - side[learners].mean(axis=0)) / side[learners].std(axis=0) for side in sides)
    gram = known[learners].T @ known[learners] + 1e-5 * len(learners) * np.eye(known.shape[1])
    slopes = np.linalg.solve(gram, known[learners].T @ released[learners])
    left = released[learners] - known[learners] @ slopes
    unit = np.linalg.inv(np.linalg.cholesky(left.T @ left / len(learners) + 1e-9 * np.eye(left.shape[1]))).T
    return own_is_nearest(known[people] @ slopes @ unit, released @ unit, people)


CASES = tuple(
    Case(
        name, partial(turned, turn, data, noise), by_products, reaches, chance=0.05,
        rules=("learned_linkage", "learned_claims"), policy="perturbed-file", more=more, maps=True,
    )
    for name, turn, data, noise, reaches, more in (
        ("each record turned by its own secret", whole, amounts, 0.0, 0.25, False),
        ("each record of a survey turned by its own secret", whole, numbers_of_survey, 0.0, 0.4, True),
        ("each two directions of a record turned, and noise", by_two, amounts, 0.02, 0.9, True),
        ("the same of a survey", by_two, numbers_of_survey, 0.02, 0.7, True),
    )
)  # fmt: skip
