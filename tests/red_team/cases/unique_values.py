"""One variable comes through exactly, and a person alone has its value; all others are permuted.

A grid whose width follows the standard deviation does not see it: one cell of 999999999 makes it as wide as the file,
digits that lie below it tell people apart all the same, and skewed amounts of business lie on few of its points.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, files_of

Change = Callable[[np.ndarray, np.random.Generator], np.ndarray]

_PEOPLE = 1_200


def found_by_one_value(files: Comparison) -> float:
    """The share of the people who alone have their value, which is the n-th largest in both files, or equal in both."""
    reached = []
    for name in files.original.columns:
        before, after = files.original[name], files.masked[name]
        if isinstance(before.dtype, pd.CategoricalDtype):
            before, after = before.astype(str), after.astype(str)
        mine = ~before.duplicated(keep=False) & ~after.duplicated(keep=False)
        reached.append(float((mine & ((before == after) | (before.rank() == after.rank()))).mean()))
    return max(reached)


def found_by_two_values(files: Comparison) -> float:
    """The share of the people who alone have their date together with their group, in both files."""
    before, after = files.original[["value", "group"]], files.masked[["value", "group"]]
    own = before.astype(str).eq(after.astype(str)).all(axis=1)
    return float((own & ~before.duplicated(keep=False) & ~after.duplicated(keep=False)).mean())


def people(values: np.ndarray | pd.Series, kind: Kind) -> Data:
    """People with this value, a group, a sex and an age."""
    n, rng = len(values), np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "value": values,
            "group": pd.Categorical(rng.choice(list("abcdefgh"), n)),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
            "age": rng.normal(45, 15, n),
        }
    )
    keys = {"role": Role.QUASI_IDENTIFIER}
    variables = [
        Variable(name="value", kind=kind, role=Role.SENSITIVE),
        Variable(name="group", kind=Kind.NOMINAL, categories=tuple("abcdefgh"), **keys),
        Variable(name="sex", kind=Kind.BINARY, categories=("f", "m"), **keys),
        Variable(name="age", kind=Kind.CONTINUOUS, **keys),
    ]
    return frame, {variable.name: variable for variable in variables}


def verbatim(
    values: np.ndarray | pd.Series,
    change: Change | None = None,
    kind: Kind = Kind.CONTINUOUS,
    kept: tuple[str, ...] = (),
) -> Comparison:
    """The value as it is, or as `change` leaves it; what is not in `kept` goes to other people."""
    frame, variables = people(values, kind)
    rng = np.random.default_rng(3)
    masked = frame.assign(**{
        name: frame[name].sample(frac=1, random_state=i).array
        for i, name in enumerate(("group", "sex", "age")) if name not in kept
    })  # fmt: skip
    if change is not None:
        masked["value"] = change(frame["value"].to_numpy(), rng)
    return files_of(frame, masked, variables)


def incomes(wild: int = 1) -> np.ndarray:
    values = np.round(np.exp(np.random.default_rng(4).normal(10, 1, _PEOPLE)), -1)
    values[:wild] = 999_999_999
    return values


def levels(step: float) -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.integers(1, 6, _PEOPLE) + step * rng.permutation(_PEOPLE)


def profits() -> np.ndarray:
    """Net profit of 834 firms, most of them small, some losses, and 58 that share theirs with another."""
    rng = np.random.default_rng(6)
    values = np.round(np.exp(rng.normal(9, 2.2, 834)) * rng.choice([1, 1, 1, -1], 834))
    values[:58] = values[58:116]
    return values


def days() -> pd.Series:
    rng = np.random.default_rng(7)
    values = pd.Series(np.datetime64("2020-01-01") + rng.integers(0, 700, _PEOPLE)).astype("datetime64[us]")
    values[::100] = pd.Timestamp("9999-12-31")
    return values


def times() -> pd.Series:
    return pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(levels(1e-3), "s")).astype("datetime64[us]")


def larger(values: np.ndarray, _: np.random.Generator) -> np.ndarray:
    return values * 1.0000001 + 1


def half(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Verbatim for every second person; the others' go round among them."""
    changed = values.copy()
    changed[::2] = rng.permutation(changed[::2])
    return changed


def four_digits(values: np.ndarray, _: np.random.Generator) -> np.ndarray:
    return np.array([float(f"{value:.3e}") for value in values])


def _case(name: str, make: Callable[[], Comparison], reaches: float, **more: object) -> Case:
    settings = {"attack": found_by_one_value, "chance": 0.01, "rules": ("unique_values",)}
    return Case(name=name, make=make, reaches=reaches, **(settings | more))


CASES = (
    _case("an income verbatim beside a cell of 999999999", lambda: verbatim(incomes()), 0.3),
    _case("an income verbatim beside 5 % of such cells", lambda: verbatim(incomes(60)), 0.3),
    _case(
        "dates with a group, of which 1 % are 9999-12-31",
        lambda: verbatim(days(), kind=Kind.DATE, kept=("group",)), 0.5, attack=found_by_two_values,
    ),
    _case("few levels with tiny decimals", lambda: verbatim(levels(1e-6)), 0.95),
    _case("few levels with tiny decimals, half of them", lambda: verbatim(levels(1e-6), half), 0.4),
    _case("few levels with tiny decimals, all a little larger", lambda: verbatim(levels(1e-9), larger), 0.9),
    _case("times of a day", lambda: verbatim(times(), kind=Kind.DATE), 0.9),
    _case(
        "codes as text",
        lambda: verbatim(pd.Series([f"case {i:05d}" for i in range(_PEOPLE)], dtype="str"), kind=Kind.TEXT), 0.95,
    ),
    _case("net profit of firms", lambda: verbatim(profits()), 0.8),
    _case("net profit of firms, to four digits", lambda: verbatim(profits(), four_digits), 0.5),
)  # fmt: skip


def texts() -> Comparison:
    """Four keys as texts, which distances pass over, and one number that goes to other people."""
    rng = np.random.default_rng(8)
    keys = {f"key{i}": pd.Series(rng.choice(list("abcdefgh"), _PEOPLE), dtype="str") for i in range(4)}
    frame = pd.DataFrame(keys | {"age": rng.normal(45, 15, _PEOPLE)})
    variables = {n: Variable(name=n, kind=Kind.TEXT, role=Role.QUASI_IDENTIFIER) for n in keys}
    variables["age"] = Variable(name="age", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER)
    return files_of(frame, frame.assign(age=rng.permutation(frame["age"])), variables)


def found_by_texts(files: Comparison) -> float:
    before, after = files.original.drop(columns="age"), files.masked.drop(columns="age")
    return float((before.eq(after).all(axis=1) & ~before.duplicated(keep=False)).mean())


def in_random_order() -> Comparison:
    """The value and the group verbatim, of rows that belong to nobody."""
    files = verbatim(incomes(), kept=("group",))
    shuffled = files.masked.sample(frac=1, random_state=9).reset_index(drop=True)
    return replace(files, masked=shuffled, paired=False)


def group_beside_the_value(files: Comparison) -> float:
    """Of the people whose value one released record alone has, the share whose group stands beside it."""
    alone = files.original[~files.original["value"].duplicated(keep=False)]
    once = files.masked[~files.masked["value"].duplicated(keep=False)]
    both = alone.merge(once, on="value", suffixes=("", "_released"))
    return float((both["group"].astype(str) == both["group_released"].astype(str)).mean())


CASES += (
    _case("rows in random order", in_random_order, 0.95, attack=group_beside_the_value, chance=0.15),
    _case("four of five keys are texts", texts, 0.6, attack=found_by_texts, rules=("lone_copies",)),
)  # fmt: skip
