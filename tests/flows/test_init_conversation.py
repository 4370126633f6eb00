"""What `sluice init` shows of a column: frequent categories with their labels, and that there are rarer ones."""

from pathlib import Path

import pandas as pd
import pyreadstat

from flows.cli.init_conversation import _sets_of_items, _values
from schemas.reading.overview import overview
from schemas.reading.proposal import propose
from sluice.sources.recognition import recognise
from tests.golden import golden


def shown(path: Path) -> dict[str, str]:
    found = recognise(path)
    seen = overview(found.records, found.described())
    return {each.name: _values(seen, each) for each in propose(seen).columns}


def test_value_labels_of_a_file_stand_beside_its_codes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"q1": [1.0, 2.0, 2.0] * 40, "q2": [1.0, 2.0, 3.0] * 40})
    labels = {
        "q1": {1.0: "yes", 2.0: "no"},
        "q2": {1.0: "never", 2.0: "at times", 3.0: "an answer that is " + "x" * 30},
    }
    pyreadstat.write_dta(frame, tmp_path / "a.dta", variable_value_labels={k: dict(v) for k, v in labels.items()})
    said = shown(tmp_path / "a.dta")
    assert said["q1"] == "2 (no) and 1 (yes)"
    assert said["q2"].startswith("1 (never), 2 (at times) and 3 (an answer that is")
    assert said["q2"].endswith("…")


def test_that_a_category_is_rare_is_said_and_its_name_is_not(tmp_path: Path) -> None:
    pd.DataFrame(
        {
            "member": ["regular"] * 197 + ["patron"] * 3,
            "town": ["Ulm"] * 100 + ["Bonn"] * 97 + ["Tinyville", "Hamlet", "Nook"],
        }
    ).to_csv(tmp_path / "a.csv", index=False)
    assert shown(tmp_path / "a.csv") == {"member": "regular and rarer ones", "town": "Ulm, Bonn and rarer ones"}


def test_of_sets_it_is_said_what_to_write_and_where_that_stands(tmp_path: Path) -> None:
    baskets = [f"item {n % 7};item {n % 5}" for n in range(200)]
    pd.DataFrame({"basket": baskets, "town": ["Ulm", "Bonn"] * 100}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"basket": [each.split(";") for each in baskets]}).to_parquet(tmp_path / "a.parquet")
    found = recognise(tmp_path / "a.csv")
    seen = overview(found.records, found.described())
    basket, town = propose(seen).columns
    golden(_sets_of_items(seen, basket))
    assert _sets_of_items(seen, town) == ""
    lists = overview(recognise(tmp_path / "a.parquet").records, {})
    assert _sets_of_items(lists, propose(lists).columns[0]).endswith("by docs/sets-of-items.md")
