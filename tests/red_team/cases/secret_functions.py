"""A number that names people is released under a function that is no order: encrypted, hashed, its digits exchanged.

Everything else is masked so that the file passes. Two known people give a linear function of a prime field away, some
twenty a substitution of digits; whoever made the file has the key of the others.
"""

from functools import partial
from hashlib import sha256

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, adult, files_of
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

_PRIME, _TIMES, _PLUS = 1_000_003, 741_457, 31_337
_KEY = b"of whoever made the file"
_KNOWN = 100


def people() -> Data:
    """2,000 people of Adult with the number of their case."""
    frame, variables = adult(2_000)
    number = 100_000 + np.random.default_rng(1).permutation(len(frame)) * 7
    frame = frame.assign(case_number=pd.array(number, dtype="Int64")).drop(columns=["fnlwgt", "education_num"])
    variables = {name: variables[name] for name in frame if name in variables}
    return frame, variables | {"case_number": Variable(name="case_number", kind=Kind.INTEGER)}


def firms() -> Data:
    """9,786 firms with a number that rises with their region, as registers have it."""
    raw = pd.read_csv(reference_path("business_indiv_dt", "indiv_dt.csv.gz"), dtype=str).drop(columns="WEIGHT")
    frame, variables = typed_frame(raw[["A10", "SIZE", "NUTS1", "TURNOVER", "PRODUCTION"]])
    number = 500_000 + raw["NUTS3"].rank(method="first").astype(int) * 3
    frame["case_number"] = pd.array(number, dtype="Int64")
    return frame, variables | {"case_number": Variable(name="case_number", kind=Kind.INTEGER)}


def linear(numbers: np.ndarray) -> pd.Series:
    return pd.Series((numbers * _TIMES + _PLUS) % _PRIME, dtype="Int64")


def digits_exchanged(numbers: np.ndarray) -> pd.Series:
    """The digits in another order, each by another one."""
    order, other = [3, 0, 5, 1, 4, 2], "7205943168"
    texts = ("".join(other[int(text[at])] for at in order) for text in numbers.astype(str))
    return pd.Series([int(text) for text in texts], dtype="Int64")


def hashed(numbers: np.ndarray) -> pd.Series:
    return pd.Series(
        [int(sha256(_KEY + str(number).encode()).hexdigest()[:12], 16) for number in numbers], dtype="Int64"
    )


def released(data: Data, function, paired: bool = True, parts: int = 1) -> Comparison:
    """Rows as they were or in random order; every other column is permuted by itself."""
    frame, variables = data
    rng = np.random.default_rng(5)
    masked = frame.assign(**{
        name: frame[name].iloc[rng.permutation(len(frame))].array for name in frame if name != "case_number"
    })  # fmt: skip
    masked["case_number"] = function(frame["case_number"].to_numpy(np.int64))
    if parts == 2:  # thousands and the rest, as two columns of the original, too
        names = ["case_number", "second"]
        variables = variables | {"second": Variable(name="second", kind=Kind.INTEGER)}
        frame = frame.assign(second=frame["case_number"] % 1000, case_number=frame["case_number"] // 1000)
        masked = masked.assign(second=masked["case_number"] % 1000, case_number=masked["case_number"] // 1000)
        masked = masked[[*(name for name in masked if name not in names), *names]]
        frame = frame[list(masked)]
        variables = {name: variables[name] for name in frame}
    rows = np.arange(len(frame)) if paired else rng.permutation(len(frame))
    return files_of(frame, masked.iloc[rows].reset_index(drop=True), variables, paired=paired)


def computed(files: Comparison) -> float:
    """By two known people: a and b of a linear function; everybody's number is computed and found in the file."""
    before = files.original["case_number"].to_numpy(np.int64)
    after = files.masked["case_number"].to_numpy(np.int64)
    if "second" in files.original:
        before, after = (
            frame["case_number"].to_numpy(np.int64) * 1000 + frame["second"].to_numpy(np.int64)
            for frame in (files.original, files.masked)
        )
    if files.paired:
        known = [(int(before[at]), int(after[at])) for at in (0, 1)]
    else:  # what the two were told when they asked for their records
        known = [(int(each), int(linear(np.array([each]))[0])) for each in before[:2]]
    (x, y), (u, v) = known
    times = (v - y) * pow(u - x, -1, _PRIME) % _PRIME
    guess = (before * times + (y - x * times)) % _PRIME
    return float(np.isin(guess[2:], after).mean())


def substituted(files: Comparison) -> float:
    """By a hundred known people: each released digit is what one place of the number always became."""
    before = files.original["case_number"].astype(str).tolist()
    after = files.masked["case_number"].astype(str).str.zfill(6).tolist()
    guesses = [[""] * len(before) for _ in range(6)]
    for place in range(6):
        for source in range(6):
            table: dict[str, set[str]] = {}
            for one, two in zip(before[:_KNOWN], after[:_KNOWN], strict=True):
                table.setdefault(one[source], set()).add(two[place])
            if all(len(each) == 1 for each in table.values()):
                guesses[place] = [next(iter(table.get(one[source], {"?"}))) for one in before]
    found = ["".join(guesses[place][row] for place in range(6)) == after[row] for row in range(_KNOWN, len(before))]
    return float(np.mean(found))


def rehashed(files: Comparison) -> float:
    """By whoever has the key: all numbers, hashed again."""
    again = hashed(files.original["case_number"].to_numpy(np.int64)).to_numpy(np.int64)
    return float(np.isin(again, files.masked["case_number"].to_numpy(np.int64)).mean())


_CASE = partial(Case, reaches=0.9, rules=("hidden_names",), policy="perturbed-file", verdict=Verdict.REVIEW)

CASES = (
    _CASE("a case number times a modulo p", lambda: released(people(), linear), computed),
    _CASE(
        "the same of firms, whose numbers rise with the region", lambda: released(firms(), linear), computed, more=True
    ),
    _CASE("the same, rows in random order", lambda: released(people(), linear, paired=False), computed, more=True),
    _CASE("the same in two columns", lambda: released(people(), linear, parts=2), computed, more=True),
    _CASE(
        "the digits of a case number exchanged", lambda: released(people(), digits_exchanged), substituted, more=True
    ),
    _CASE("a case number hashed with a key", lambda: released(people(), hashed), rehashed, more=True),
)
