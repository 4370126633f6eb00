"""docs/generalisation.md names every model and objective that a plan may name, with its parameters; its plan loads."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from sluice.generalization.choice import MODELS, OBJECTIVES
from sluice.masking.recoding.generalization import Generalization

TEXT = (Path(__file__).parents[2] / "docs" / "generalisation.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """The parameters by the name in the first column of the table under a heading."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    table = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    return {name.strip(" `"): re.findall(r"`(\w+)`", parameters) for name, parameters in table}


@pytest.mark.parametrize(("heading", "known"), [("Privacy models", MODELS), ("Objectives", OBJECTIVES)])
def test_tables_name_everything_that_a_plan_may_name(heading: str, known: dict[str, type[Any]]) -> None:
    assert rows(heading) == {name: [field.name for field in fields(each)] for name, each in known.items()}


def test_the_plan_loads() -> None:
    (step,) = yaml.safe_load(TEXT.split("```yaml\n")[1].split("```")[0])
    assert [model.describe() for model in Generalization.model_validate(step).models] == [
        "k-anonymity with k = 5",
        "a prosecutor's average risk of 0.05",
    ]
