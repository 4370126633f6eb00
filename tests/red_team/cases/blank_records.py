"""Records without keys that vouch for everybody where a missing key may stand for any value."""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import adult, files_of, with_roles

KEYS = ["age", "education", "marital_status", "sex", "race"]


def people() -> tuple[pd.DataFrame, dict]:
    frame, variables = adult(1_500)
    roles = {n: Role.QUASI_IDENTIFIER if n in KEYS else Role.OTHER for n in variables}
    frame, variables = with_roles((frame[[*KEYS, "income"]], {n: variables[n] for n in [*KEYS, "income"]}), roles)
    frame = frame.assign(age=(frame["age"] // 10 * 10).astype("Int64"))
    return frame, {n: v.model_copy(update={"nullable": True}) for n, v in variables.items()}


def with_blanks(records: int, shown: int) -> Comparison:
    """So many records lose all keys but `shown` of them; nothing else is done. Ages are in groups of ten years."""
    frame, variables = people()
    masked = frame.copy()
    chosen = np.random.default_rng(2).permutation(len(frame))[:records]
    for name in KEYS[shown:]:
        column = masked[name].copy()
        column.iloc[chosen] = None
        masked[name] = column
    return files_of(frame, masked, variables)


def one_key_each() -> Comparison:
    """Whoever is alone loses sex and race, and is then the only one to lack them among the like."""
    frame, variables = people()
    rare = frame.groupby(KEYS, observed=True)["income"].transform("size") < 3
    masked = frame.copy()
    for at, row in enumerate(np.flatnonzero(rare)):
        masked.loc[row, KEYS[3 + at % 2]] = None
    return files_of(frame, masked, variables)


def in_small_groups(files: Comparison) -> float:
    """The share of people found by what they are known for with a chance above one in three.

    The intruder looks at the records that fit, and holds each for as likely as few people of the file fit it.
    """
    known = files.original[KEYS].astype(object)
    shown = files.masked[KEYS].astype(object).reset_index(drop=True)
    text, blank = shown.astype(str).to_numpy(), shown.isna().to_numpy()
    mine = known.astype(str).to_numpy()
    people_by_record = np.array(
        [(mine[:, ~gap] == row[~gap]).all(axis=1).sum() for row, gap in zip(text, blank, strict=True)]
    )
    found = 0
    for person, own in enumerate(mine):
        fits = ((text == own) | blank).all(axis=1)
        chance = 1 / people_by_record[fits]
        found += 1 / people_by_record[person] / chance.sum() > 1 / 3
    return found / len(mine)


CASES = tuple(
    Case(name, make, in_small_groups, 0.05, 0.001, ("k_anonymity",), "scientific-use-file")
    for name, make in (
        ("two records without any key", partial(with_blanks, 2, 0)),
        ("a hundred records with one key left", partial(with_blanks, 40, 1)),
        ("half-blank records", partial(with_blanks, 80, 3)),
        ("the rare lose one key each", one_key_each),
    )
)
