"""Turnover and employees of the same firms in one release: one pattern, safe for both, in every file and document."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sluice.ground.verdict import Verdict
from sluice.tabular.model.cells import Status
from tasks.ingest import ingest, validate
from tasks.release.products import load_product
from tasks.release.tables.published_cells import PublishedCells, measures_of, staged_and_published_cells
from tasks.table_audit import audit
from tasks.table_protection import protect, tabulate
from tests.flows.house import BLOCKED, ERROR
from tests.flows.tables_house import TablesHouse, firms, rows
from tests.golden import golden
from tests.publication.data_package import problems

BOTH = ["turnover", "employees"]


class MeasuresHouse(TablesHouse):
    """A house that publishes turnover with a decimal, and employees, who are counted."""

    def __init__(self, root: Path, seed: int = 1) -> None:
        super().__init__(root)
        rng = np.random.default_rng(seed)
        self.data = firms(seed=seed).assign(employees=rng.geometric(0.05, 260) * rng.choice([1, 1, 1, 30], 260))
        described: dict[str, Any] = {"name": "employees", "kind": "integer", "role": "sensitive", "minimum": 0}
        self.contract["variables"] += [described | {"unit": "people", "description": "People on the payroll"}]
        del self.definition["measure"]["variable"]
        self.definition |= {"name": "firm-tables", "measures": BOTH}
        self.definition["measure"]["decimals"] = {"turnover": 1}
        self.write()


@pytest.fixture
def house(tmp_path: Path) -> MeasuresHouse:
    return MeasuresHouse(tmp_path / "house")


def sensitive(house: TablesHouse, name: str, dimensions: list[str]) -> dict[tuple[str, ...], bool]:
    """By hand: which cells too few firms are in, or of which the second firm knows the first."""
    trees = {**house.hierarchies, "size": {"Total": "", "small": "Total", "large": "Total"}}
    cells: dict[tuple[str, ...], list[int]] = {}
    for record in house.data.to_dict("records"):
        keys: list[tuple[str, ...]] = [()]
        for dimension in dimensions:
            path = [record[dimension]]
            while trees[dimension][path[-1]]:
                path.append(trees[dimension][path[-1]])
            keys = [(*key, code) for key in keys for code in path]
        for key in keys:
            cells.setdefault(key, []).append(round(10 * record[name]))
    found = {}
    for key, values in cells.items():
        first, second, *_ = [*sorted(values, reverse=True), 0]
        found[key] = len(values) < 3 or 10 * (sum(values) - first - second) < first
    return found


def test_a_file_has_a_column_of_each_measure_and_one_pattern(house: MeasuresHouse) -> None:
    house.release_approved()
    for table, dimensions in (("industry-by-region", ["nace", "region"]), ("industry-by-size", ["nace", "size"])):
        published = rows(house.folder / f"{table}.csv")
        assert list(published[0]) == [*dimensions, "status", *BOTH, "is_total"]
        by_rule = [sensitive(house, name, dimensions) for name in BOTH]
        for row in published:
            cell = tuple(row[dimension] for dimension in dimensions)
            assert (row["turnover"] == "") == (row["employees"] == "") == (row["status"] == "suppressed")
            assert not (row["turnover"] and any(each[cell] for each in by_rule))
            of = house.data
            for dimension, code in zip(dimensions, cell, strict=True):
                of = of if code == "Total" else of[of[dimension].isin(_leaves(house, dimension, code))]
            if row["turnover"]:
                assert (row["turnover"], row["employees"]) == (f"{of.turnover.sum():.1f}", f"{of.employees.sum()}")
        typed = pq.read_table(house.folder / f"{table}.parquet")
        assert [str(typed.schema.field(name).type) for name in BOTH] == ["double", "int64"]
        assert typed["employees"].to_pylist() == [
            int(row["employees"]) if row["employees"] else None for row in published
        ]
    one, other = (sensitive(house, name, ["nace", "region"]) for name in BOTH)
    assert one != other  # so there was something to bring together
    fields = {
        field["name"]: field
        for resource in json.loads((house.folder / "datapackage.json").read_bytes())["resources"]
        for field in resource["schema"]["fields"]
    }
    assert [fields[name]["type"] for name in BOTH] == ["number", "integer"]
    assert fields["employees"]["description"] == "People on the payroll"
    assert problems(house.folder) == []
    golden((house.folder / "README.md").read_text(encoding="utf-8").split("## Licence")[0])


def _leaves(house: TablesHouse, dimension: str, code: str) -> set[str]:
    tree = house.hierarchies.get(dimension, {})
    return {code} | {
        leaf for child, parent in tree.items() if parent == code for leaf in _leaves(house, dimension, child)
    }


def test_a_pattern_that_is_safe_for_one_measure_alone_fails_for_the_other(house: MeasuresHouse) -> None:
    house.adopt()
    house.write()
    release = ingest(load_product(house.file, house.workspace()))
    validate(release)
    staged = tabulate(release)
    protected = protect(release, staged)
    found = audit(release, staged, protected)
    audits = {each.scope: each for each in found.findings if each.rule == "table_audit"}
    assert {name: each.verdict for name, each in audits.items()} == dict.fromkeys(BOTH, Verdict.PASS)
    assert [(each.name, each.measure) for each in found.tables] == [
        (table, name) for name in BOTH for table in ("industry-by-region", "industry-by-size")
    ]
    _, _, published = staged_and_published_cells(release)
    asked = {of.name: of.request.requirements.sensitive for of in measures_of(release, staged)}
    only = asked["employees"] & ~asked["turnover"]
    assert only.any()
    status = np.where(only, Status.PUBLISHED, published.status).astype(np.uint8)
    kept = release.vault.keep_bytes(PublishedCells(status).to_bytes(), ".npz")
    found = audit(release, staged, replace(protected, published_cells=kept))
    verdicts = {each.scope: each.verdict for each in found.findings if each.rule == "table_audit"}
    assert verdicts["employees"] is Verdict.FAIL
    problems_found = next(each for each in found.findings if each.rule == "table_files")
    assert problems_found.verdict is Verdict.FAIL  # the files hold another pattern than the one that is judged


def test_a_definition_asks_more_of_a_measure_than_the_policy_and_never_less(house: MeasuresHouse) -> None:
    """By its own rule and readers of one measure; the looser rule of the other takes nothing away. A pattern that shows
    what the definition alone calls sensitive fails."""
    house.adopt()
    house.write()
    plain = load_product(house.file, house.workspace())
    own = {"employees": [{"rule": "dominance", "n": 1, "k": 60}], "turnover": [{"rule": "minimum_frequency", "n": 2}]}
    house.definition |= {"rules_of": own, "table_attackers_of": {"turnover": {"coalition": 2}}}
    house.write()
    release = ingest(load_product(house.file, house.workspace()))
    validate(release)
    staged = tabulate(release)
    assert sum(says.startswith("Beside this, of") for says in release.product.plan_in_words()) == 3
    by_policy = {of.name: of.request for of in measures_of(replace(release, product=plain), staged)}
    asked = {of.name: of.request for of in measures_of(release, staged)}
    only = {}
    for name in BOTH:
        before, now = by_policy[name].requirements, asked[name].requirements
        only[name] = now.sensitive & ~before.sensitive
        assert only[name].any()
        assert not (before.sensitive & ~now.sensitive).any()
        assert (now.upper >= before.upper).all()
    assert [asked[name].assumptions.coalition for name in BOTH] == [2, 1]
    assert ["dominance" in asked[name].requirements.by_rule for name in BOTH] == [False, True]
    assert [rule.coalition for rule in asked["turnover"].rules if hasattr(rule, "coalition")] == [2]
    protected = protect(release, staged)
    _, _, published = staged_and_published_cells(release)
    for shown, wrong in ((only["employees"] & ~only["turnover"], ["employees"]), (published.status < 0, [])):
        status = np.where(shown, Status.PUBLISHED, published.status).astype(np.uint8)
        kept = release.vault.keep_bytes(PublishedCells(status).to_bytes(), ".npz")
        found = audit(release, staged, replace(protected, published_cells=kept))
        verdicts = {each.scope: each.verdict for each in found.findings if each.rule == "table_audit"}
        assert [name for name in BOTH if verdicts[name] is not Verdict.PASS] == wrong


def editions(house: TablesHouse) -> list[dict[str, Any]]:
    found = json.loads(house.sluice("review", house.id, "--json").out)["findings"]
    return [each for each in found if each["rule"] == "earlier_editions"]


def suppressed(house: TablesHouse) -> set[tuple[str, str]]:
    published = rows(house.folder / "industry-by-region.csv")
    return {(row["nace"], row["region"]) for row in published if row["status"] == "suppressed"}


def test_editions_are_judged_of_each_measure(house: MeasuresHouse) -> None:
    """A firm of a cell that both editions publish leaves: the difference tells what it had, of both measures."""
    house.definition["tables"] = [{"name": "industry", "dimensions": ["nace"]}]
    del house.definition["dimensions"][1:]
    house.write()
    house.release_approved()
    leaves = house.data.index[house.data.nace == "01"][:1]
    house.data = house.data.drop(index=leaves)
    house.write()
    told = house.release()
    assert told.code == BLOCKED
    assert [each["scope"].split(",")[0] for each in editions(house) if each["verdict"] == Verdict.FAIL] == BOTH


def test_an_edition_of_one_measure_is_beside_those_of_several(house: MeasuresHouse) -> None:
    """What turnover alone published and suppressed holds for turnover beside employees."""
    del house.definition["measures"]
    house.definition["measure"] |= {"variable": "turnover", "decimals": 1}
    house.write()
    house.release_approved()
    before = suppressed(house)
    del house.definition["measure"]["variable"]
    house.definition |= {"name": "firm-tables-2", "measures": BOTH}
    house.write()
    house.release_approved()
    assert [each["scope"].split(",")[0] for each in editions(house)] == BOTH
    assert before < suppressed(house)  # what employees need hidden is, though their turnover is known already


REFUSED: dict[str, Callable[[MeasuresHouse], Any]] = {
    "one measure": lambda h: h.definition.update(measures=["turnover"]),
    "one twice": lambda h: h.definition.update(measures=["turnover", "turnover"]),
    "a variable besides": lambda h: h.definition["measure"].update(variable="turnover"),
    "an unknown one": lambda h: h.definition.update(measures=["turnover", "employes"]),
    "a text": lambda h: h.definition.update(measures=["turnover", "nace"]),
    "no decimals of one": lambda h: h.definition["measure"].pop("decimals"),
    "decimals of another": lambda h: h.definition["measure"].update(decimals={"turnover": 1, "staff": 0}),
    "rounding": lambda h: h.definition.update(protection={"method": "controlled_rounding", "base": 5}),
    "intervals": lambda h: h.definition.update(protection={"method": "suppression", "intervals": True}),
    "the word primary": lambda h: h.definition.update(form={"tell_primary": True}),
    "SDMX": lambda h: h.definition.update(form={"sdmx_dataflow": "XX:T(1.0)"}),
    "rules of another": lambda h: h.definition.update(rules_of={"staff": [{"rule": "minimum_frequency", "n": 5}]}),
    "readers of another": lambda h: h.definition.update(table_attackers_of={"staff": {"coalition": 2}}),
    "a rule on requests": lambda h: h.definition.update(rules_of={"turnover": [{"rule": "request_rule", "k": 70}]}),
    "a name of the file's own": lambda h: h.definition.update(measures=["turnover", "status"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_common_pattern_cannot_have_is_refused_before_a_record_is_read(case: str, house: MeasuresHouse) -> None:
    REFUSED[case](house)
    house.write()
    told = house.release()
    assert told.code == ERROR
    golden(told.words)


def test_a_measure_that_is_missing_in_a_cell_is_refused(house: MeasuresHouse) -> None:
    house.variable("employees")["nullable"] = True
    house.definition["measure"]["missing"] = "leave_out"
    house.data["employees"] = house.data["employees"].astype("Int64").mask(house.data.nace == "05")
    house.write()
    told = house.release()
    assert told.code == ERROR
    golden(told.words)
