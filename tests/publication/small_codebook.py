"""A small file of records of every kind, and its codebook, for tests."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.publication.codebook import Codebook, codebook_variables
from sluice.publication.measured_use import CoefficientUse, MeasuredUse, ModelUse
from sluice.publication.records_file import write_parquet
from sluice.publication.study import Author, Contact, Study

ALL_KINDS = (
    Variable(name="age", kind=Kind.INTEGER, minimum=16, maximum=90, unit="years", description="Age at the interview"),
    Variable(name="children", kind=Kind.INTEGER, nullable=True, universe="women aged 15 and over"),
    Variable(name="income", kind=Kind.CONTINUOUS, unit="EUR", nullable=True),
    Variable(name="school", kind=Kind.ORDINAL, categories=("01", "02"), labels={"01": "none", "02": "some & more"}),
    Variable(name="region, area", kind=Kind.NOMINAL, categories=("N;1", '"S"', "W"), nullable=True),
    Variable(name="work", kind=Kind.BINARY, categories=("no", "yes")),
    Variable(name="born", kind=Kind.DATE, nullable=True),
    Variable(name="seen", kind=Kind.DATE),
    Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
    Variable(name="person", kind=Kind.TEXT, role=Role.PERSON),
    Variable(name="diagnoses", kind=Kind.ITEMS, items=("A00", "B01"), nullable=True),
    Variable(name="free", kind=Kind.NOMINAL, nullable=True),
)
DONE = {"income": ["Noise was added.", "Large values were replaced."], "name": ["It was removed."]}


USE = MeasuredUse(
    overall=("In a table 10 % of the records are in another cell.",),
    models=(
        ModelUse(
            "income", "income ~ age", "linear", "1 of 2 lie near.",
            (CoefficientUse("age", "1 (0 to 2)", "1 to 2", "opposite sign"), CoefficientUse("x<y", "none", "")),
        ),
    ),
    supports=("The table of age & work.",),
    not_for=("The effect of <age>.",),
    of_variable={"age": "Its worst table is that with <work>."},
)  # fmt: skip
ALLOW_FOR = {"income": ["Divide a variance by 1.1."]}

STUDY = Study(
    authors=(
        Author(name="Doe", given="Jane", affiliation="Institute", orcid="0000-0001-2345-6789"),
        Author(name="Office"),
    ),
    contact=Contact(name="Data service", email="data@example.org"),
    keywords=("income", "<health>"),
    funding=("Council",),
    place=("Austria",),
    time="2024-01/2024-06",
    mode="Interviews",
    sampling="Two stages",
    weights="For all estimates",
    language="en",
    access="For everybody",
)


def records() -> tuple[pd.DataFrame, Variables]:
    """Three records, and their variables."""
    variables = {variable.name: variable for variable in ALL_KINDS}
    frame = pd.DataFrame(
        {
            "age": pd.array([16, 30, 90], "Int64"),
            "children": pd.array([0, None, 2], "Int64"),
            "income": [1e-9, np.nan, 12345678.9],
            "school": pd.Categorical(["01", "02", "01"], ["01", "02"], ordered=True),
            "region, area": pd.Categorical(["N;1", None, '"S"'], ["N;1", '"S"', "W"]),
            "work": pd.Categorical(["no", "yes", "no"], ["no", "yes"]),
            "born": pd.to_datetime(["1950-01-31", None, "2001-12-01"]),
            "seen": pd.to_datetime(["2026-01-31 10:00:00", "2026-02-01 00:00:00.5", "2026-02-02"], format="ISO8601"),
            "weight": [10.5, 1.0, 2.5],
            "person": pd.array(["7f", "0e1", "a\nb"], "str"),
            "diagnoses": pd.array(["A00;B01", None, "A00"], "str"),
            "free": pd.Categorical(["<b>&", None, "a\x07b"]),
        }
    )
    return frame, variables


def codebook(folder: Path, **changed: Any) -> Codebook:
    """Of the records, as they are read from a file in `folder`."""
    frame, variables = records()
    write_parquet(frame, folder / "data.parquet", variables)
    known: dict[str, Any] = {
        "release": "survey-0a1b2c3d4e5f",
        "title": "A survey, <masked>",
        "dataset": "survey",
        "description": "People, and what they earn.",
        "published": "2026-03-31T10:00:00+00:00",
        "software": "Sluice 0.2.0",
        "records": len(frame),
        "files": ("data.csv", "data.parquet"),
        "variables": codebook_variables(folder / "data.parquet", variables, DONE, ALLOW_FOR),
        "allow_for": ("Multiply totals by 4.",),
        "not_released": {"name": DONE["name"]},
        "use": USE,
        "errors": ("Standard errors <are> too small.",),
        "parameters": ({"method": "pram", "matrix": {"work": [[0.9, 0.1], [0.1, 0.9]]}},),
    }
    return Codebook(**{**known, **changed})
