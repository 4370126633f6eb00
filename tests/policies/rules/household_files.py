"""A survey of households whose members share an area, a weight and two traits, as the file and people set aside."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from sluice.ground.variables import Variable
from sluice.utility.comparison import Comparison

_KEY = "quasi_identifier"
_AREAS, _HEATS, _ILLS = tuple("abcdefgh"), tuple("wxyz"), tuple("pqrst")
_WEIGHTS = np.round(np.random.default_rng(9).lognormal(4, 0.5, 40), 2)
OF_HOUSEHOLDS = ("weight", "area", "heat", "rent")
VARIABLES = {
    "house": Variable(name="house", kind="text", role="household"),
    "weight": Variable(name="weight", kind="continuous", role="weight"),
    "area": Variable(name="area", kind="nominal", role=_KEY, categories=_AREAS),
    "heat": Variable(name="heat", kind="nominal", role="sensitive", categories=_HEATS),
    "rent": Variable(name="rent", kind="integer", role="sensitive"),
    "age": Variable(name="age", kind="integer", role=_KEY),
    "sex": Variable(name="sex", kind="binary", role=_KEY, categories=("f", "m")),
    "wage": Variable(name="wage", kind="continuous", role="sensitive"),
    "ill": Variable(name="ill", kind="nominal", role="sensitive", categories=_ILLS),
}


def people(seed: int, households: int = 500) -> pd.DataFrame:
    """Members of one to four; the first two are of either sex, and the others children or grown-up."""
    rng = np.random.default_rng(seed)
    house = np.repeat(np.arange(households), rng.integers(1, 5, households))
    n = len(house)
    first = np.r_[True, house[1:] != house[:-1]]
    grown = first | (rng.random(n) < 0.4)
    sex = np.where(first, "f", np.where(np.r_[False, first[:-1]], "m", rng.choice(["f", "m"], n)))
    weight, rent = rng.choice(_WEIGHTS, households), rng.choice(np.arange(300, 2_700, 60), households)
    area, heat = rng.integers(0, 8, households), rng.integers(0, 4, households)
    frame = {
        "house": pd.Series([f"h{seed}_{at}" for at in house], dtype="str"),
        "weight": weight[house],
        "area": pd.Categorical.from_codes(area[house], list(_AREAS)),
        "heat": pd.Categorical.from_codes(heat[house], list(_HEATS)),
        "rent": pd.array(rent[house], "Int64"),
        "age": pd.array(np.where(grown, rng.integers(25, 80, n), rng.integers(0, 25, n)), "Int64"),
        "sex": pd.Categorical(sex, ["f", "m"]),
        "wage": np.round(rng.lognormal(7, 0.6, n), 1),
        "ill": pd.Categorical(rng.choice(_ILLS, n), list(_ILLS)),
    }
    return pd.DataFrame(frame)


OWN, ASIDE = people(1), people(2)


def judged(
    kept: Collection[str] = (), control: bool = False, paired: bool = False, original: pd.DataFrame = OWN
) -> Comparison:
    """The file without its households; all but the columns `kept` are shuffled, those of households by household."""
    rng, codes = np.random.default_rng(3), pd.factorize(original["house"])[0]
    masked = original.drop(columns="house")
    for name in masked:
        column = original[name]
        if name in OF_HOUSEHOLDS:
            column = column.groupby(codes).first()
        moved = column.array[rng.permutation(len(column))]
        if name not in kept:
            masked[name] = pd.Series(moved[codes] if name in OF_HOUSEHOLDS else moved)
    if not paired:
        masked = masked.iloc[rng.permutation(len(masked))].reset_index(drop=True)
    released = {name: variable for name, variable in VARIABLES.items() if name != "house"}
    aside = ASIDE if control else None
    return Comparison(
        original, original, masked, aside, VARIABLES, released, np.random.default_rng(0), aside, paired, "people"
    )  # fmt: skip
