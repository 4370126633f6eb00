"""An age, or a firm's turnover, is removed, and its rank, quantile or score within classes of other columns stays.

Whoever knows half of the people puts them in the order of that column, class by class, and reads everybody between two
who have the same value, or as good as the same.

Source: Naveed, Kamara and Wright (2015), sorting attacks on columns whose order was kept.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, adult, files_of, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_FEWEST = 12  # people with the same keys: the file passes but for what comes back
_RULES = ("recovered_values",)

Numbers = NDArray[np.float64]
Classes = NDArray[np.int64]
Scale = Callable[["pd.Series[float]", Classes, np.random.Generator], "pd.Series[float]"]


def _file(raw: pd.DataFrame, keys: list[str], removed: str, amount: str) -> Data:
    raw = raw.dropna()
    raw = raw[raw.groupby(keys)[removed].transform("size") >= _FEWEST].reset_index(drop=True).astype(str)
    roles = dict.fromkeys((*keys, removed), Role.QUASI_IDENTIFIER) | {amount: Role.SENSITIVE}
    return with_roles(typed_frame(raw), roles)


def workers(people: int = 9_000) -> Data:
    frame, _ = adult(people)
    names = ["occupation", "sex", "age", "hours_per_week"]
    return _file(frame[names].astype(object), names[:2], "age", "hours_per_week")


def households() -> Data:
    names = ["roof", "sex", "age", "savings"]
    raw = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz"), dtype=str)[names]
    raw["roof"], raw["sex"] = "roof " + raw["roof"], "sex " + raw["sex"]
    return _file(raw, names[:2], "age", "savings")


def examined() -> Data:
    names = ["ethnicity", "gender", "age", "totchol"]
    raw = pd.read_csv(reference_path("nhanes_bioage", "NHANES3.csv.gz"), usecols=names)[names].dropna()
    raw = raw.sample(8_000, random_state=0)
    raw["ethnicity"], raw["gender"] = "of " + raw["ethnicity"].astype(str), "sex " + raw["gender"].astype(str)
    return _file(raw, names[:2], "age", "totchol")


def firms() -> Data:
    names = ["SIZE", "NUTS1", "TURNOVER", "PRODUCTION"]
    raw = pd.read_csv(reference_path("business_indiv_dt", "indiv_dt.csv.gz"), dtype=str)[names]
    return _file(raw, names[:2], "TURNOVER", "PRODUCTION")


def rank(value: "pd.Series[float]", of: Classes, rng: np.random.Generator) -> "pd.Series[float]":
    return value.groupby(of).rank(method="first")


def per_mille(value: "pd.Series[float]", of: Classes, rng: np.random.Generator) -> "pd.Series[float]":
    return np.floor(1_000 * value.groupby(of).rank(method="first", pct=True))


def turned(value: "pd.Series[float]", of: Classes, rng: np.random.Generator) -> "pd.Series[float]":
    """Ranks from below in some classes, from above in others."""
    return rank(value, of, rng) * rng.choice([-1, 1], int(of.max()) + 1)[of]


def score(value: "pd.Series[float]", of: Classes, rng: np.random.Generator) -> "pd.Series[float]":
    """Standard scores, with a little noise beside a year."""
    groups = value.groupby(of)
    scores = (value - groups.transform("mean")) / groups.transform("std")
    return scores + rng.normal(0, 0.002, len(scores))


def curves(value: "pd.Series[float]", of: Classes, rng: np.random.Generator) -> "pd.Series[float]":
    """A scale of each class's own, drawn at random."""
    steps = rng.lognormal(0, 1, (int(of.max()) + 1, len(value)))
    place = value.rank(method="dense").astype(int) - 1
    return pd.Series(np.cumsum(steps, axis=1)[of, place] + rng.normal(0, 500, len(steps))[of])


def ordered(data: Data, removed: str, keys: list[str], scale: Scale) -> Comparison:
    """Amounts go to somebody else: a file that passes but for what comes back."""
    frame, variables = data
    rng = np.random.default_rng(0x9E3779B97F4A7C15)  # no seed that is tried
    masked = frame.drop(columns=removed)
    for name in with_sensitive(data):
        masked[name] = rng.permutation(masked[name])
    masked["scale"] = scale(frame[removed].astype(float), classes(frame, keys), rng)
    released = {name: each for name, each in variables.items() if name != removed}
    released["scale"] = Variable(name="scale", kind=Kind.CONTINUOUS)
    return files_of(frame, masked, variables, released, frame.drop(columns=removed))


def with_sensitive(data: Data) -> list[str]:
    return [name for name, variable in data[1].items() if variable.role is Role.SENSITIVE]


def classes(frame: pd.DataFrame, keys: list[str]) -> Classes:
    return frame.groupby(keys, observed=True).ngroup().to_numpy()


def between_two(removed: str, keys: list[str], within: float, files: Comparison) -> float:
    """Of the half that is not known, the share who stand between two known people of their class with the same value,
    up to such a share of all values' range of nine tenths, and have it."""
    value = files.original[removed].astype(float).to_numpy()
    same = within * np.ptp(np.quantile(value, [0.05, 0.95]))
    known = np.random.default_rng(3).random(len(value)) < 0.5
    of = classes(files.masked, keys)
    order = np.lexsort((files.masked["scale"], of))
    shown = pd.Series(np.where(known, value, np.nan)[order]).groupby(of[order])
    below, above = (np.asarray(each) for each in (shown.ffill(), shown.bfill()))
    truth, asked = value[order], ~known[order]
    told = (np.abs(above - below) <= same) & (np.abs(truth - below) <= same)
    return float(told[asked].mean())


def _case(
    what: str, make: Callable[[], Data], removed: str, keys: list[str], scale: Scale, reaches: float,
    policy: str = "public-use-file", within: float = 0.0, more: bool = False, verdict: Verdict = Verdict.FAIL,
) -> Case:  # fmt: skip
    return Case(
        f"{what} within classes of {len(keys)}, {policy}", lambda: ordered(make(), removed, keys, scale),
        partial(between_two, removed, keys, within), reaches, 0.1, rules=_RULES, policy=policy, more=more,
        verdict=verdict,
    )  # fmt: skip


CASES = (
    _case("ages as ranks", workers, "age", ["occupation", "sex"], rank, 0.55),
    _case("ages as ranks", workers, "age", ["occupation"], rank, 0.7, "scientific-use-file"),
    _case("ages as per mille", households, "age", ["sex"], per_mille, 0.7),
    _case("ages as ranks up and down", examined, "age", ["ethnicity", "gender"], turned, 0.7, more=True),
    _case("ages as noisy scores", examined, "age", ["ethnicity"], score, 0.8, more=True),
    _case("ages on scales of their own", households, "age", ["roof", "sex"], curves, 0.7, more=True),
    _case(
        "ages on scales of their own", workers, "age", ["occupation"], curves, 0.7, "perturbed-file",
        more=True, verdict=Verdict.REVIEW,
    ),
    _case("turnover as ranks", firms, "TURNOVER", ["SIZE", "NUTS1"], rank, 0.6, "scientific-use-file", 0.01),
)  # fmt: skip
