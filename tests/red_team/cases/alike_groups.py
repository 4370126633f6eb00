"""Groups of look-alikes who all have one sensitive value, hidden from a count of different values.

Noise on the values, or blanks among them, make the values differ; the people do not.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from policies.original_and_masked import OriginalAndMasked
from sluice.variables import Kind, Role, Variable, Variables
from tests.red_team.case import Attack, Case
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


def with_noise(size: float) -> OriginalAndMasked:
    return masked_by(wages(), [{"method": "additive_noise", "columns": ["pay"], "amount": size}])


def swapped(window: float) -> OriginalAndMasked:
    return masked_by(wages(), [{"method": "rank_swapping", "columns": ["pay"], "window": window}])


def from_the_group_mean(files: OriginalAndMasked) -> float:
    """The share of people whose value the mean of their released group tells to 5 % of the spread."""
    mean = files.masked["pay"].groupby(files.masked["area"], observed=True).transform("mean")
    off = (mean - files.original["pay"]).abs() / files.original["pay"].std()
    return float((off < 0.05).mean())


def answers(blanks: int, other: str | None) -> tuple[pd.DataFrame, OriginalAndMasked]:
    """An area where all who answer say yes; elsewhere the answers are mixed."""
    rng = np.random.default_rng(1)
    said = np.array(rng.choice(["yes", "no", "never"], _GROUPS * _PEOPLE, p=[0.14, 0.5, 0.36]), dtype=object)
    said[:_PEOPLE] = "yes"
    said[:blanks] = other
    area = np.repeat(list(AREA.categories or ()), _PEOPLE)
    original = pd.DataFrame(
        {"area": pd.Categorical(area, AREA.categories), "answer": pd.Categorical(said, ANSWER.categories)}
    )
    return original, files_of(original, original.copy(), {"area": AREA, "answer": ANSWER})


def blank_at_the_source(blanks: int) -> OriginalAndMasked:
    return answers(blanks, None)[1]


def blanked(blanks: int, paired: bool) -> OriginalAndMasked:
    """The few who say no are suppressed."""
    original, _ = answers(blanks, "yes")
    masked = original.copy()
    masked.loc[: blanks - 1, "answer"] = None
    return files_of(original, masked, {"area": AREA, "answer": ANSWER}, paired=paired)


def nearly_all_alike(others: int) -> OriginalAndMasked:
    """A few in the area say something else."""
    return answers(others, "no")[1]


def low_paid(spread: float) -> OriginalAndMasked:
    """In one area everybody earns little, each another sum."""
    rng = np.random.default_rng(4)
    area = np.repeat(list(AREA.categories or ()), _PEOPLE)
    pay = rng.lognormal(3.0, 0.5, _GROUPS * _PEOPLE)
    pay[:_PEOPLE] = np.quantile(pay, 0.02) * (1 + spread * rng.random(_PEOPLE))
    original = pd.DataFrame({"area": pd.Categorical(area, AREA.categories), "pay": pay})
    return files_of(original, original.copy(), {"area": AREA, "pay": PAY})


def most_say(files: OriginalAndMasked) -> float:
    """Of the people of the first area, the share of whom the answer that most give there is true."""
    there = files.masked["area"] == "a"
    return float((files.original["answer"][there] == files.masked["answer"][there].mode()[0]).mean())


def earns_little(files: OriginalAndMasked) -> float:
    """The share of the people of the first area who are among the fifth that earns least, as the area shows."""
    there = files.masked["area"] == "a"
    low = files.masked["pay"].quantile(0.2)
    return (
        float((files.original["pay"][there] <= low).mean()) if (files.masked["pay"][there] <= low).mean() > 0.9 else 0
    )


def everybody_says(files: OriginalAndMasked) -> float:
    """Of the people of the first area, the share of whom the only answer that is seen there is true."""
    there = files.masked["area"] == "a"
    shown = set(files.masked["answer"][there].dropna())
    truth = files.original["answer"][there].dropna()
    return float((truth == shown.pop()).mean()) if len(shown) == 1 else 0.0


def _case(name: str, make: Callable[[], OriginalAndMasked], attack: Attack, chance: float) -> Case:
    return Case(name=name, make=make, attack=attack, reaches=0.9, chance=chance, rules=("l_diversity",))


CASES = (
    *(
        _case(
            f"wages of one tariff with noise of {size:g}", lambda size=size: with_noise(size), from_the_group_mean, 0.15
        )
        for size in (0.003, 0.03, 0.1)
    ),
    _case("wages of one tariff swapped with near ranks", lambda: swapped(0.01), from_the_group_mean, 0.15),
    *(
        _case(f"yes by all who answer, {n} blanks", lambda n=n: blank_at_the_source(n), everybody_says, 0.2)
        for n in (2, 40)
    ),
    *(
        replace(
            _case(f"yes by nearly all, {n} no", lambda n=n: nearly_all_alike(n), most_say, 0.25), rules=("t_closeness",)
        )
        for n in (1, 10)
    ),
    replace(
        _case("all earn little, each another sum", lambda: low_paid(0.4), earns_little, 0.2), rules=("t_closeness",)
    ),
    _case("yes by all, two answers suppressed", lambda: blanked(2, True), everybody_says, 0.2),
    _case("yes by all, half suppressed, no pairs", lambda: blanked(50, False), everybody_says, 0.2),
)
