"""Published numbers of contributors reveal those of suppressed cells, by subtraction and by the rules."""

from dataclasses import replace

import numpy as np

from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.feasibility_interval import feasibility_intervals
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.other_measures import frequency_rules, judge_contributor_numbers
from tasks.release.tables.protection import ProtectionRequest, protect_cells
from tests.golden import golden
from tests.publication.small_table import small
from tests.tabular.tables import business


def judged(cells: Cells, status: Statuses) -> Finding:
    request = ProtectionRequest.of(cells, [MinimumFrequency(n=2), Dominance(n=1, k=75)], Assumptions(known_within=20))
    (finding,) = judge_contributor_numbers(cells, status, request)
    return finding


def test_a_number_that_follows_by_subtraction_fails_and_no_number_is_told() -> None:
    """One firm in (01, x) and one in (NA, y): with these two cells suppressed alone, everybody subtracts."""
    cells, status = small()
    alone = (status != Status.PUBLISHED) & (cells.contributors == 1)
    finding = judged(cells, np.where(alone, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8))
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    golden.words(finding.says)


def test_numbers_that_do_not_add_up_need_a_decision() -> None:
    cells, status = small()
    several = replace(cells, contributors=np.r_[cells.contributors[0] - 1, cells.contributors[1:]])
    finding = judged(several, status)
    assert finding.verdict is Verdict.REVIEW
    golden.words(finding.says)


def test_wide_open_numbers_pass() -> None:
    cells, _ = small()
    cells = replace(cells, contributors=cells.contributors * 9)
    status = np.zeros(len(cells), dtype=np.uint8)
    assert judged(cells, status).verdict is Verdict.PASS


def test_the_rules_are_those_on_frequency_where_there_are_any() -> None:
    assert frequency_rules([Dominance(n=1, k=75), MinimumFrequency(n=3)]) == (MinimumFrequency(n=3),)
    assert frequency_rules([Dominance(n=1, k=75)]) == (Dominance(n=1, k=75),)


def test_numbers_under_a_safe_pattern_of_values_follow_for_those_who_know_which_cells_are_sensitive() -> None:
    """By linear programs over the published table: 4 of 26 cells of one contributor, at n = 3 and p = 10."""
    cells = business("s1k")
    request = ProtectionRequest.of(cells, [MinimumFrequency(n=3), PPercent(p=10)], Assumptions())
    status = protect_cells(cells, request).status
    hidden = np.flatnonzero(status)
    number = np.where(status == Status.PUBLISHED, cells.contributors, np.nan)
    least = np.where(status == Status.SECONDARY, 3.0, 1.0)  # not sensitive, so by the rule 3 or more
    low, high = feasibility_intervals(cells.equations, number, hidden, least, np.full(len(cells), np.inf))
    assert ((high - low < 0.5) & (cells.contributors[hidden] == 1)).any()
    (finding,) = judge_contributor_numbers(cells, status, request)
    assert finding.verdict is Verdict.FAIL
