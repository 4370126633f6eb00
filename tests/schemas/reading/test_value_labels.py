"""Value labels go into a draft where they are a code list, and not where they are what the records hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml

from schemas.reading.contract_draft import draft_contract
from schemas.reading.overview import overview
from schemas.reading.proposal import Proposal, propose
from sluice.ground.variables import Kind, Role
from sluice.sources.statistical_file import SpssSource, StataSource
from tests.reference_data import adult_columns, reference_path


def drafted(frame: pd.DataFrame, folder: Path, labels: dict[str, dict[float, str]] | None = None) -> str:
    path = folder / "x.dta"
    frame.to_stata(path, write_index=False, version=118, value_labels=labels)
    source = StataSource(path=str(path))
    return draft_contract(source, "x", source.described())


def column(folder: Path, name: str) -> Proposal:
    source = StataSource(path=str(folder / "x.dta"))
    return propose(overview(source, source.described())).by_name(name)


def test_names_that_a_program_made_into_value_labels_are_not_told(tmp_path: Path) -> None:
    people = [f"Anna Muster {n // 2}" for n in range(2000)]
    frame = pd.DataFrame({"age": np.arange(2000) % 60, "x1": pd.Categorical(people)})
    assert "Muster" not in drafted(frame, tmp_path)
    found = column(tmp_path, "x1")
    assert (found.role, found.sure, found.labels) == (Role.IDENTIFIER, False, {})


def test_a_rare_category_of_adult_is_not_told_by_its_label(tmp_path: Path) -> None:
    """As pandas writes them, the labels are the texts that occur: of 4,000 people few are in the armed forces."""
    frame = pd.read_csv(
        reference_path("adult", "adult.data.gz"), header=None, names=adult_columns(), skipinitialspace=True, nrows=4000
    )[["age", "occupation", "sex", "marital_status"]]
    texts = frame.select_dtypes(exclude="number").columns
    text = drafted(frame.astype(dict.fromkeys(texts, "category")), tmp_path)
    few = frame["marital_status"].value_counts()
    rare = list(few[few < 10].index)
    assert rare
    assert not any(label in text for label in rare)
    assert '"Female"' in text, "of which there is no rare one"
    assert column(tmp_path, "marital_status").kind is Kind.NOMINAL


@pytest.mark.parametrize(("unused", "listed"), [(0, False), (1, False), (2, True)])
def test_a_code_list_is_told_where_nobody_knows_which_of_its_rare_codes_occur(
    tmp_path: Path, unused: int, listed: bool
) -> None:
    labels = {1.0: "none", 2.0: "flu", 3.0: "Kuru", 4.0: "Ebola"} | {5.0 + n: f"rare {n}" for n in range(unused)}
    frame = pd.DataFrame({"illness": [1.0] * 100 + [2.0] * 50 + [3.0] + [4.0] * 9, "age": np.arange(160)})
    text = drafted(frame, tmp_path, {"illness": labels})
    assert ("Kuru" in text, "Ebola" in text) == (listed, listed)
    assert column(tmp_path, "illness").kind is Kind.NOMINAL


def test_one_rare_code_of_a_code_list_and_the_labels_of_missing_codes_are_kept(tmp_path: Path) -> None:
    """Codes of a list are the same whoever is in the file, unless a program numbered the texts that it found."""
    marst = {1.0: "single", 2.0: "married", 3.0: "widowed", 4.0: "partner"}
    frame = pd.DataFrame({"marst": [float(1 + n % 3) for n in range(300)], "age": np.arange(300) % 60})
    frame.loc[:6, "marst"] = 4.0
    drafted(frame, tmp_path, {"marst": marst})
    found = column(tmp_path, "marst")
    assert (found.categories, dict(found.labels)) == (
        ("1", "2", "3", "4"), {"1": "single", "2": "married", "3": "widowed", "4": "partner"}
    )  # fmt: skip
    many = {float(n): f"occupation {n * 7919 % 300}" for n in range(300)}
    frame = pd.DataFrame({"occ": [float(n % 300) for n in range(3900)], "age": np.arange(3900) % 60})
    drafted(frame, tmp_path, {"occ": many})
    assert len(column(tmp_path, "occ").labels) == 300


def test_labels_of_missing_codes_stand_in_the_contract_of_a_number(tmp_path: Path) -> None:
    frame = pd.DataFrame({"inc": [float(100 + 7 * n) for n in range(200)] + [-9.0] * 12, "x": np.arange(212.0)})
    pyreadstat.write_sav(
        frame, tmp_path / "m.sav", variable_value_labels={"inc": {-9: "refused"}}, missing_ranges={"inc": [-9]}
    )
    source = SpssSource(path=str(tmp_path / "m.sav"))
    [inc, _] = yaml.safe_load(draft_contract(source, "x", source.described()))["variables"]
    assert (inc["kind"], inc["missing_codes"], inc["labels"]) == ("integer", ["-9"], {"-9": "refused"})
