"""Published numbers of contributors reveal those of suppressed cells, by subtraction and by the rules."""

from dataclasses import replace

import numpy as np

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.verdict import Finding, Verdict
from tasks.release.tables.contributor_numbers import frequency_rules, judge_contributor_numbers
from tasks.release.tables.protection import ProtectionRequest
from tests.publication.small_table import small


def judged(cells: Cells, status: Statuses) -> Finding:
    request = ProtectionRequest.of(cells, [MinimumFrequency(2), Dominance(1, 75)], Assumptions(known_within=20))
    (finding,) = judge_contributor_numbers(cells, status, request)
    return finding


def test_a_number_that_follows_by_subtraction_fails_and_no_number_is_told() -> None:
    """One firm in (01, x) and one in (NA, y): with these two cells suppressed alone, everybody subtracts."""
    cells, status = small()
    alone = (status != Status.PUBLISHED) & (cells.contributors == 1)
    finding = judged(cells, np.where(alone, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8))
    assert finding.verdict is Verdict.FAIL
    assert "anybody can compute area 01, kind x exactly" in finding.says
    assert "Set form.tell_contributors to false" in finding.says


def test_numbers_that_do_not_add_up_need_a_decision() -> None:
    cells, status = small()
    several = replace(cells, contributors=np.r_[cells.contributors[0] - 1, cells.contributors[1:]])
    finding = judged(several, status)
    assert finding.verdict is Verdict.REVIEW
    assert "contributors fall in several cells" in finding.says


def test_wide_open_numbers_pass() -> None:
    cells, _ = small()
    cells = replace(cells, contributors=cells.contributors * 9)
    status = np.zeros(len(cells), dtype=np.uint8)
    assert judged(cells, status).verdict is Verdict.PASS


def test_the_rules_are_those_on_frequency_where_there_are_any() -> None:
    assert frequency_rules([Dominance(1, 75), MinimumFrequency(3)]) == (MinimumFrequency(3),)
    assert frequency_rules([Dominance(1, 75)]) == (Dominance(1, 75),)
