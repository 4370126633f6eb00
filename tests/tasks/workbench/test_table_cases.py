"""Small tables that once went wrong, each by the command that somebody typed; the folder of a case has its name."""

from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.flows.house import Told, answered
from tests.golden import golden
from tests.reference_data import case_path

FEW, P = "--rule=minimum_frequency=3", "--rule=p_percent=10"
UNSAFE = 2


def protected(folder: Path, file: Path, *options: str) -> tuple[dict[str, Any], pd.DataFrame]:
    """What the command says in JSON, and the cells that it wrote."""
    out = folder / f"{file.stem}-out.csv"
    told = answered(["protect-table", str(file), *options, f"-o{out}", "--json"]).json
    return told, pd.read_csv(out, dtype="str", keep_default_na=False)


def hidden(cells: pd.DataFrame, *dimensions: str) -> set[Any]:
    found = cells.loc[cells["status"] == "suppressed", [*dimensions]]
    return set(found[dimensions[0]]) if len(dimensions) == 1 else set(found.itertuples(index=False, name=None))


def audited(file: Path, *options: str, code: int = 0) -> Told:
    return answered(["audit-table", str(file), *options, "--json"], code)


def test_aggregated_cells(tmp_path: Path) -> None:
    case = case_path("tables", "aggregated-cells", "agg.csv")
    cells = ["--hierarchy=act", "--hierarchy=reg", "--value=v", "--frequency=freq", "--largest=top1,top2", P, FEW]
    told, made = protected(tmp_path, case, *cells)
    assert told["safe"]
    assert told["sensitive"] == {"p_percent": 1, "minimum_frequency": 1}
    assert hidden(made, "act", "reg") == {("A", "N"), ("A", "S"), ("B", "N"), ("B", "S")}
    assert told["added_up"]  # which says that attacks by sole contributors need the records
    assert audited(tmp_path / "agg-out.csv", *cells, f"--microdata={case}").json["safe"]


def test_decimals_option_ignored(tmp_path: Path) -> None:
    """Each figure stands for half a unit of its last place on either side, so that sums hold but for rounding."""
    case = Path(copy(case_path("tables", "decimals-option-ignored", "cells.csv"), tmp_path))
    for decimals in ("3", "6"):
        told = audited(case, "--hierarchy=a", "--hierarchy=b", f"--decimals={decimals}", code=UNSAFE).json
        assert len(told["exactly_known"]) == 2
    golden.words(answered(["audit-table", str(case), "--hierarchy=a", "--hierarchy=b"], 1).err)


def test_hrc_hierarchy(tmp_path: Path) -> None:
    case = case_path("tables", "hrc-hierarchy")
    options = [f"--hierarchy=nace={case / 'h.hrc'}", "--value=v", "--contributor=firm", P, FEW]
    told, made = protected(tmp_path, case / "m.csv", *options)
    assert told["safe"]
    assert hidden(made, "nace") == {"12", "120", "1200", "1200Z", "13", "131", "1310Z"}
    answered(["hierarchy", "check", str(case / "h.hrc")])


def test_quarters_and_year(tmp_path: Path) -> None:
    """Each is safe by itself, and the year less three quarters is the fourth."""
    case = case_path("tables", "quarters-and-year")
    axes = ["--hierarchy=act", "--hierarchy=reg"]
    options = [*axes, "--value=v", "--contributor=firm", P, FEW]
    for name in ("Q1", "Q2", "Q3", "Q4", "year"):
        assert protected(tmp_path, case / f"{name}.csv", *options)[0]["safe"]
    parts = [f"--sum-of={tmp_path / f'Q{quarter}-out.csv'}" for quarter in range(1, 5)]
    told = audited(tmp_path / "year-out.csv", *axes, *parts, code=UNSAFE).json
    ends = {(cell["act"], cell["reg"], cell["part"]): (cell["low"], cell["high"]) for cell in told["intervals"]}
    assert ends["A", "N", "Q1-out"] == ("77", "77")
    assert len(told["exactly_known"]) == 4


def test_request_without_asker(tmp_path: Path) -> None:
    case = case_path("tables", "request-without-asker", "firms.csv")
    options = ["--hierarchy=act", "--hierarchy=size", "--value=v", "--contributor=firm", "--rule=request_rule=70"]
    golden.words(answered(["protect-table", str(case), *options, f"-o{tmp_path / 'c.csv'}"], 1).err)
    firms = pd.read_csv(case)
    firms["share"] = firms["v"] / firms.groupby(["act", "size"])["v"].transform("sum")  # none of a total is so large
    for group in ("H0", "H4", "H10"):
        told = protected(tmp_path, case, *options, f"--requested=grp={group}")[0]
        asked = firms["grp"].eq(group) & firms["share"].gt(0.7)
        assert told["sensitive"]["request_rule"] == asked.sum()
    assert firms["share"].gt(0.7).sum() == 3


def test_rounded_published_totals() -> None:
    case = case_path("tables", "rounded-published-totals", "cells.csv")
    axes = ["--hierarchy=a", "--hierarchy=b"]
    told = audited(case, *axes, "--rounded-to=1").json
    assert told["exactly_known"] == []
    assert len(told["intervals"]) == 4
    assert "--rounded-to" in answered(["audit-table", str(case), *axes], 1).err


def test_rounding_base_5(tmp_path: Path) -> None:
    """Of base 5 there is a table with every cell at a multiple next to it; of base 3 there is none."""
    case = case_path("tables", "rounding-base-5")
    options = [f"--hierarchy=C1={case / 'c1.csv'}", *(f"--hierarchy=C{at}" for at in (2, 3, 4)), FEW]
    told, made = protected(
        tmp_path, case / "people.csv", *options, "--method=controlled_rounding=5", f"--seed-file={tmp_path / 's'}"
    )
    assert told["verdict"] == "PASS"
    people = pd.read_csv(case / "people.csv")
    inner = pd.read_csv(case / "c1.csv").query("parent == 'Total'")["code"].tolist()
    groups = pd.read_csv(case / "c1.csv").set_index("code")["parent"]
    for codes, value in zip(made[["C1", "C2", "C3", "C4"]].itertuples(index=False), made["value"], strict=True):
        inside = np.ones(len(people), dtype=bool)
        for name, code in zip(("C1", "C2", "C3", "C4"), codes, strict=True):
            if code != "Total":
                own = people[name].map(groups) if name == "C1" and code in inner else people[name]
                inside &= (own == code).to_numpy() | (people[name] == code).to_numpy()
        assert int(value) % 5 == 0
        assert abs(int(value) - int(inside.sum())) < 5


@pytest.mark.parametrize("blank", ["  ", "\u00a0", " \u2009"])
def test_two_blanks_in_a_name(tmp_path: Path, blank: str) -> None:
    """Names that look the same are one contributor's."""
    case = case_path("tables", "two-blanks-in-a-name", "firms.csv")
    firms = pd.read_csv(case, dtype="str")
    more = pd.DataFrame({"firm": [f"Second{blank}Works"], "act": ["A"], "v": ["3"]})
    pd.concat([firms, more]).to_csv(tmp_path / "firms.csv", index=False)
    options = ["--hierarchy=act", "--value=v", "--contributor=firm", FEW]
    assert protected(tmp_path, case, *options)[0]["contributors_respelled"] == 1
    told = protected(tmp_path, tmp_path / "firms.csv", *options)[0]
    assert (told["records_added_up"], told["contributors_respelled"]) == (1, 2)
    pd.concat([firms, more.assign(firm="SECOND WORKS")]).to_csv(tmp_path / "firms.csv", index=False)
    told = protected(tmp_path, tmp_path / "firms.csv", *options)[0]
    assert (told["records_added_up"], told["contributors_joined"], told["contributors_alike"]) == (1, 1, 0)


def test_two_responses(tmp_path: Path) -> None:
    case = case_path("tables", "two-responses", "firms.csv")
    axes = ["--hierarchy=act", "--hierarchy=reg", "--contributor=firm", P, FEW]
    told, made = protected(tmp_path, case, *axes, "--value=turn", "--value=emp")
    assert told["safe"]
    for name in ("turn", "emp"):
        alone = protected(tmp_path, case, *axes, f"--value={name}")[0]
        assert alone["primary"] <= told["primary"]
        file = tmp_path / "firms-out.csv"
        made.to_csv(file, index=False)
        assert audited(file, *axes, f"--microdata={case}", f"--value={name}", f"--cells-value={name}").json["safe"]


def test_zero_cells_void(tmp_path: Path) -> None:
    """One verdict by every door, and no interval of nothing."""
    case = case_path("tables", "zero-cells-void", "firms.csv")
    options = ["--hierarchy=k", "--value=v", "--contributor=firm", P, FEW]
    for rules in ([*options, "--rule=zero_cells"], options):
        told, _ = protected(tmp_path, case, *rules)
        assert told["safe"]
        assert all(cell["width_per_width_asked"] >= 1 for cell in told["narrowest"])
        out = tmp_path / "firms-out.csv"
        assert audited(out, "--hierarchy=k").json["exactly_known"] == []
        assert audited(out, *rules, f"--microdata={case}").json["safe"]
