"""Drafted rules: what holds in every record and means something is written down, what happens to hold is not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schemas.checks.frame_check import check_frame
from schemas.contract import load_contract
from schemas.reading.contract_draft import draft_contract
from sluice.ground.verdict import Verdict
from sluice.sources.sources import CsvSource
from tests.schemas.typed import type_source

N = 300
RNG = np.random.default_rng(4)


def stays() -> pd.DataFrame:
    born = pd.Timestamp("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20000, N), unit="D")
    came = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 300, N), unit="D")
    left = came + pd.to_timedelta(RNG.integers(0, 9, N), unit="D")
    ward, drugs = RNG.integers(100, 9000, N), RNG.integers(0, 900, N)
    return pd.DataFrame(
        {
            "born": born.strftime("%d.%m.%Y"), "came": came.strftime("%d.%m.%Y"), "left": left.strftime("%d.%m.%Y"),
            "cost_total": ward + drugs, "cost_ward": ward, "cost_drugs": drugs, "small": RNG.integers(0, 90, N),
        }
    )  # fmt: skip


def rules(frame: pd.DataFrame, folder: Path) -> dict[str, str]:
    frame.to_csv(folder / "stays.csv", index=False)
    (folder / "stays.yaml").write_text(draft_contract(source(folder), "stays"), encoding="utf-8")
    contract = load_contract(folder / "stays.yaml")
    assert {each.of for each in contract.rules} <= {"source"}
    return {each.name: each.expression for each in contract.rules}


def source(folder: Path) -> CsvSource:
    return CsvSource(path=(str(folder / "stays.csv"),))


@pytest.mark.chain
def test_dates_in_order_parts_and_sums_are_drafted_and_hold(tmp_path: Path) -> None:
    assert rules(stays(), tmp_path) == {
        "born_before_came": "born <= came",
        "came_before_left": "came <= left",  # that born is before left follows
        "cost_total_is_the_sum": "cost_total == cost_ward + cost_drugs",
        "cost_ward_within_cost_total": "cost_ward <= cost_total",
        "cost_drugs_within_cost_total": "cost_drugs <= cost_total",
    }
    contract = load_contract(tmp_path / "stays.yaml")
    frame, _ = type_source(source(tmp_path).batches(list(contract.by_name)), contract, lambda name, text: text)
    assert [finding.verdict for finding in check_frame(frame, contract)] == [Verdict.PASS]


def test_one_record_that_breaks_a_rule_takes_it_out(tmp_path: Path) -> None:
    frame = stays()
    frame.loc[7, "left"] = "01.01.2023"
    frame.loc[7, "cost_total"] = 5
    assert rules(frame, tmp_path) == {"born_before_came": "born <= came", "born_before_left": "born <= left"}


def test_what_happens_to_be_smaller_is_no_rule(tmp_path: Path) -> None:
    """Without a name that says so: `small` is below each cost of a ward."""
    frame = stays()[["small", "cost_ward"]]
    assert rules(frame, tmp_path) == {}
