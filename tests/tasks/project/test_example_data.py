"""The invented records are the same for everybody, and what the example's contract says."""

from io import StringIO

import pandas as pd
import yaml

from tasks.project import new_project
from tasks.project.new_project import RECORDS, example_csv


def test_they_are_the_same_at_each_call_and_fit_the_contract() -> None:
    assert example_csv() == example_csv()
    people = pd.read_csv(StringIO(example_csv()))
    contract = yaml.safe_load((new_project.files("tasks.project") / "files" / "contract.yaml").read_text("utf-8"))
    assert list(people) == [variable["name"] for variable in contract["variables"]]
    assert len(people) == RECORDS
    assert people["person"].is_unique
    for variable in contract["variables"]:
        values = people[variable["name"]]
        if "categories" in variable:
            assert set(values) == set(variable["categories"])
        if "minimum" in variable:
            assert values.between(variable["minimum"], variable["maximum"]).all()
