"""Sensitive cells that a waiver allows to be published."""

from datetime import date

from policies.waivers import Waiver, waived_cells
from sluice.ground.verdict import Verdict
from tests.golden import golden


def test_a_cell_is_waived_by_rule_and_by_its_codes() -> None:
    granted = {
        "reason": "the firm agreed in writing",
        "owner": "mina",
        "granted": "2026-01-01",
        "expires": "2026-12-31",
    }
    waiver = Waiver.model_validate({"rule": "p_percent", "scope": "nace KA1, region Total", **granted})
    needed = [("p_percent", "nace KA1, region Total"), ("p_percent", "nace KA2, region Total")]
    findings, waived = waived_cells(needed, [waiver], "turnover", date(2026, 5, 6))
    assert waived == {needed[0]}
    assert [(finding.verdict, finding.waiver is None) for finding in findings] == [
        (Verdict.FAIL, False),
        (Verdict.FAIL, True),
    ]
    ended, none = waived_cells(needed, [waiver], "turnover", date(2027, 5, 6))
    assert none == set()
    assert any("expired" in finding.says for finding in ended)
    turned = waiver.model_copy(update={"scope": "region Total,nace KA1"})
    assert waived_cells(needed, [turned], "turnover", date(2026, 5, 6)) == (findings, waived)
    near = waiver.model_copy(update={"scope": "nace KA11, region Total"})
    remarks, none = waived_cells(needed[:1], [near], "turnover", date(2026, 5, 6))
    assert none == set()
    golden(remarks[-1].says)
    assert waived_cells([], [waiver], "turnover", date(2026, 5, 6)) == ([], set())
