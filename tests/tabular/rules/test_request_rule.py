from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, RequestedContributions
from sluice.tabular.model.measure import Asking
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.request_rule import RequestRule
from tests.golden import golden
from tests.tabular.many_cells import contributions_of, many_cells
from tests.tabular.tables import tables


def requirement(given_cells: list[list[int]], ranks: list[list[int]]) -> RequestedContributions:
    """The cells with requests of those ranks, 0 being the largest contributor."""
    plain = contributions_of(given_cells)
    who = np.zeros(plain.largest.shape, dtype=bool)
    for row, each in enumerate(ranks):
        who[row, each] = True
    return RequestedContributions(plain.total, plain.contributors, plain.largest, who, np.zeros_like(who))


def test_only_who_asked_is_protected() -> None:
    """Foreign trade: three cells of one shape; nobody asked, a small trader asked, the one with 80 % asked."""
    cell = [80, 15, 5]
    decided = requirement([cell, cell, cell], [[], [1, 2], [0]])
    assert RequestRule(k=70).sensitive(decided).tolist() == [False, False, True]
    assert RequestRule(k=80).sensitive(decided).tolist() == [False, False, False]  # exactly 80 % is safe
    assert RequestRule(k=10).sensitive(decided).tolist() == [False, True, True]
    assert RequestRule(k=10).protection(decided).tolist() == [0, 50, 700]  # 15 / 0.1 - 100, 80 / 0.1 - 100
    assert RequestRule(k=10).protection(decided, outsider=True).tolist() == [0, 50, 700]


@given(many_cells, st.integers(20, 100))
def test_if_all_ask_it_is_dominance_of_one(given_cells: list[list[int]], k: int) -> None:
    everybody = requirement(given_cells, [list(range(len(cell))) for cell in given_cells])
    nobody = requirement(given_cells, [[] for _ in given_cells])
    plain = contributions_of(given_cells)  # not known who: as if all had
    for decided in (everybody, plain):
        assert (RequestRule(k=k).protection(decided) == Dominance(n=1, k=k).protection(plain)).all()
    assert not RequestRule(k=k).sensitive(nobody).any()


@given(tables(), st.lists(st.integers(0, 60), max_size=5))
def test_who_asks_is_told_by_owner(cells: Cells, owners: list[int]) -> None:
    decided = replace(cells, asking=Asking(tuple(owners))).contributions
    for cell in range(0, len(cells), 7):
        shares = dict(zip(cells.owners[cell].tolist(), cells.largest[cell].tolist(), strict=True))
        expected = any(2 * shares.get(owner, 0) > cells.total[cell] for owner in owners)
        assert RequestRule(k=50).sensitive(decided)[cell] == expected


def test_a_cell_that_was_unsafe_stays_so_until_who_asked_holds_less() -> None:
    """Foreign trade: unsafe above 70 percent, safe again from 60 on."""
    owners = np.array([[1, 2], [1, 2], [1, 2]])
    plain = contributions_of([[65, 35], [75, 25], [60, 40]], kept=2)
    rule = RequestRule(k=70, k_before=60)

    def sensitive(asking: Asking) -> list[bool]:
        requests, before = (np.isin(owners, each) for each in asking)
        decided = RequestedContributions(plain.total, plain.contributors, plain.largest, requests | before, before)
        assert (rule.protection(decided) > 0).tolist() == rule.sensitive(decided).tolist()
        return rule.sensitive(decided).tolist()

    assert sensitive(Asking()) == [False, False, False]
    assert sensitive(Asking((1,))) == [False, True, False]
    assert sensitive(Asking((), (1,))) == [True, True, False]
    assert sensitive(Asking((1,), (2,))) == [False, True, False]
    assert rule.sensitive(plain).tolist() == [True, True, False]  # not known who: as if all had, before too
    assert rule.largest_needed == 1
    assert RequestRule(k=70, k_before=20).largest_needed == 4
    with golden.raises(ValueError):
        RequestRule(k=60, k_before=70)


def test_it_looks_at_as_many_as_can_hold_that_much() -> None:
    assert [RequestRule(k=k).largest_needed for k in (100, 50, 49, 33.3, 20, 1)] == [1, 1, 2, 3, 4, 99]


def test_lists_that_are_cut_too_short_are_refused() -> None:
    cut = contributions_of([[1] * 8, [1]], kept=8)
    short = type(cut)(cut.total, cut.contributors, cut.largest[:, :3])
    with golden.raises(DataError):
        RequestRule(k=10).sensitive(short)
