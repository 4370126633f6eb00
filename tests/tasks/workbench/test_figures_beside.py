"""Rates, means, shares and growth beside a table of sums: both together tell what neither does."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sluice
from tests.flows.house import Told, answered
from tests.golden import golden

ACTS, REGIONS = ["A", "B", "C", "D"], ["N", "S", "E"]
BOX = [("A", "N"), ("A", "S"), ("B", "N"), ("B", "S")]  # hidden: from the sums alone, nothing of it is known
UNSAFE = 2


def crossed(inner: np.ndarray) -> pd.Series:
    """The cells of a table with its sums, by code."""
    with_sums = np.vstack([inner, inner.sum(axis=0)])
    with_sums = np.column_stack([with_sums, with_sums.sum(axis=1)])
    cells = pd.MultiIndex.from_product([[*ACTS, "Total"], [*REGIONS, "Total"]], names=["act", "region"])
    return pd.Series(with_sums.ravel(), index=cells)


def drawn(seed: int) -> tuple[pd.Series, pd.Series]:
    """Wages and workers."""
    rng = np.random.default_rng(seed)
    workers = rng.integers(20, 900, (4, 3))
    return crossed(np.rint(workers * rng.uniform(900, 4000, (4, 3))).astype(int)), crossed(workers)


def save(file: Path, hidden: bool = False, **columns: pd.Series) -> Path:
    frame = pd.DataFrame(columns).astype(str)
    if hidden:
        frame = frame.assign(status="published")
        frame.loc[BOX, "status"] = "suppressed"
        frame.loc[BOX, "value"] = ""
    frame.reset_index().to_csv(file, index=False)
    return file


def audited(cells: Path, *beside: Path, code: int = 0, more: tuple[str, ...] = ()) -> Told:
    options = ["--hierarchy=act", "--hierarchy=region", "--json", *(f"--beside={file}" for file in beside), *more]
    return answered(["audit-table", str(cells), *options], code)


def contains(told: dict[str, Any], truth: pd.Series) -> bool:
    """Whether what is said of each cell is true, within what the figures were rounded."""
    return all(
        (each["low"] is None or float(each["low"]) <= truth[each["act"], each["region"]])
        and (each["high"] is None or float(each["high"]) >= truth[each["act"], each["region"]])
        for each in told["intervals"]
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_a_rate_times_its_denominator_is_the_suppressed_numerator(tmp_path: Path, seed: int) -> None:
    wages, workers = drawn(seed)
    cells = save(tmp_path / "wages.csv", hidden=True, value=wages)
    rates = save(tmp_path / "rates.csv", mean=(wages / workers).round(1))
    counts = save(tmp_path / "workers.csv", workers=workers)
    assert audited(cells).json["safe"]
    assert audited(cells, rates).json["safe"]  # of what, nobody says
    assert audited(cells, counts).json["safe"]
    told = audited(cells, rates, counts, code=UNSAFE).json
    assert len(told["breaches"]) == len(BOX)
    assert contains(told, wages)
    golden.words("\n".join(told["told_by"]))


def test_sums_beside_means_and_numbers_beside_sums_tell_the_third(tmp_path: Path) -> None:
    """The suppressed are the workers: wages over the mean wage."""
    wages, workers = drawn(4)
    cells = save(tmp_path / "workers.csv", hidden=True, value=workers)
    both = save(tmp_path / "wages.csv", wages=wages, mean=(wages / workers).round())
    told = audited(cells, both, code=UNSAFE).json
    assert len(told["exactly_known"]) == len(BOX)
    assert contains(told, workers)


@pytest.mark.parametrize("seed", [5, 6])
def test_rates_tell_what_numerators_and_denominators_suppress_alike(tmp_path: Path, seed: int) -> None:
    """Two rates and two sums of a row are two equations of two numbers."""
    wages, workers = drawn(seed)
    cells = save(tmp_path / "wages.csv", hidden=True, value=wages)
    counts = save(tmp_path / "workers.csv", hidden=True, value=workers)
    rates = save(tmp_path / "rates.csv", mean=(wages / workers).round(3))
    assert audited(cells, counts).json["safe"]
    told = audited(cells, counts, rates, code=UNSAFE).json
    assert len(told["breaches"]) == len(BOX)
    assert contains(told, wages)


def test_shares_and_growth_tell_as_rates_do(tmp_path: Path) -> None:
    wages, before = drawn(8)[0], drawn(9)[0]
    cells = save(tmp_path / "wages.csv", hidden=True, value=wages)
    of_row = wages / wages.xs("Total", level="region").reindex(wages.index, level="act")
    shares = save(tmp_path / "shares.csv", share=(100 * of_row).round(2))
    growth = save(tmp_path / "growth.csv", last=before, change=(100 * (wages / before - 1)).round(1))
    for beside in (shares, growth):
        told = audited(cells, beside, code=UNSAFE).json
        assert len(told["breaches"]) == len(BOX)
        assert contains(told, wages)


@pytest.mark.parametrize("seed", range(10, 13))
def test_figures_that_have_nothing_to_do_with_it_or_are_too_coarse_tell_nothing(tmp_path: Path, seed: int) -> None:
    wages, workers = drawn(seed)
    other, rng = drawn(seed + 100), np.random.default_rng(seed)
    cells = save(tmp_path / "wages.csv", hidden=True, value=wages)
    unrelated = save(tmp_path / "other.csv", other=other[0], heads=other[1], rate=(other[0] / other[1]).round(1))
    assert audited(cells, unrelated).json["told_by"] == []
    noisy = (wages / workers * rng.uniform(0.8, 1.2, len(wages))).round(1)
    assert audited(cells, save(tmp_path / "noisy.csv", mean=noisy, workers=workers)).json["safe"]
    coarse = save(tmp_path / "coarse.csv", thousands=(wages / workers / 1000).round(), workers=workers)
    assert audited(cells, coarse).json["safe"]


def test_with_the_records_every_attacker_reads_the_rates(tmp_path: Path) -> None:
    wages, workers = drawn(16)
    inner = wages[[act != "Total" and region != "Total" for act, region in wages.index]]
    records = pd.concat([(inner * share).astype(int) for share in (0.5, 0.3)] + [inner - (inner * 0.5).astype(int) -
                        (inner * 0.3).astype(int)]).rename("v").reset_index()  # fmt: skip
    records.loc[(records["act"] == "A") & (records["region"] == "N"), "firm"] = "one"
    records["firm"] = records["firm"].fillna(records.index.to_series().astype(str))
    records.to_csv(tmp_path / "firms.csv", index=False)
    cells = save(tmp_path / "wages.csv", hidden=True, value=wages)
    behind = (f"--microdata={tmp_path / 'firms.csv'}", "--value=v", "--contributor=firm", "--rule=p_percent=10")
    assert audited(cells, more=behind).json["safe"]
    rates = save(tmp_path / "rates.csv", mean=(wages / workers).round(1), workers=workers)
    told = audited(cells, rates, code=UNSAFE, more=behind).json
    assert told["breaches"]
    assert told["told_by"]


def test_a_notebook_answers_as_the_command_does(tmp_path: Path) -> None:
    wages, workers = drawn(17)
    cells = pd.read_csv(save(tmp_path / "wages.csv", hidden=True, value=wages))
    rates = pd.DataFrame({"mean": (wages / workers).round(1), "workers": workers}).reset_index()
    assert sluice.audit(cells, ["act", "region"]).safe
    found = sluice.audit(cells, ["act", "region"], beside=[rates])
    assert len(found.breaches) == len(BOX)
    golden.words(found.says)


def test_files_without_such_cells_are_refused(tmp_path: Path) -> None:
    cells = save(tmp_path / "wages.csv", hidden=True, value=drawn(1)[0])
    for name, text in (("other", "a,b\n1,2\n"), ("words", "act,x\nA,high\n"), ("twice", "act,x\nA,1\nA,2\n")):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        golden.words(audited(cells, tmp_path / f"{name}.csv", code=1).err)
