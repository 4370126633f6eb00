"""Amounts of the ill are rounded, 'to protect them', exchanged with each other's, or replaced by a second one; others'
stay as they are, and the illness is removed. No value is blank, none is coarser than its column's others.

Who has never seen an original sees which amounts end in 0 or 5, and which are equal; who knows one answer of an
acquaintance sees whether it was altered.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Role
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, files_of, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_KEYS = ("sex", "age", "school")
_AMOUNTS = ["height", "weight", "totchol"]
_PEOPLE = 1_200
_LITTLE = 0.03  # of the others are rounded, too


def measured() -> Data:
    """Of a health survey, by sex, age and school in two groups each; three measurements, and one in eight has
    diabetes."""
    names = ["gender", "age", "education", "diabetes", *_AMOUNTS]
    raw = pd.read_csv(reference_path("nhanes_bioage", "NHANES3.csv.gz"), usecols=names).dropna()
    raw = raw[raw["age"] >= 20].sample(_PEOPLE, random_state=4).reset_index(drop=True)
    frame = pd.DataFrame({
        "sex": raw["gender"].map({1: "man", 2: "woman"}),
        "age": np.where(raw["age"] < 45, "below 45", "45 and over"),
        "school": np.where(raw["education"] <= 2, "lower", "higher"),
        **{name: raw[name].round().astype(int).astype(str) for name in _AMOUNTS},
        "diabetes": raw["diabetes"].map({0: "no", 1: "yes"}),
    })  # fmt: skip
    return with_roles(typed_frame(frame), dict.fromkeys(_KEYS, Role.QUASI_IDENTIFIER) | {"diabetes": Role.SENSITIVE})


def altered(how: Callable[[pd.DataFrame, "pd.Series[bool]"], pd.DataFrame]) -> Comparison:
    frame, variables = measured()
    masked = frame.assign(**how(frame[_AMOUNTS].astype(float), frame["diabetes"] == "yes")).drop(columns="diabetes")
    return files_of(frame, masked, variables, {name: variables[name] for name in masked})


def rounded(amounts: pd.DataFrame, ill: "pd.Series[bool]") -> pd.DataFrame:
    more = ill | (np.random.default_rng(1).random(len(ill)) < _LITTLE)
    return amounts.where(~more, (amounts / 5).round() * 5)


def equal(amounts: pd.DataFrame, ill: "pd.Series[bool]") -> pd.DataFrame:
    return amounts.assign(weight=amounts["weight"].where(~ill, amounts["height"]))


def exchanged(amounts: pd.DataFrame, ill: "pd.Series[bool]") -> pd.DataFrame:
    """Only among each other: each amount may as well be somebody else's."""
    sent = np.random.default_rng(2).permutation(np.flatnonzero(ill))
    swapped = amounts.copy()
    swapped.loc[ill, _AMOUNTS] = amounts.loc[sent, _AMOUNTS].to_numpy()
    return swapped


def _told(called: "pd.Series[bool]", files: Comparison) -> float:
    ill = files.original["diabetes"] == "yes"
    return float(called[ill].mean()) if ill[called].mean() > 0.5 else 0.0


def in_fives(files: Comparison) -> float:
    """Of the ill, those of whom all three amounts end in 0 or 5, where most such people are ill."""
    return _told((files.masked[_AMOUNTS] % 5 == 0).all(axis=1), files)


def alike(files: Comparison) -> float:
    return _told(files.masked["weight"] == files.masked["height"], files)


def not_as_known(files: Comparison) -> float:
    """By an acquaintance who knows the height."""
    return _told(files.masked["height"] != files.original["height"], files)


CASES = tuple(
    Case(name, partial(altered, how), attack, reaches, 0.13, ("recovered_values",))
    for name, how, attack, reaches in (
        ("amounts of the ill are rounded", rounded, in_fives, 0.99),
        ("one amount of the ill is the other", equal, alike, 0.99),
        ("amounts of the ill are exchanged with each other", exchanged, not_as_known, 0.9),
    )
)
