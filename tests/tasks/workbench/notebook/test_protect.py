from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.verdict import Verdict
from sluice.tabular.rules.p_percent import PPercent
from tasks.workbench.protect import protect_file
from tasks.workbench.standalone_table import StandaloneTable
from tests.golden import golden

COUNTS = [{"rule": "minimum_frequency", "n": 5}]
OCCUPATIONS = ["occupation", "occupation_husb"]


@pytest.fixture(scope="module")
def firms() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "nace": rng.choice(["01", "02", "11", "12", "13"], 120),
            "region": rng.choice(["N", "S", "E"], 120),
            "firm": [f"firm {n}" for n in rng.integers(0, 50, 120)],
            "turnover": np.round(rng.lognormal(4, 1.5, 120), 1),
        }
    )


NACE = {"Total": "", "A": "Total", "B": "Total", "01": "A", "02": "A", "11": "B", "12": "B", "13": "B"}
RULES: list[dict[str, Any]] = [{"rule": "p_percent", "p": 10}, {"rule": "minimum_frequency", "n": 3}]


def test_the_pattern_is_that_of_protect_table(firms: pd.DataFrame, tmp_path: Path) -> None:
    found = sluice.protect(firms, {"nace": NACE, "region": None}, value="turnover", contributor="firm", rules=RULES)
    firms.to_csv(tmp_path / "firms.csv", index=False)
    table = StandaloneTable.of(
        {
            "dimensions": [{"variable": "nace", "hierarchy": list(NACE.items())}, {"variable": "region"}],
            "measure": {"variable": "turnover", "contributor": "firm"},
            "rules": RULES,
        },
        "the table",
    )
    written = protect_file(tmp_path / "firms.csv", table, tmp_path / "cells.csv")
    expected = pd.read_csv(tmp_path / "cells.csv", dtype={"nace": str}, keep_default_na=True)
    pd.testing.assert_frame_equal(found.pattern, expected, check_dtype=False)
    assert found.verdict is Verdict.PASS
    assert found.primary == int((written.status == 1).sum()) > 0
    assert found.secondary > 0
    assert found.attacks == found.attacks_decided == written.audit.attempted


def test_the_demos_table_of_counts(fair: pd.DataFrame) -> None:
    found = sluice.protect(fair, OCCUPATIONS, rules=COUNTS)
    assert (found.primary, found.secondary, found.published) == (4, 3, 42)
    pattern = found.pattern
    assert pattern["value"].isna().sum() == 7
    total = pattern[(pattern["occupation"] == "Total") & (pattern["occupation_husb"] == "Total")]
    assert total["value"].tolist() == [6366]
    cells = found.cells
    assert cells["value"].notna().all()  # confidential, hence not in the pattern
    assert cells.loc[cells["sensitive"], "value"].lt(5).all()
    assert (cells.loc[cells["sensitive"], "lower"] < cells.loc[cells["sensitive"], "value"]).all()


def test_hierarchies_in_any_form_are_the_same(firms: pd.DataFrame, tmp_path: Path) -> None:
    rows = pd.DataFrame(NACE.items(), columns=["code", "parent"])
    rows.to_csv(tmp_path / "nace.csv", index=False)
    forms: list[Any] = [NACE, rows, rows.replace("", None), tmp_path / "nace.csv", str(tmp_path / "nace.csv")]
    forms.append([NACE])
    patterns = [
        sluice.protect(firms, {"nace": form, "region": None}, value="turnover", rules=RULES).pattern for form in forms
    ]
    for pattern in patterns[1:]:
        pd.testing.assert_frame_equal(pattern, patterns[0])


def test_linked_tables_and_settings_of_the_measure(firms: pd.DataFrame) -> None:
    gaps = firms.assign(turnover=firms["turnover"].where(firms.index % 50 != 0), size=firms["region"].map(len))
    found = sluice.protect(
        gaps, ["nace", "region", "size"], value="turnover", contributor="firm", rules=PPercent(p=10),
        tables=[["nace", "region"], ["nace", "size"]], measure={"missing": "leave_out", "decimals": 0},
    )  # fmt: skip
    assert found.records_left_out == 3
    assert found.pattern["value"].dtype == "Int64"


def test_an_unsafe_pattern_is_not_given_away(firms: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    import tasks.workbench.measures_together as module
    from sluice.tabular.audit.pattern_audit import Breach

    audit = module.audit_cells

    def finds_something(*given: Any, **named: Any) -> Any:
        return replace(audit(*given, **named), safe=False, breaches=(Breach(0, "outsider", "anybody can compute it"),))

    monkeypatch.setattr(module, "audit_cells", finds_something)
    found = sluice.protect(firms, ["nace", "region"], value="turnover", rules=RULES)
    assert (found.verdict, found.breaches_found) == (Verdict.FAIL, 1)
    golden.words(found.says)
    with golden.raises(DataError):
        _ = found.pattern
    assert "<table" in found._repr_html_()


def test_values_are_changed_as_in_a_release(firms: pd.DataFrame) -> None:
    given: dict[str, Any] = {"value": "turnover", "contributor": "firm", "rules": RULES, "measure": {"decimals": 0}}
    rounded = sluice.protect(firms, ["nace", "region"], **given, method={"method": "controlled_rounding", "base": 200})
    assert rounded.verdict is Verdict.PASS
    assert (rounded.pattern["value"] % 200 == 0).all()
    assert (rounded.pattern["status"] == "published").all()
    assert (rounded.suppressed_share, rounded.bound, rounded.cost) == (0, None, None)
    assert rounded.sensitive == int(rounded.cells["sensitive"].sum()) > 0
    golden(rounded.says)
    assert (rounded.cells["changed_to"] % 200 == 0).all()
    careless = sluice.protect(
        firms, ["nace", "region"], rules=[{"rule": "minimum_frequency", "n": 8}],
        method={"method": "small_count_rounding", "base": 2},
    )  # fmt: skip
    assert careless.verdict is Verdict.FAIL
    assert careless.breaches_found > 0
    with golden.raises(DataError):
        _ = careless.pattern
    rounded.plot()


def test_a_seed_draws_the_same_again(fair: pd.DataFrame) -> None:
    sample = fair.head(600).assign(who=range(600))
    noisy = [
        sluice.protect(
            sample, OCCUPATIONS, rules=COUNTS, contributor="who", seed=seed,
            method={"method": "cell_key", "maximum": 5, "variance": 2.5},
        ).cells
        for seed in (1, 1, 2)
    ]  # fmt: skip
    pd.testing.assert_frame_equal(noisy[0], noisy[1])
    assert (noisy[0]["changed_to"] != noisy[2]["changed_to"]).any()


def test_wishes_waivers_and_the_pattern_before(fair: pd.DataFrame) -> None:
    before = sluice.protect(fair, OCCUPATIONS, rules=COUNTS)
    sensitive = before.cells.loc[before.cells["sensitive"], OCCUPATIONS].iloc[0].tolist()
    wish = [dict(zip(OCCUPATIONS, sensitive, strict=True)) | {"status": "published"}]
    today = pd.Timestamp.now("UTC").date()
    waiver = {
        "rule": "minimum_frequency",
        "scope": f"occupation {sensitive[0]}, occupation_husb {sensitive[1]}",
        "reason": "The women of this cell agreed in writing.",
        "owner": "mia",
        "granted": today,
        "expires": today + timedelta(days=1),  # it may be midnight before it is looked at
    }
    golden.refused(DataError, sluice.protect, fair, OCCUPATIONS, rules=COUNTS, a_priori=wish)
    waived = sluice.protect(fair, OCCUPATIONS, rules=COUNTS, a_priori=pd.DataFrame(wish), waivers=[waiver])
    assert waived.verdict is Verdict.PASS
    assert [finding.waiver is not None for finding in waived.findings] == [False, True]
    assert waived.primary == before.primary - 1
    again = sluice.protect(fair, OCCUPATIONS, rules=COUNTS, previous=before.pattern)
    assert again.verdict is Verdict.PASS
    assert again.findings[-1].rule == "earlier_editions"
    assert (again.pattern["status"] == before.pattern["status"]).all()


CELL_KEY = {"method": "cell_key", "maximum": 4, "variance": 2, "threshold": 2}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"dimensions": "nace"}, TypeError),
        ({"dimensions": []}, DataError),
        ({"dimensions": ["nace", "nace"]}, DataError),
        ({"dimensions": ["nase"]}, DataError),
        ({"dimensions": {"nace": 3}}, TypeError),
        ({"dimensions": {"nace": pd.DataFrame({"code": []})}}, DataError),
        ({"dimensions": {"nace": {"01": ""}}}, DataError),
        ({"records": pd.DataFrame({"status": ["a", "b"]}), "dimensions": ["status"], "value": None}, DataError),
        ({"rules": []}, DataError),
        ({"rules": "p_percent"}, TypeError),
        ({"rules": [{"rule": "p_precent", "p": 10}]}, DocumentError),
        ({"rules": [{"rule": "p_percent", "p": 0.1}]}, DocumentError),
        ({"rules": [{"rule": "k_anonymity"}]}, DocumentError),
        ({"rules": [{"rule": "dominance", "n": 85, "k": 2}]}, DocumentError),
        ({"dimensions": {"nace": "flat"}}, DataError),
        ({"waivers": "all"}, DataError),
        ({"method": CELL_KEY, "value": None}, DataError),
        ({"value": "turnovr"}, DataError),
        ({"value": "firm"}, DataError),
        ({"measure": {"wieght": "x"}}, DocumentError),
        ({"measure": "argus"}, TypeError),
        ({"tables": ["nace", "region"]}, TypeError),
        ({"cost": "price"}, DocumentError),
        ({"mode": "slow"}, DocumentError),
        ({"coalition": "2"}, TypeError),
        ({"method": 5}, TypeError),
        ({"method": "rounding"}, DocumentError),
        ({"method": {"method": "controlled_rounding", "base": 1}}, DocumentError),
        ({"method": {"method": "cell_key", "maximum": 5}}, DocumentError),
        ({"method": {"method": "controlled_rounding", "base": 5}, "mode": "fast"}, DataError),
        ({"method": {"method": "suppression", "mode": "fast"}, "mode": "fast"}, DataError),
        ({"a_priori": "a.csv"}, TypeError),
        ({"a_priori": [{"nace": "01"}]}, DataError),
        ({"waivers": [{"rule": "p_percent"}]}, DocumentError),
        ({"previous": pd.DataFrame({"nace": ["01"]})}, DataError),
        ({"seed": "1"}, TypeError),
    ],
)
def test_refusals(firms: pd.DataFrame, given: dict[str, Any], error: type[Exception]) -> None:
    usual = {"records": firms, "dimensions": ["nace", "region"], "value": "turnover", "rules": RULES}
    golden.refused(error, sluice.protect, **usual | given)
