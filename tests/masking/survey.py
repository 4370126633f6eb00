"""A survey of people with a variable of every kind, and the masking methods as they may be applied to it."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, TypeAdapter
from scipy.stats import norm

from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.masking import Step
from sluice.masking.masking_step import MaskingStep
from sluice.masking.method_catalogue import catalogue
from tests.items.set_columns import column_of

REGIONS = ("east", "north", "south", "west")
LEVELS = ("school", "college", "degree")
PURCHASES = {"drinks": ("beer", "tea", "wine"), "food": ("bread", "cheese", "fish", "rice")}
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="household", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
        Variable(name="name", kind=Kind.TEXT, role=Role.IDENTIFIER),
        Variable(name="born", kind=Kind.DATE, minimum="1930-01-01", maximum="2005-12-31"),
        Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90),
        Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
        Variable(name="region", kind=Kind.NOMINAL, categories=REGIONS),
        Variable(name="education", kind=Kind.ORDINAL, categories=LEVELS),
        Variable(name="illness", kind=Kind.NOMINAL, categories=("asthma", "flu", "gout", "none"), role=Role.SENSITIVE),
        Variable(name="income", kind=Kind.CONTINUOUS, minimum=0),
        Variable(name="rent", kind=Kind.CONTINUOUS, minimum=0),
        Variable(name="hours", kind=Kind.CONTINUOUS),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT, minimum=0),
        Variable(
            name="purchases",
            kind=Kind.ITEMS,
            hierarchy=Hierarchy(rows={item: (group,) for group, items in PURCHASES.items() for item in items}),
        ),
    )
}
DTYPES = {
    Kind.CONTINUOUS: "float64",
    Kind.INTEGER: "Int64",
    Kind.TEXT: "str",
    Kind.DATE: "datetime64[us]",
    **dict.fromkeys((Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.ITEMS), "category"),
}


def _basket(rng: np.random.Generator) -> list[str]:
    """One to three items, some of them seldom."""
    items = [item for group in PURCHASES.values() for item in group]
    return list(rng.choice(items, rng.integers(1, 4), p=np.array([9, 6, 1, 9, 6, 4, 1]) / 36, replace=False))


def survey(n: int = 400) -> pd.DataFrame:
    """The first n of 400 people."""
    return _everybody().iloc[:n].copy()


@cache
def _everybody(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    skill = rng.normal(size=n)

    def drawn(name: str) -> pd.Categorical:
        variable = VARIABLES[name]
        labels = list(variable.categories or ())
        return pd.Categorical(rng.choice(labels, n), categories=labels, ordered=variable.kind is Kind.ORDINAL)

    age = rng.integers(18, 91, n)
    people = pd.DataFrame(
        {
            "household": pd.array(np.arange(n) // 2, dtype="Int64"),
            "name": pd.Series([f"person {row}" for row in range(n)], dtype="str"),
            "born": np.datetime64("2021-06-01", "us") - (age * 365 + np.arange(n) % 30).astype("timedelta64[D]"),
            "age": pd.array(age, dtype="Int64"),
            **{name: drawn(name) for name in ("sex", "region", "education", "illness")},
            "income": np.exp(9.5 + 0.5 * skill).round(2),
            "rent": (500 + 200 * np.abs(skill + rng.normal(size=n))).round(2),
            "hours": (38 + 4 * skill + rng.normal(size=n)).round(1),
            "weight": rng.uniform(1, 9, n).round(2),
            "purchases": column_of(_basket(rng) for _ in range(n)),
        }
    )
    return people.assign(region=people["region"].take(people["household"] * 2).set_axis(people.index))


def drawn(variables: Variables, n: int, seed: int = 0, missing: float = 0.0) -> pd.DataFrame:
    """n records of these variables, which go together; of what may be missing, this share is. Rows are in no order."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=n)
    columns = {}
    for name, variable in variables.items():
        column = _column(variable, norm.cdf((trait + rng.normal(size=n)) / np.sqrt(2)))
        columns[name] = column.mask(rng.random(n) < missing) if variable.nullable and missing else column
    return pd.DataFrame(columns).set_axis(rng.permutation(n) * 7)


def _column(variable: Variable, place: np.ndarray) -> "pd.Series[Any]":
    """Values of the variable, from the lowest at 0 to the highest at 1."""
    if variable.kind is Kind.TEXT:
        return pd.Series([f"{variable.name} {at}" for at in range(len(place))], dtype="str")
    if variable.kind is Kind.DATE:
        first = np.datetime64(variable.minimum or "1980-01-01", "us")
        return pd.Series(first + (place * 9000).astype("timedelta64[D]"))
    if variable.kind.is_categorical:
        labels = list(variable.categories or (variable.hierarchy.rows if variable.hierarchy else "abc"))
        codes = (place * len(labels)).astype(int)
        return pd.Series(pd.Categorical.from_codes(codes, labels, ordered=variable.kind is Kind.ORDINAL))
    low, high = (np.nan if end is None else float(end) for end in (variable.minimum, variable.maximum))
    low = 0.0 if np.isnan(low) else low
    values = low + place * ((low + 1000 if np.isnan(high) else high) - low)
    return pd.Series(values if variable.kind is Kind.CONTINUOUS else pd.array(np.floor(values), dtype="Int64"))


def step_of(fields: dict[str, Any]) -> MaskingStep:
    """The step, read as a plan of a release is."""
    return _READ.validate_python(fields)


_READ: TypeAdapter[MaskingStep] = TypeAdapter(Annotated[Step, Field(discriminator="method")])


def example(method: str) -> MaskingStep:
    """The step in the document."""
    section = catalogue().split(f"## `{method}`\n")[1].split("\n## ")[0]
    (step,) = yaml.safe_load(section.split("```yaml\n")[1].split("```")[0])
    return step_of(step)


WRITTEN: dict[str, dict[str, Any]] = yaml.load(Path(__file__).with_name("steps.yaml").read_bytes(), yaml.CSafeLoader)

ON_ONE: dict[str, tuple[dict[str, Any], tuple[Kind, ...]]] = {
    method: (fields, tuple(map(Kind, kinds))) for method, (fields, kinds) in WRITTEN["on_one"].items()
}
"""What each method needs to be told to mask a single variable, and the kinds of variables that it takes."""


def on_one(method: str, name: str, kind: Kind) -> MaskingStep:
    """The step on this variable, with what a variable of its kind asks for."""
    fields = dict(ON_ONE[method][0])
    if method == "top_bottom_coding" and not kind.is_numeric:
        fields["bottom"] = {"value": "college" if kind is Kind.ORDINAL else "1960-01-01"}
    columns = {} if method == "sampling" else {"columns": [name]}
    return step_of({"method": method, **columns, **fields})


def _grouped(name: str, rows: dict[str, tuple[str, ...]]) -> Variable:
    return VARIABLES[name].model_copy(update={"hierarchy": Hierarchy(rows=rows), "nullable": True})


OF_KIND = {
    Kind.CONTINUOUS: VARIABLES["rent"].model_copy(update={"nullable": True}),
    Kind.INTEGER: _grouped("age", {str(age): (f"{age // 10}0s",) for age in range(18, 91)}),
    Kind.ORDINAL: _grouped("education", {"school": ("below degree",), "college": ("below degree",), "degree": ("*",)}),
    Kind.NOMINAL: _grouped("illness", {"asthma": ("ill",), "flu": ("ill",), "gout": ("ill",), "none": ("none",)}),
    Kind.BINARY: _grouped("sex", {"f": ("*",), "m": ("*",)}),
    Kind.DATE: _grouped("born", {day: (day[:4],) for day in survey()["born"].dt.strftime("%Y-%m-%d")}),
    Kind.TEXT: VARIABLES["name"].model_copy(update={"nullable": True}),
    Kind.ITEMS: VARIABLES["purchases"].model_copy(update={"nullable": True}),
}
"""A variable of each kind, which may be missing; in groups where its method may ask for them."""
