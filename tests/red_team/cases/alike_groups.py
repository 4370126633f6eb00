"""Groups of look-alikes who all have one sensitive value, hidden from a count of different values.

Noise on the values, or blanks among them, make the values differ; the people do not.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import files_of, masked_by

_GROUPS, _PEOPLE = 12, 100
AREA = Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=tuple("abcdefghijkl"))
PAY = Variable(name="pay", kind=Kind.CONTINUOUS, role=Role.SENSITIVE)
ANSWER = Variable(
    name="answer", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=("yes", "no", "never"), nullable=True
)


def wages() -> tuple[pd.DataFrame, Variables]:
    """In each area everybody earns what the tariff of the area says."""
    area = np.repeat(list(AREA.categories or ()), _PEOPLE)
    tariff = np.random.default_rng(3).permutation(np.linspace(1.0, 2.0, _GROUPS))
    frame = pd.DataFrame({"area": pd.Categorical(area, AREA.categories), "pay": np.repeat(tariff, _PEOPLE)})
    return frame, {"area": AREA, "pay": PAY}


def with_noise(size: float) -> Comparison:
    return masked_by(wages(), [{"method": "additive_noise", "columns": ["pay"], "amount": size}])


def swapped(window: float) -> Comparison:
    return masked_by(wages(), [{"method": "rank_swapping", "columns": ["pay"], "window": window}])


def from_the_group_mean(files: Comparison) -> float:
    """The share of people whose value the mean of their released group tells to 5 % of the spread."""
    mean = files.masked["pay"].groupby(files.masked["area"], observed=True).transform("mean")
    off = (mean - files.original["pay"]).abs() / files.original["pay"].std()
    return float((off < 0.05).mean())


def answers(blanks: int, other: str | None) -> pd.DataFrame:
    """An area where all who answer say yes, but for a few; elsewhere the answers are mixed."""
    rng = np.random.default_rng(1)
    said = np.array(rng.choice(["yes", "no", "never"], _GROUPS * _PEOPLE, p=[0.14, 0.5, 0.36]), dtype=object)
    said[:_PEOPLE] = "yes"
    said[:blanks] = other
    area = np.repeat(list(AREA.categories or ()), _PEOPLE)
    return pd.DataFrame(
        {"area": pd.Categorical(area, AREA.categories), "answer": pd.Categorical(said, ANSWER.categories)}
    )


def as_answered(few: int, other: str | None) -> Comparison:
    """A few in the area are blank at the source, or say something else."""
    original = answers(few, other)
    return files_of(original, original.copy(), {"area": AREA, "answer": ANSWER})


def blanked(blanks: int, paired: bool) -> Comparison:
    """The few who say no are suppressed."""
    original = answers(blanks, "yes")
    masked = original.copy()
    masked.loc[: blanks - 1, "answer"] = None
    return files_of(original, masked, {"area": AREA, "answer": ANSWER}, paired=paired)


def low_paid(spread: float) -> Comparison:
    """In one area everybody earns little, each another sum."""
    rng = np.random.default_rng(4)
    area = np.repeat(list(AREA.categories or ()), _PEOPLE)
    pay = rng.lognormal(3.0, 0.5, _GROUPS * _PEOPLE)
    pay[:_PEOPLE] = np.quantile(pay, 0.02) * (1 + spread * rng.random(_PEOPLE))
    original = pd.DataFrame({"area": pd.Categorical(area, AREA.categories), "pay": pay})
    return files_of(original, original.copy(), {"area": AREA, "pay": PAY})


def most_say(files: Comparison) -> float:
    """Of the people of the first area, the share of whom the answer that most give there is true."""
    there = files.masked["area"] == "a"
    return float((files.original["answer"][there] == files.masked["answer"][there].mode()[0]).mean())


def earns_little(files: Comparison) -> float:
    """The share of the people of the first area who are among the fifth that earns least, as the area shows."""
    there = files.masked["area"] == "a"
    low = files.masked["pay"].quantile(0.2)
    return (
        float((files.original["pay"][there] <= low).mean()) if (files.masked["pay"][there] <= low).mean() > 0.9 else 0
    )


def everybody_says(files: Comparison) -> float:
    """Of the people of the first area, the share of whom the only answer that is seen there is true."""
    there = files.masked["area"] == "a"
    shown = set(files.masked["answer"][there].dropna())
    truth = files.original["answer"][there].dropna()
    return float((truth == shown.pop()).mean()) if len(shown) == 1 else 0.0


_DIVERSE, _CLOSE = ("l_diversity",), ("t_closeness",)

CASES = (
    *(
        Case(
            f"wages of one tariff with noise of {size:g}",
            partial(with_noise, size),
            from_the_group_mean,
            0.9,
            0.15,
            _DIVERSE,
        )
        for size in (0.003, 0.03, 0.1)
    ),
    Case(
        "wages of one tariff swapped with near ranks", partial(swapped, 0.01), from_the_group_mean, 0.9, 0.15, _DIVERSE
    ),
    *(
        Case(f"yes by all who answer, {n} blanks", partial(as_answered, n, None), everybody_says, 0.9, 0.2, _DIVERSE)
        for n in (2, 40)
    ),
    *(Case(f"yes by nearly all, {n} no", partial(as_answered, n, "no"), most_say, 0.9, 0.25, _CLOSE) for n in (1, 10)),
    Case("all earn little, each another sum", partial(low_paid, 0.4), earns_little, 0.9, 0.2, _CLOSE),
    Case("yes by all, two answers suppressed", partial(blanked, 2, True), everybody_says, 0.9, 0.2, _DIVERSE),
    Case("yes by all, half suppressed, no pairs", partial(blanked, 50, False), everybody_says, 0.9, 0.2, _DIVERSE),
)
