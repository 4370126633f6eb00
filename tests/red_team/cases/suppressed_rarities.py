"""Local suppression that says by what is missing what was there: had it been frequent, it had stayed.

Source: Wong, Fu, Wang and Pei (2007), the minimality attack.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Role
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import files_of, with_roles
from tests.typed_frame import typed_frame

_PEOPLE = 3_000


def suppressed(k: int, areas: int, rare: str) -> Comparison:
    """As other programs do it: a rare answer is suppressed wherever fewer than k of the area gave it, however few."""
    rng = np.random.default_rng(1)
    few = rng.random(_PEOPLE) < 0.7 * (k - 1) * areas / _PEOPLE
    frame = pd.DataFrame(
        {
            "answer": np.where(few, rare, "no"),
            "area": [f"area {number}" for number in rng.integers(0, areas, _PEOPLE)],
            "income": rng.lognormal(8, 1, _PEOPLE).round().astype(int).astype(str),
        }
    )
    keys = {"answer": Role.QUASI_IDENTIFIER, "area": Role.QUASI_IDENTIFIER}
    original, variables = with_roles(typed_frame(frame), keys)
    size = original.groupby(["answer", "area"], observed=True)["answer"].transform("size")
    masked = original.assign(income=original["income"].to_numpy()[rng.permutation(_PEOPLE)])
    masked = masked.astype(original.dtypes.to_dict())
    masked.loc[size < k, "answer"] = None
    step = LocalSuppression(columns=("answer", "area"), k=k, missing_matches="any")
    return files_of(original, masked, variables, step.released(variables), carried_out=(step,))


def filled_in(k: int, files: Comparison) -> float:
    """The share of the people whose lost answer is the one with which their area has fewer than k others."""
    answer, area = files.masked["answer"].astype(object), files.masked["area"].astype(object)
    count = pd.crosstab(area, answer.fillna("?"))
    told = 0
    for row in np.flatnonzero(answer.isna() & area.notna()):
        frequent = [value for value in count.columns if value != "?" and count.loc[area[row], value] >= k]
        left = [value for value in files.original["answer"].cat.categories if value not in frequent]
        told += left == [files.original["answer"][row]]
    return told / len(answer)


CASES = tuple(
    Case(
        f"local suppression of a rare answer, k = {k}, {areas} areas",
        partial(suppressed, k, areas, rare), partial(filled_in, k), 0.04, chance=0.0,
    )
    for k, areas, rare in ((3, 200, "yes"), (5, 100, "refused"))
)  # fmt: skip
