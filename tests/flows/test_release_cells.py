"""A release of cells that came added up, from a real survey of firms: judged, decided on, approved, published."""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from tests.flows.house import ERROR, WAITING, House, people
from tests.flows.tables_house import policy, rows
from tests.golden import golden
from tests.red_team.stages import bare, made, publish
from tests.reference_data import reference_path

DIMENSIONS = ("activity", "region")
NUMBERS = ("turnover", "firms", "top1", "top2")
RULES: list[dict[str, Any]] = policy()["rules"]


@cache
def firms() -> pd.DataFrame:
    """9,786 establishments, each of its own, and their turnover in whole units."""
    read = pd.read_csv(reference_path("business_indiv_dt", "indiv_dt.csv.gz"), dtype=str)
    turnover = pd.to_numeric(read["TURNOVER"]).mul(100).round().astype(int)
    return pd.DataFrame({"activity": "a" + read["A88"], "region": read["NUTS2"], "turnover": turnover}).assign(
        firm=[f"F{number}" for number in range(len(read))]
    )


def added_up(records: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell and total: its codes, sum, number of firms, and the two largest."""
    every = pd.concat(
        records.assign(**dict.fromkeys(totals, "Total")) for totals in ((), ("activity",), ("region",), DIMENSIONS)
    )
    grouped = every.sort_values("turnover", ascending=False).groupby([*DIMENSIONS])["turnover"]
    cells = grouped.agg(["sum", "count", "max", lambda each: each.iloc[1] if len(each) > 1 else 0])
    return cells.set_axis([*NUMBERS], axis=1).reset_index()


class CellsHouse(House):
    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = added_up(firms())
        self.policy, self.people = policy(), people()
        self.contract: dict[str, Any] = {
            "dataset": "firms-in-cells", "version": 1, "records_are": "cells",
            "variables": [
                *({"name": name, "kind": "nominal", "role": "other", "categories": sorted(self.data[name].unique())}
                  for name in DIMENSIONS),
                *({"name": name, "kind": "integer", "role": "sensitive", "minimum": 0} for name in NUMBERS),
            ],
        }  # fmt: skip
        self.definition: dict[str, Any] = {
            "name": "turnover-cells", "title": "Turnover by activity and region", "owner": "emil",
            "source": {"type": "csv", "path": "cells.csv"},
            "contract": "contract.yaml", "policy": "policy.yaml", "target": "../published",
            "dimensions": [{"variable": name} for name in DIMENSIONS],
            "measure": {"variable": "turnover"},
            "cells": {"frequency": "firms", "largest": ["top1", "top2"]},
            "tables": [{"name": "cells", "dimensions": [*DIMENSIONS]}],
        }  # fmt: skip
        self.write()

    def write(self) -> None:
        super().write()
        (self.documents / "people.csv").unlink()
        self.data.to_csv(self.documents / "cells.csv", index=False)


@pytest.fixture
def house(tmp_path: Path) -> CellsHouse:
    return CellsHouse(tmp_path / "house")


def test_cells_are_published_after_a_decision_and_no_firm_is_read_from_them(house: CellsHouse) -> None:
    assert house.release().code == WAITING  # until somebody decides on what cells do not tell
    shown = house.sluice("review", house.id, "--json").json["findings"]
    (open_,) = [each for each in shown if each["binding"] and each["verdict"] != Verdict.PASS]
    assert (open_["rule"], open_["verdict"]) == ("cells_added_up", Verdict.REVIEW)
    golden(open_["says"])
    reason = "Each firm is one establishment, and so in one cell."
    accepted = house.sluice("accept-finding", house.id, "cells_added_up.untold", "--reason", reason, "--as", "mina")
    assert accepted.code == WAITING, accepted.words
    house.approve_as_both()

    listed = pd.DataFrame(rows(house.target / house.id / "cells.csv"))
    hidden = listed["status"] == "suppressed"
    assert len(listed) == len(house.data)
    assert 0 < hidden.sum() < len(listed) / 2
    assert "turnover" not in listed
    truth = house.data.astype(str).set_index([*DIMENSIONS])["turnover"]
    assert (listed.set_index([*DIMENSIONS])["value"][~hidden.to_numpy()] == truth.loc[
        [*listed.loc[~hidden, [*DIMENSIONS]].itertuples(index=False, name=None)]
    ]).all()  # fmt: skip
    audited = sluice.audit(listed, [*DIMENSIONS], records=firms(), value="turnover", rules=RULES, contributor="firm")
    assert audited.verdict is Verdict.PASS


def test_cells_that_contradict_each_other_stop_the_release_and_no_figure_is_told(house: CellsHouse) -> None:
    inner = house.data.index[(house.data["activity"] != "Total") & (house.data["region"] != "Total")][0]
    house.data.loc[inner, "turnover"] += 7654321
    from tasks.table_protection import tabulate

    with golden.raises(DataError) as refused:
        bare(tabulate)(made(house))
    assert "7654321" not in str(refused.value)
    assert house.data.loc[inner, "activity"] in str(refused.value)
    assert house.release().code == ERROR
    assert not list(house.target.glob("*"))


def test_an_edition_that_differs_needs_a_decision(house: CellsHouse) -> None:
    """Who came and who left is not told: a difference may be the turnover of one firm."""
    from tasks.release.tables.published_cells import request_of, staged_and_published_cells
    from tasks.release.tables.table_editions import compare_with_earlier_editions
    from tasks.table_protection import protect, tabulate

    def masked() -> Any:
        release = made(house)
        bare(protect)(release, bare(tabulate)(release))
        return release

    publish(masked())
    newcomer = {"activity": "a43", "region": "FR10", "turnover": 77777, "firm": "F99999"}
    house.data = added_up(pd.concat([firms(), pd.DataFrame([newcomer])], ignore_index=True))
    second = masked()
    _, cells, published = staged_and_published_cells(second)
    found = compare_with_earlier_editions(second, cells, published, request_of(second, cells), 1)
    says = [each.says for each in found if each.verdict is Verdict.REVIEW]
    assert len(says) == 1
    golden(says[0])


@pytest.mark.parametrize(
    "changed",
    [
        {"measure": {"variable": "turnover", "contributor": "firms"}},
        {"cells": {"frequency": "workers"}},
        {"cells": {"frequency": "firms", "largest": ["activity"]}},
        {"cells": {"frequency": "firms", "status": "status"}},
        {"cells": {"frequency": "firms", "largest": ["top1"]}},  # p_percent looks at two
        {"measure": {}, "protection": {"method": "cell_key", "maximum": 5, "variance": 2.5}},
    ],
)  # fmt: skip
def test_what_cells_do_not_tell_is_refused_before_one_is_read(house: CellsHouse, changed: dict[str, Any]) -> None:
    house.definition |= changed
    house.write()
    (house.documents / "cells.csv").unlink()
    house.release().refused()


def test_counts_need_no_more_than_their_cells(house: CellsHouse) -> None:
    house.definition |= {"measure": {}, "cells": {"frequency": "firms"}}
    house.policy["rules"] = RULES[:1]
    house.write()
    assert house.release().code == WAITING
    findings = house.sluice("review", house.id, "--json").json["findings"]
    assert [each["rule"] for each in findings if each["binding"] and each["verdict"] != Verdict.PASS] == [
        "cells_added_up"
    ]


def test_linked_tables_of_cells_and_one_that_ends_above_the_leaves(house: CellsHouse) -> None:
    """Cells that are in no table are refused, and not taken for published ones."""
    whole = house.data
    house.definition["tables"] = [{"name": name, "dimensions": [name]} for name in DIMENSIONS]
    house.write()
    house.release().refused(figures=True)
    house.data = whole[(whole["activity"] == "Total") | (whole["region"] == "Total")]
    house.write()
    assert house.release().code == WAITING
    shown = house.sluice("review", house.id, "--json").json["findings"]
    golden(next(each["says"] for each in shown if each["rule"] == "cells_added_up"))

    parents = {code: f"g{code[1]}" for code in firms()["activity"].unique()}
    above = added_up(firms().assign(activity=firms()["activity"].map(parents)))
    tree = [("Total", ""), *((group, "Total") for group in sorted({*parents.values()})), *parents.items()]
    house.definition["tables"] = [{"name": "groups", "dimensions": ["activity:1", "region"]}]
    house.definition["dimensions"] = [{"variable": "activity", "hierarchy": "activity.csv"}, {"variable": "region"}]
    house.contract["variables"][0]["categories"] = [code for code, _ in tree]
    house.data = above
    house.write()
    lines = ["code,parent", *(f"{code},{parent}" for code, parent in tree)]
    (house.documents / "activity.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert house.release().code == WAITING
    house.data = pd.concat([above, whole[whole["activity"] != "Total"]], ignore_index=True)
    house.data.to_csv(house.documents / "cells.csv", index=False)
    house.release().refused(figures=True)
