"""The chain for tables: from firms' records to published tables, or a refusal that says why."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import sdmx as sdmx1

from sluice.ground.verdict import Verdict
from tests.flows.house import BLOCKED, DONE, ERROR, WAITING
from tests.flows.stages import stages
from tests.flows.tables_house import TablesHouse, firms, rows
from tests.golden import golden
from tests.publication.data_package import problems
from tests.report.pages import Page


@pytest.fixture
def house(tmp_path: Path) -> TablesHouse:
    """A house whose tables pass their policy."""
    return TablesHouse(tmp_path / "house")


@pytest.fixture
def published() -> TablesHouse:
    """Such a house, whose tables are published."""
    return stages(TablesHouse).at("published")


def stopped_by(house: TablesHouse) -> list[str]:
    """What is said of each finding that keeps the release from being published."""
    findings = house.sluice("review", house.ids[-1], "--json").json["findings"]
    return sorted({each["says"] for each in findings if each["binding"] and each["verdict"] != Verdict.PASS})


def cells_of(house: TablesHouse, dimensions: list[str]) -> dict[tuple[str, ...], list[float]]:
    """By hand: code in each dimension -> the firms' turnovers."""
    trees = {**house.hierarchies, "size": {"Total": "", "small": "Total", "large": "Total"}}
    cells: dict[tuple[str, ...], list[float]] = {}
    for record in house.data.to_dict("records"):
        keys: list[tuple[str, ...]] = [()]
        for name in dimensions:
            path = [record[name]]
            while trees[name][path[-1]]:
                path.append(trees[name][path[-1]])
            keys = [(*key, code) for key in keys for code in path]
        for key in keys:
            cells.setdefault(key, []).append(record["turnover"])
    return cells


def is_sensitive(values: list[float]) -> bool:
    first, second, *_ = [*sorted(values, reverse=True), 0.0]
    return len(values) < 3 or round(10 * (sum(values) - first - second)) < round(first)


def test_tables_are_published_in_all_forms_and_hold_what_was_judged(house: TablesHouse) -> None:
    house.definition["form"] = {"sdmx_dataflow": "XX:TURNOVER(1.0)", "time_period": "2026-Q3"}
    house.write()
    house.release_approved()

    names = sorted(path.name for path in house.folder.iterdir())
    assert names == sorted(
        [f"industry-by-{by}{ending}" for by in ("region", "size") for ending in (".csv", ".parquet", ".sdmx.csv")]
        + ["CITATION.cff", "README.md", "attestation.json", "checksums.sha256", "codebook.html", "codebook.xml"]
        + ["datapackage.json", "manifest.json", "structure.xml"]
    )
    structure = sdmx1.read_sdmx(house.folder / "structure.xml")
    for name, dimensions in (("industry-by-region", ["nace", "region"]), ("industry-by-size", ["nace", "size"])):
        published, true = rows(house.folder / f"{name}.csv"), cells_of(house, dimensions)
        assert {tuple(row[d] for d in dimensions) for row in published} == set(true)  # every cell that is not empty
        for row in published:
            values = true[tuple(row[d] for d in dimensions)]
            assert row["status"] == ("published" if row["value"] else "suppressed")
            assert row["value"] == (f"{sum(values):.1f}" if row["status"] == "published" else "")
            assert not (row["value"] and is_sensitive(values))
        assert {row["status"] for row in published} == {"published", "suppressed"}
        assert "contributors" not in published[0]
        sums = {code for tree in house.hierarchies.values() for code in tree.values()} | {"Total"}
        assert {row["is_total"] for row in published} == {"0", "1"}
        assert all((row["is_total"] == "1") == any(row[d] in sums for d in dimensions) for row in published)
        table = pq.read_table(house.folder / f"{name}.parquet").to_pydict()
        assert [value is None for value in table["value"]] == [row["value"] == "" for row in published]
        sdmx = rows(house.folder / f"{name}.sdmx.csv")
        assert {(row["OBS_STATUS"], row["CONF_STATUS"]) for row in sdmx} == {("A", "F"), ("Q", "N")}
        assert [row["OBS_VALUE"] for row in sdmx] == [row["value"] or "NaN" for row in published]
        message = sdmx1.read_sdmx(house.folder / f"{name}.sdmx.csv", structure=structure.dataflow["TURNOVER"])
        assert len(message.data[0].obs) == len(published)
    package = json.loads((house.folder / "datapackage.json").read_text(encoding="utf-8"))
    assert {resource["path"] for resource in package["resources"]} == {n for n in names if n.startswith("industry")}
    assert '"primary"' not in json.dumps(package)
    golden(sorted({each for each in json.dumps(package).split('"') if "of them are sensitive" in each}))
    assert problems(house.folder) == []
    assert house.sluice("ledger", "verify").code == DONE


def test_primary_and_secondary_cells_are_told_apart_where_the_definition_asks(house: TablesHouse) -> None:
    house.definition["form"] = {"tell_primary": True, "sdmx_dataflow": "XX:TURNOVER(1.0)"}
    house.write()
    house.release_approved()
    true = cells_of(house, ["nace", "region"])
    for row in rows(house.folder / "industry-by-region.csv"):
        assert (row["status"] == "primary") == is_sensitive(true[row["nace"], row["region"]])
    assert {row["CONF_STATUS"] for row in rows(house.folder / "industry-by-size.sdmx.csv")} == {"F", "C", "D"}
    report = (house.home / "reports" / f"{house.id}.html").read_text(encoding="utf-8")
    golden([each for each in Page(report).lines if "The files tell" in each])


def test_numbers_of_contributors_are_published_where_they_reveal_nothing(house: TablesHouse) -> None:
    del house.definition["tables"][1], house.definition["dimensions"][2]
    house.data = house.data[house.data.nace.isin(["01", "02"]) & house.data.region.isin(["N1", "N2"])]
    house.definition["form"] = {"tell_contributors": True}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 3}]
    house.write()
    house.release_approved()
    published, true = rows(house.folder / "industry-by-region.csv"), cells_of(house, ["nace", "region"])
    assert all(row["contributors"] == str(len(true[row["nace"], row["region"]])) for row in published)
    assert "contributor_numbers" in house.sluice("review", house.id).words


def test_numbers_of_contributors_that_tell_those_of_suppressed_cells_block(house: TablesHouse) -> None:
    house.definition["form"] = {"tell_contributors": True}
    house.write()
    with _pattern_of_primaries_alone():
        told = house.release()
    assert told.code == BLOCKED
    golden.where("form.tell_contributors", told.out)


def test_the_same_data_again_is_the_same_release_with_the_same_bytes(published: TablesHouse) -> None:
    before = {path.name: path.read_bytes() for path in published.folder.iterdir()}
    published.data = published.data.sample(frac=1, random_state=1)  # another order of the records is no other data
    published.write()
    assert published.release().code == DONE
    assert len(published.ids) == 1
    assert {path.name: path.read_bytes() for path in published.folder.iterdir()} == before


def test_a_release_has_costs_that_only_its_vault_knows(house: TablesHouse) -> None:
    from tasks.release.tables import shared_pattern

    with patch.object(shared_pattern, "suppress_cells", wraps=shared_pattern.suppress_cells) as suppress_cells:
        assert house.release().code == WAITING
    cells, request = suppress_cells.call_args.args[:2]
    assert not (request.manual.cost == np.abs(cells.total)).any()
    assert 0 < np.log(request.manual.cost / np.abs(cells.total)).std() < 0.5


def test_a_firm_that_is_spelled_in_several_ways_is_one_contributor(house: TablesHouse) -> None:
    """Six records of two firms: as six contributors their cell would be published."""
    house.definition |= {"dimensions": house.definition["dimensions"][:1]}
    house.definition["tables"] = [{"name": "cells", "dimensions": ["nace"]}]
    house.contract |= {"record_key": []}
    few = house.data["nace"] == "05"
    house.data = house.data[~few]
    names = [
        "Muller  & Co",
        "Muller & Co",
        "Mu\u0308ller-Bau",
        "M\u00fcller\u2013Bau",
        "MULLER & CO",
        "M\u00fcller-bau",
    ]
    spelled = pd.DataFrame(
        {"firm": names, "holding": "H", "nace": "05", "region": "N1", "size": "small", "turnover": 100.0}
    )
    house.data = pd.concat([house.data, spelled])
    house.write()
    house.release_approved()
    status = {row["nace"]: row["status"] for row in rows(house.folder / "cells.csv")}
    assert status["05"] == "suppressed"
    read = [entry.body["reading"] for entry in house.workspace().ledger.entries() if entry.event == "received"]
    met = {remark["code"]: remark["count"] for remark in read[0]}
    assert met == {"reading.names_alike": 3, "reading.names_in_capitals": 2}


@contextmanager
def _pattern_of_primaries_alone() -> Iterator[None]:
    """As a protection that forgot the secondary cells, and claims with forged proofs that each is open all the same."""
    from sluice.tabular.suppression.suppression import Certificate, Suppression

    def forgetful(cells: Any, requirements: Any, *_: Any, **__: Any) -> Suppression:
        sensitive = np.flatnonzero(requirements.sensitive)
        forged = tuple(
            Certificate((int(at),), np.array([at], np.int32), np.array([size]), True)
            for at in sensitive
            for size in (1.0, float(cells.total[at]))
        )
        return Suppression(requirements.sensitive.astype(np.uint8), forged, None)

    with patch("tasks.release.tables.protection.suppress", forgetful):
        yield


def test_a_pattern_that_can_be_undone_is_blocked_with_the_cells_and_no_value(house: TablesHouse) -> None:
    with _pattern_of_primaries_alone():
        told = house.release()
    assert told.code == BLOCKED
    golden.where("nace", told.out)
    sensitive = [sum(v) for v in cells_of(house, ["nace", "region"]).values() if is_sensitive(v)]
    assert not any(f"{value:.1f}" in told.words for value in sensitive)
    assert house.shelf == []


def test_files_that_tell_more_than_was_judged_are_blocked(house: TablesHouse) -> None:
    from tasks.release.tables.published_cells import PublishedCells
    from tasks.release.tables.table_files import table_files

    def talkative(case: Any, cells: Any, shown: Any) -> Iterator[tuple[str, bytes]]:
        opened = shown.status.copy()
        opened[np.flatnonzero(opened)[0]] = 0  # as a writer that forgot to blank one cell
        return table_files(case, cells, PublishedCells(opened))

    with patch("tasks.table_protection.table_files", talkative):
        told = house.release()
    assert told.code == BLOCKED
    golden(stopped_by(house))
    assert house.shelf == []


def test_an_audit_that_was_not_finished_blocks(house: TablesHouse) -> None:
    from sluice.tabular.audit.pattern_audit import Audit

    nothing = np.full(10_000, np.nan)
    with patch(
        "tasks.table_audit.audit_cells", lambda cells, *_, **__: Audit(False, (), *[nothing[: len(cells)]] * 2, 9, 8)
    ):
        told = house.release()
    assert told.code == BLOCKED
    golden(told.words)
    with patch("tasks.table_audit.audit_cells", side_effect=MemoryError):
        told = house.release()
    assert told.code == BLOCKED
    assert house.shelf == []


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", "published_cells", "cells"])
def test_what_was_judged_cannot_be_exchanged_before_publication(suffix: str) -> None:
    house = stages(TablesHouse).at("almost")
    masked = [entry for entry in house.workspace().ledger.entries() if entry.event == "masked"][-1].body
    objects = house.home / "vault" / "objects"
    listed = json.loads((objects / f"{masked['data']}.json").read_text())
    held = {
        ".csv": listed["industry-by-region.csv"],
        ".parquet": listed["industry-by-size.parquet"],
        ".json": masked["data"],
        "published_cells": masked["published_cells"],
        "cells": masked["cells"],
    }
    path = objects / f"{held[suffix]}{suffix if suffix.startswith('.') else '.npz'}"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b" ")
    assert house.approve("jonas").code == ERROR
    assert house.shelf == []


def test_a_change_of_a_hierarchy_voids_approvals() -> None:
    house = stages(TablesHouse).at("pending")
    release = house.id
    house.hierarchies["nace"] = {**house.hierarchies["nace"], "05": "A"}
    house.write()
    told = house.sluice("approve", release, "--as", "amara")
    assert told.code == ERROR
    assert "changed since" in told.words


REFUSED: dict[str, tuple[Any, str]] = {
    "a word for sensitive counts": (
        lambda h: (
            h.definition.update(measure={}, form={"tell_primary": True}),
            h.policy.update(rules=[{"rule": "minimum_frequency", "n": 4}]),
        ),
        "who is told which suppressed counts are sensitive knows how small they are",
    ),
    "a word for cells whose contributors asked": (
        lambda h: (
            h.definition.update(form={"tell_primary": True}),
            h.definition["measure"].update(requested={"variable": "size", "value": "large"}),
            h.policy.update(rules=[{"rule": "minimum_frequency", "n": 3}, {"rule": "request_rule", "k": 50}]),
        ),
        "form.tell_primary: by these rules, the word 'primary' tells contributors",
    ),
    "a word for cells of contributors who pool": (
        lambda h: (h.definition.update(form={"tell_primary": True}), h.policy.update(table_attackers={"coalition": 2})),
        "who pool what they know (table_attackers.coalition above 1)",
    ),
    "a code with a dot for SDMX": (
        lambda h: (
            h.definition.update(form={"sdmx_dataflow": "XX:T(1.0)"}),
            h.hierarchies["region"].update({"N.9": "N"}),
        ),
        "form.sdmx_dataflow: a code of 'region' must consist of letters",
    ),
    "an orphan": (lambda h: h.hierarchies["nace"].update({"99": "C"}), "must have a row of its own"),
    "a circle": (lambda h: h.hierarchies["nace"].update({"A": "01"}), "circle"),
    "an unknown variable": (lambda h: h.definition["measure"].update(variable="turnver"), "Did you mean 'turnover'?"),
    "an unknown dimension": (lambda h: h.definition["tables"][0].update(dimensions=["nace", "regoin"]), "'region'?"),
    "a text to add up": (lambda h: h.definition["measure"].update(variable="nace"), "must be a number"),
    "no contributor": (lambda h: h.definition["measure"].update(contributor="size"), "must have the role contributor"),
    "a policy for records": (
        lambda h: h.policy["rules"].append({"rule": "k_anonymity", "k": 3}),
        "k_anonymity records, and no release is both",
    ),
    "an unknown withheld code": (lambda h: h.definition["dimensions"][1].update(withheld=["W"]), "no code 'W'"),
    "a dimension of numbers": (lambda h: h.variable("size").update(kind="integer", categories=None), "must be nominal"),
    "categories of another list": (
        lambda h: h.variable("nace").update(categories=["01", "02", "NA", "04", "05", "06"]),
        "must be its leaves; not among them: 06",
    ),
    "no hierarchy, no categories": (lambda h: h.definition["dimensions"][1].pop("hierarchy"), "needs a hierarchy"),
    "a weight that is none": (
        lambda h: h.definition["measure"].update(weight={"variable": "turnover", "rule": "argus"}),
        "'turnover' must have the role weight",
    ),
    "an answer that nobody can give": (
        lambda h: h.definition["measure"].update(requested={"variable": "size", "value": "yes"}),
        "must be one of the contract's categories of 'size': small, large; got 'yes'",
    ),
    "a level that is not there": (
        lambda h: h.definition["tables"][0].update(dimensions=["nace:7", "region"]),
        "a table's level of 'nace' must be from 1 to 2; got '7'",
    ),
    "a dimension of no table": (lambda h: h.definition["tables"].pop(), "no table has 'size'"),
    "two tables of one name": (
        lambda h: h.definition["tables"].append(dict(h.definition["tables"][0])),
        "named twice: industry-by-region",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_document_is_refused_before_a_record_is_read(house: TablesHouse, what: str) -> None:
    change, says = REFUSED[what]
    change(house)
    house.write()
    told = house.release()
    assert told.code == ERROR
    assert says in told.words
    assert house.ids == []


WRONG_DATA: dict[str, tuple[Any, str]] = {
    "a code that no hierarchy has": (lambda h: h.data.__setitem__("nace", h.data.nace.replace("05", "5")), "'5'"),
    "a group for a leaf": (lambda h: h.data.__setitem__("nace", h.data.nace.replace("05", "B")), "'B' is a group"),
    "a negative turnover": (
        lambda h: (h.variable("turnover").pop("minimum"), h.data.loc.__setitem__((0, "turnover"), -5.0)),
        "'turnover' is negative in 1 record",
    ),
    "an infeasible request": (
        lambda h: (
            (h.root / "documents" / "cells.csv").write_text(
                "nace,region,size,status\n05,N1,Total,published\n", encoding="utf-8"
            )
            and h.definition.update(protection={"method": "suppression", "a_priori": "cells.csv"})
        ),
        "infeasible request",
    ),
}


@pytest.mark.parametrize("what", WRONG_DATA)
def test_wrong_data_stop_the_release_and_nothing_is_published(house: TablesHouse, what: str) -> None:
    change, says = WRONG_DATA[what]
    change(house)
    house.write()
    told = house.release()
    assert told.code == ERROR, told.words
    assert says in told.words
    assert house.shelf == []


def test_a_waiver_lets_a_sensitive_cell_out_and_stays_visible(house: TablesHouse) -> None:
    lines = [f"05,{region},Total,published\n" for region in ("S", "S1")]  # one firm, the only one of its region
    (house.documents / "cells.csv").write_text("nace,region,size,status\n" + "".join(lines), encoding="utf-8")
    house.definition["protection"] = {"method": "suppression", "a_priori": "cells.csv"}
    sensitive = cells_of(house, ["nace", "region"])["05", "S1"]
    assert is_sensitive(sensitive)
    house.policy["waivers"] = [
        {
            "rule": rule,
            "scope": f"nace 05, region {region}, size Total",
            "reason": "the firms of this cell publish their turnover themselves",
            "owner": "amara",
            "granted": str(pd.Timestamp.now("UTC").date()),
            "expires": str((pd.Timestamp.now("UTC") + pd.Timedelta(days=30)).date()),
        }
        for rule in ("minimum_frequency", "p_percent")
        for region in ("S", "S1")
    ]
    house.write()
    house.release_approved()
    found = {(row["nace"], row["region"]): row for row in rows(house.folder / "industry-by-region.csv")}
    assert found["05", "S1"]["value"] == f"{sum(sensitive):.1f}"
    assert "publish their turnover themselves" in house.sluice("review", house.id).words


def test_withheld_margins_are_in_no_file(house: TablesHouse) -> None:
    house.definition["dimensions"][1]["withheld_levels"] = [1]
    house.write()
    house.release_approved()
    assert {row["region"] for row in rows(house.folder / "industry-by-region.csv")} == {"Total", "N1", "N2", "S1", "S2"}
    package = json.loads((house.folder / "datapackage.json").read_text(encoding="utf-8"))
    assert package["sluice:notPublished"] == ["region: level 1"]


def test_a_revised_edition_is_compared_with_the_earlier_one(published: TablesHouse) -> None:
    first = {(r["nace"], r["region"]): r for r in rows(published.folder / "industry-by-region.csv")}
    published.data.loc[published.data.nace == "01", "turnover"] += 1.0  # all else is as it was
    published.write()
    told = published.release()
    assert told.code == WAITING, told.words
    findings = {f["rule"]: f for f in published.sluice("review", published.id, "--json").json["findings"]}
    golden(findings["earlier_editions"]["says"])
    published.approve_as_both()
    second = {(r["nace"], r["region"]): r for r in rows(published.folder / "industry-by-region.csv")}
    unrevised = [key for key in first if key[0] in ("B", "02", "NA", "04", "05")]
    for key in unrevised:  # what was blank then would be known now, and what was told then is no blank now
        assert (first[key]["status"] == "published") == (second[key]["status"] == "published")


def test_an_edition_that_undoes_the_last_one_is_blocked(published: TablesHouse) -> None:
    published.data.loc[published.data.nace == "01", "turnover"] += 1.0
    # Nothing is carried forward, and a cell that was blank for another's sake shall be told now: another blank it is.
    first = {(r["nace"], r["region"]): r for r in rows(published.folder / "industry-by-region.csv")}
    assert first["B", "S1"]["status"] == "suppressed"
    assert not is_sensitive(cells_of(published, ["nace", "region"])["B", "S1"])
    (published.documents / "cells.csv").write_text(
        "nace,region,size,status\nB,S1,Total,not_secondary\n", encoding="utf-8"
    )
    published.definition["protection"] = {"method": "suppression", "a_priori": "cells.csv", "carry_forward": False}
    published.write()
    with patch(
        "tasks.table_protection.nearest_edition", return_value=None
    ):  # as a protection that looks at this edition alone
        told = published.release()
    assert told.code == BLOCKED, told.words
    golden(stopped_by(published))


def test_records_that_add_up_to_published_tables_are_blocked(published: TablesHouse) -> None:
    table = {(r["nace"], r["region"]): r for r in rows(published.folder / "industry-by-region.csv")}
    for name in ("dimensions", "measure", "tables"):
        del published.definition[name]
    published.definition |= {"name": "firms-file", "plan": [{"method": "removal", "columns": ["holding"]}]}
    published.policy["rules"] = [{"rule": "k_anonymity", "k": 3, "columns": ["size"]}]
    published.write()
    told = published.release()
    assert told.code == BLOCKED, told.words
    golden(stopped_by(published))
    kept = next((published.home / "vault" / "objects").glob(f"{_masked(published)}.parquet"))
    file = pq.read_table(kept).to_pandas()
    inside = file[(file["nace"] == "05") & (file["region"] == "N1")]
    assert table["05", "N1"]["status"] == "suppressed"
    assert sorted(inside["turnover"]) == sorted(cells_of(published, ["nace", "region"])["05", "N1"])
    assert len(published.shelf) == 1


def _masked(house: TablesHouse) -> str:
    """The hash of the file of records that the latest release would publish."""
    masked = [entry for entry in house.workspace().ledger.entries(house.id) if entry.event == "masked"][-1]
    return str(masked.body["data"])


def test_holdings_are_protected_as_one(house: TablesHouse) -> None:
    by_firm = house.sluice("check", str(house.file))
    assert by_firm.code == DONE, by_firm.words
    house.definition["measure"]["holding"] = "holding"
    house.write()
    by_holding = house.sluice("check", str(house.file))
    assert by_holding.code == DONE, by_holding.words


def test_other_data_are_another_release(published: TablesHouse) -> None:
    published.data = firms(seed=5)
    published.write()
    published.release_approved()
    assert len(published.ids) == 2


COUNTS = {"contributor": "firm"}
ALTERED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "controlled_rounding": ({"base": 10_000}, {"variable": "turnover", "contributor": "firm", "decimals": 1}),
    "small_count_rounding": ({"base": 4}, COUNTS),
    "controlled_adjustment": ({}, {"variable": "turnover", "contributor": "firm", "decimals": 1}),
    "noise_multipliers": ({"least": 10}, {"variable": "turnover", "contributor": "firm", "decimals": 1}),
    "cell_key": ({"maximum": 7, "variance": 5.0, "threshold": 2}, COUNTS),
}


@pytest.mark.parametrize("method", ALTERED)
def test_values_may_be_changed_instead_of_suppressing_cells(house: TablesHouse, method: str) -> None:
    parameters, measure = ALTERED[method]
    house.keep_secret(1)
    house.definition |= {"protection": {"method": method, **parameters}, "measure": measure}
    if measure is COUNTS:
        house.policy["rules"] = [{"rule": "minimum_frequency", "n": 3}]
    if method == "small_count_rounding":  # it takes tables that add up the same inner cells
        del house.definition["tables"][1], house.definition["dimensions"][2]
    if method == "controlled_adjustment":  # of all firms, its integer program takes many seconds
        house.data = house.data[house.data.nace.isin(["01", "02", "04"]) & house.data.region.isin(["N1", "S2"])]
    house.write()
    house.release_approved()
    told = {tuple(r[d] for d in ("nace", "region")): r for r in rows(house.folder / "industry-by-region.csv")}
    true = cells_of(house, ["nace", "region"])
    assert {row["status"] for row in told.values()} == {"published"}
    assert "contributors" not in next(iter(told.values()))  # they would undo what was done to counts
    figures = {key: float(row["value"]) for key, row in told.items()}
    exact = {key: float(len(v) if measure is COUNTS else sum(v)) for key, v in true.items()}
    changed = [key for key in figures if abs(figures[key] - exact[key]) > 0.01]
    assert changed
    assert set(figures) <= set(exact)
    if method != "cell_key":  # all others still add up
        for group, parts in {"A": ["01", "02"], "B": ["NA", "04", "05"]}.items():
            assert figures.get((group, "N"), 0) == pytest.approx(sum(figures.get((p, "N"), 0) for p in parts))
    if method == "controlled_rounding":
        assert all(value % 10_000 == 0 for value in figures.values())
    if measure is COUNTS:
        assert all(value > 2 for value in figures.values())
    report = (house.home / "reports" / f"{house.id}.html").read_text(encoding="utf-8")
    assert "The audit" in report or "attacker" in report
    assert problems(house.folder) == []


def test_intervals_of_suppressed_cells_may_be_published(house: TablesHouse) -> None:
    house.definition["protection"] = {"method": "suppression", "intervals": True}
    house.write()
    house.release_approved()
    true = cells_of(house, ["nace", "region"])
    for row in rows(house.folder / "industry-by-region.csv"):
        if row["status"] == "published":
            assert row["lower"] == row["upper"] == ""
        else:
            assert float(row["lower"]) <= sum(true[row["nace"], row["region"]]) <= float(row["upper"])
            assert float(row["lower"]) < float(row["upper"])
    assert problems(house.folder) == []


def test_synthetic_values_make_a_suppressed_table_complete(house: TablesHouse) -> None:
    house.definition["protection"] = {"method": "suppression", "synthetic": True}
    house.write()
    house.release_approved()
    told = {(row["nace"], row["region"]): row for row in rows(house.folder / "industry-by-region.csv")}
    hidden = {key for key, row in told.items() if row["status"] != "published"}
    assert hidden == {key for key, row in told.items() if row["synthetic"]}
    assert all(told[key]["value"] == "" for key in hidden)
    complete = {key: round(10 * float(row["value"] or row["synthetic"])) for key, row in told.items()}
    for group, parts in {"A": ["01", "02"], "B": ["NA", "04", "05"]}.items():
        for region in ("Total", "N", "S", "N1", "N2", "S1", "S2"):
            assert complete.get((group, region), 0) == sum(complete.get((part, region), 0) for part in parts)
    true = cells_of(house, ["nace", "region"])
    assert sum(complete[key] == round(10 * sum(true[key])) for key in hidden) <= len(hidden) / 10
    package = json.loads((house.folder / "datapackage.json").read_text(encoding="utf-8"))
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    golden(fields["synthetic"]["description"])
    assert problems(house.folder) == []


def test_synthetic_values_that_follow_from_more_than_what_is_published_are_blocked(house: TablesHouse) -> None:
    from tasks.release.tables.published_cells import PublishedCells

    house.definition["protection"] = {"method": "suppression", "synthetic": True}
    house.write()

    drawn = PublishedCells.with_synthetic_values
    calls: list[int] = []

    def leaky(published: PublishedCells, cells: Any, assumptions: Any) -> PublishedCells:
        """As a protection that takes the true values; the audit, which asks second, draws."""
        calls.append(1)
        if len(calls) > 1:
            return drawn(published, cells, assumptions)
        return PublishedCells(published.status, synthetic=np.where(published.status > 0, cells.total, 0))

    with patch.object(PublishedCells, "with_synthetic_values", leaky):
        told = house.release()
    golden.words(told.words)
    assert told.code == BLOCKED
    assert house.shelf == []


@pytest.mark.parametrize("method", ["small_count_rounding", "cell_key"])
def test_methods_for_counts_refuse_amounts(house: TablesHouse, method: str) -> None:
    house.definition["protection"] = {"method": method, **ALTERED[method][0]}
    house.write()
    told = house.release().refused(figures=True)
    assert str(method) in told.words
    assert house.shelf == []


def test_the_request_rule_protects_those_who_asked(house: TablesHouse) -> None:
    house.data["asks"] = np.where(house.data.firm == house.data.firm[house.data.turnover.idxmax()], "yes", "no")
    house.contract["variables"].append({"name": "asks", "kind": "binary", "categories": ["yes", "no"]})
    house.policy["rules"] = [{"rule": "request_rule", "k": 50}]
    house.write()
    house.release().refused()
    house.definition["measure"]["requested"] = {"variable": "asks", "value": "yes"}
    house.write()
    house.release_approved()
    largest = house.data.loc[house.data.turnover.idxmax()]
    true = cells_of(house, ["nace", "region"])
    told_status = {(row["nace"], row["region"]): row["status"] for row in rows(house.folder / "industry-by-region.csv")}
    held = [
        cell for cell, values in true.items() if largest.turnover in values and largest.turnover > 0.5 * sum(values)
    ]
    assert held
    assert all(told_status[cell] == "suppressed" for cell in held)
    house.data.loc[house.data.firm == house.data.firm[house.data.turnover.idxmax()], "turnover"] *= 2
    house.write()  # all other cells are as they were, many with one who holds more than half and did not ask
    again = house.release()
    assert again.code == WAITING, again.words
    assert not stopped_by(house)


def test_a_threshold_above_the_base_of_rounding_blocks(house: TablesHouse) -> None:
    """Counts of 3 and 4 would be told as they are, and the policy asks for 5."""
    del house.definition["tables"][1], house.definition["dimensions"][2]
    house.definition |= {"protection": {"method": "small_count_rounding", "base": 3}, "measure": COUNTS}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 8}]
    house.write()
    told = house.release()
    assert told.code == BLOCKED, told.words
    golden(stopped_by(house))
    assert house.shelf == []


def change_one_industry(house: TablesHouse) -> None:
    house.data.loc[house.data.nace == "01", "turnover"] += 1.0
    house.write()


def test_changed_values_of_two_editions_need_a_decision(house: TablesHouse) -> None:
    """Two roundings of cells that did not change bound them from both sides."""
    house.definition["protection"] = {"method": "controlled_rounding", "base": 10_000}
    house.write()
    house.release_approved()
    change_one_industry(house)
    told = house.release()
    assert told.code == WAITING, told.words
    golden.words(told.words)
    house.policy["waivers"] = [
        {
            "rule": "earlier_editions",
            "scope": "turnover-tables",
            "reason": "both editions have the same base, and it was checked by hand",
            "owner": "amara",
            "granted": str(pd.Timestamp.now("UTC").date()),
            "expires": str((pd.Timestamp.now("UTC") + pd.Timedelta(days=30)).date()),
        }
    ]
    house.write()
    assert house.release().code == WAITING


def test_the_same_noise_in_two_editions_needs_none(house: TablesHouse) -> None:
    house.definition |= {"protection": {"method": "cell_key", **ALTERED["cell_key"][0]}, "measure": COUNTS}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 3}]
    house.write()
    house.keep_secret(1)  # of some drawings of the noise, the figures together tell too much
    house.release_approved()
    first = {(r["nace"], r["region"]): r["value"] for r in rows(house.folder / "industry-by-region.csv")}
    gone = [house.data.firm[house.data.nace == code].iloc[0] for code in ("01", "02")]
    gone += [house.data.firm[house.data.nace == "01"].iloc[at] for at in (1, 2)]
    house.data = house.data[~house.data.firm.isin(gone)]
    house.write()
    house.release_approved()
    second = {(r["nace"], r["region"]): r["value"] for r in rows(house.folder / "industry-by-region.csv")}
    untouched = [key for key in first if key[0] in ("NA", "04", "05", "B")]
    assert all(first[key] == second.get(key) for key in untouched)


def test_the_same_noise_in_editions_that_differ_by_one_firm_needs_a_decision(house: TablesHouse) -> None:
    """Where a figure changed, the firm was: nowhere else did one."""
    house.definition |= {"protection": {"method": "cell_key", **ALTERED["cell_key"][0]}, "measure": COUNTS}
    house.policy["rules"] = [{"rule": "minimum_frequency", "n": 3}]
    house.write()
    house.keep_secret(1)  # of some drawings of the noise, the figures together tell too much
    house.release_approved()
    house.data = house.data[house.data.firm != house.data.firm[house.data.nace == "01"].iloc[0]]
    house.write()
    told = house.release()
    assert told.code == WAITING, told.words
    golden(stopped_by(house))


def test_editions_that_cannot_be_compared_need_a_decision(published: TablesHouse) -> None:
    published.definition["measure"]["decimals"] = 0
    published.write()
    told = published.release()
    assert told.code == WAITING, told.words
    golden.words(told.words)


def test_an_edition_published_meanwhile_stops_the_publication(house: TablesHouse) -> None:
    """Approved first, published second: what was judged when there was no other edition is judged again."""
    house.definition["protection"] = {"method": "controlled_rounding", "base": 10_000}
    house.write()
    waiting = house.release()
    assert waiting.code == WAITING
    release = house.id
    assert house.approve("amara").code == WAITING
    aside = house.definition, house.file.read_bytes()
    house.definition = {**house.definition, "name": "other-tables"}
    other = house.documents / "other.yaml"
    house.write()
    house.file.rename(other)
    house.file.write_bytes(aside[1])
    assert house.sluice("release", str(other)).code == WAITING
    second = house.id
    for who in ("amara", "jonas"):
        house.sluice("approve", second, "--as", who)
    house.sluice("approve", release, "--as", "jonas").refused()
    assert [name.rpartition("-")[0] for name in house.shelf] == ["other-tables"]


def test_intervals_that_nothing_bounds_are_not_published(house: TablesHouse) -> None:
    house.definition["protection"] = {"method": "suppression", "intervals": True}
    house.definition["dimensions"][0]["withheld_levels"] = [0, 1]
    house.write()
    told = house.release()
    assert told.code == ERROR, told.words
    assert "nothing bounds" in told.words
    assert house.shelf == []


def test_a_release_can_be_withdrawn_when_a_hierarchy_is_gone(published: TablesHouse) -> None:
    (published.documents / "nace.csv").unlink()
    file = published.folder / "industry-by-size.csv"
    file.chmod(0o644)
    file.write_bytes(file.read_bytes() + b" ")
    published.sluice("ledger", "verify").refused()
    told = published.withdraw(published.id, "a firm objected")
    assert told.code == DONE, told.words
