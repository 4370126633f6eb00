"""`sluice camouflage`: answers by intervals about real shapes of business data, and an attacker who combines them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from flows.cli.main import main
from tests.flows.house import answered
from tests.golden import golden
from tests.reference_data import reference_path
from tests.tabular.tables import read_text

QUERIES = ("sum", "mean", "minimum", "maximum")


def records() -> pd.DataFrame:
    return read_text(reference_path("business_generated", "s1k") / "micro.csv.gz")


def arguments(folder: Path, *more: str, width: str = "500") -> list[str]:
    given = [f"{folder}/micro.csv", "--column=value", f"--width={width}"]
    return ["camouflage", *given, f"--output={folder}/answers.csv", f"--seed-file={folder}/seed", *more]


def answers(folder: Path) -> pd.DataFrame:
    return read_text(folder / "answers.csv")


def test_every_interval_holds_the_truth(tmp_path: Path) -> None:
    records().to_csv(tmp_path / "micro.csv", index=False)
    outcome = answered(arguments(tmp_path, "--by=region", "--by=region,size", "--json")).json
    made = answers(tmp_path)
    assert outcome["judged"] is False
    assert (outcome["records"], outcome["answers"]) == (len(records()), 4 * len(made))
    truth = records().astype({"value": float})
    for row in made.to_dict("records"):
        inside = truth
        for name in filter(None, row["by"].split(",")):
            inside = inside[inside[name] == row[name]]
        assert int(row["records"]) == len(inside)
        for query in QUERIES:
            low, high = float(row[f"{query}_low"]), float(row[f"{query}_high"])
            expected = getattr(inside["value"], query[:3] if query in ("minimum", "maximum") else query)()
            assert low <= expected <= high
            assert high - low >= (500 if len(inside) == 1 else 0)
    assert set(made["by"]) == {"", "region", "region,size"}
    assert (tmp_path / "seed").stat().st_mode & 0o077 == 0


def test_combined_sums_leave_every_value_as_wide_as_promised(tmp_path: Path) -> None:
    """An attacker solves for each value what all published sums of overlapping groups leave of it."""
    some = records().head(24).assign(odd=[str(at % 2) for at in range(24)], third=[str(at % 3) for at in range(24)])
    some.to_csv(tmp_path / "micro.csv", index=False)
    groups = ("odd", "third", "odd,third", "id")
    assert main(arguments(tmp_path, *(f"--by={group}" for group in groups), width="80")) == 0
    rows, low, high = [], [], []
    for row in answers(tmp_path).to_dict("records"):
        names = list(filter(None, row["by"].split(",")))
        rows.append([all(one[name] == row[name] for name in names) for one in some.to_dict("records")])
        low, high = [*low, float(row["sum_low"])], [*high, float(row["sum_high"])]
    matrix = np.array(rows, dtype=float)
    sides = {"A_ub": np.vstack([matrix, -matrix]), "b_ub": np.r_[high, -np.array(low)], "bounds": (None, None)}
    for at, value in enumerate(some["value"].astype(float)):
        ends = [sign * linprog(sign * np.eye(24)[at], **sides).fun for sign in (1, -1)]
        assert ends[1] - ends[0] >= 80 * (1 - 1e-9)
        assert ends[0] <= value <= ends[1]


def test_the_seed_gives_the_same_answers_again(tmp_path: Path) -> None:
    records().head(50).to_csv(tmp_path / "micro.csv", index=False)
    assert main(arguments(tmp_path, "--by=size")) == 0
    first = answers(tmp_path)
    assert main(arguments(tmp_path, "--by=size")) == 0
    assert answers(tmp_path).equals(first)
    os.remove(tmp_path / "seed")
    assert main(arguments(tmp_path, "--by=size")) == 0
    assert not answers(tmp_path).equals(first)


def test_answers_of_two_widths_by_one_seed_do_not_add_up_to_the_values(tmp_path: Path) -> None:
    """By the same draws the truth would divide both intervals of a record in one ratio, and so be computable."""
    some = records().head(50)
    some.to_csv(tmp_path / "micro.csv", index=False)
    lows = []
    for width in (200, 500):
        assert main(arguments(tmp_path, "--by=id", width=str(width))) == 0
        lows.append(answers(tmp_path).iloc[1:].set_index("id")["minimum_low"].astype(float))
    computed = (500 * lows[0] - 200 * lows[1]) / 300
    assert ((computed - some.set_index("id")["value"].astype(float)).abs() > 5).mean() > 0.8


@pytest.mark.parametrize(("value", "too_narrow", "enough"), [("7", "1.9", "2"), ("7.25", "0.019", "0.02")])
def test_an_interval_holds_more_than_one_number_as_the_values_are_rounded(
    tmp_path: Path, value: str, too_narrow: str, enough: str
) -> None:
    some = records().head(20).assign(value=value)
    some.to_csv(tmp_path / "micro.csv", index=False)
    golden.words(answered(arguments(tmp_path, width=too_narrow), 1).err)
    assert not (tmp_path / "answers.csv").exists()
    assert main(arguments(tmp_path, "--by=id", width=enough)) == 0


def test_missing_values_are_refused_or_left_out(tmp_path: Path) -> None:
    some = records().head(20)
    some.loc[[3, 7], "value"] = ""
    some.loc[[5], "size"] = ""  # of a public column: a group
    some.to_csv(tmp_path / "micro.csv", index=False)
    golden(answered(arguments(tmp_path, "--by=size"), 1).err)
    assert not (tmp_path / "answers.csv").exists()
    assert not (tmp_path / "seed").exists()
    outcome = answered(arguments(tmp_path, "--by=size", "--missing=leave_out")).out
    golden(outcome)
    made = answers(tmp_path)
    assert made.loc[made["by"] == "", "records"].tolist() == ["18"]
    assert made.loc[(made["by"] == "size") & (made["size"] == ""), "records"].tolist() == ["1"]


def test_a_column_that_is_known_does_not_undo_another(tmp_path: Path) -> None:
    """By the same draws the intervals of both columns would lie in the same way about their values."""
    some = records().head(20)
    some.assign(known=some["value"]).to_csv(tmp_path / "micro.csv", index=False)
    lows = []
    for column in ("value", "known"):
        assert main(arguments(tmp_path, "--by=id", f"--column={column}")) == 0
        lows.append(answers(tmp_path)["sum_low"].astype(float)[1:])
    assert ((lows[0] - lows[1]).abs() > 1).sum() > 10


@pytest.mark.parametrize(
    "more",
    [
        ["--by=value"],
        ["--by=regoin"],
        ["--width=0"],
        ["--width=nan"],
        ["--width=1e-9"],
        ["--column=region"],
        ["--output={folder}/micro.csv"],
        ["--output={folder}/answers.txt"],
        ["--seed-file={folder}/micro.csv"],
        ["--seed-file={folder}/weak"],
        ["--missing=drop"],
        ["--vectors=2"],
    ],
    ids=lambda more: more[0],
)
def test_refusals(tmp_path: Path, more: list[str]) -> None:
    records().head(20).assign(value=[str(987_654_300 + at) for at in range(20)]).to_csv(
        tmp_path / "micro.csv", index=False
    )
    (tmp_path / "weak").write_text("12345", encoding="utf-8")
    before = (tmp_path / "micro.csv").read_bytes()
    err = answered(arguments(tmp_path, *(each.format(folder=tmp_path) for each in more)), 1).err
    golden(err)
    assert "9876543" not in err
    assert (tmp_path / "micro.csv").read_bytes() == before
    assert not (tmp_path / "answers.csv").exists()
