"""Who makes the difference of two editions, against sums that Python makes record by record."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.editions.changes import EditionRecords, changes
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure, Requested
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.request_rule import RequestRule

BEFORE = {"Total": "", "A": "Total", "B": "Total", "a": "A", "b": "A", "c": "B"}
NOW = {"Total": "", "A": "Total", "B": "Total", "a": "A", "b": "B", "c": "B"}  # b moved
Row = tuple[str, str, int]

rows = st.lists(st.tuples(st.sampled_from("pqrs"), st.sampled_from("abc"), st.integers(0, 30)), min_size=1, max_size=12)


def edition(
    hierarchy: dict[str, str], records: Sequence[Row], measure: Measure, asked: Sequence[str] | None = None
) -> EditionRecords:
    dimensions = [Dimension.of("code", list(hierarchy.items()))]
    frame = pd.DataFrame(records, columns=["who", "code", "value"])
    frame["asks"] = np.where(frame["who"].isin(asked or ()), "yes", "no")
    requested = None if asked is None else Requested("asks", "yes")
    return EditionRecords(dimensions, records_of(frame, dimensions, measure, requested))


def held(hierarchy: dict[str, str], code: str) -> list[str]:
    found = [code]
    while hierarchy[found[-1]]:
        found.append(hierarchy[found[-1]])
    return found


@given(rows, rows)
def test_changes_are_those_of_contributors_in_each_cell(before: list[Row], now: list[Row]) -> None:
    amounts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for at, (hierarchy, records) in enumerate([(BEFORE, before), (NOW, now)]):
        for who, code, value in records:
            for cell in held(hierarchy, code):
                amounts[cell, who][at] += value
    measure = Measure(value="value", contributor="who")
    later = edition(NOW, now, measure)
    codes = later.dimensions[0].codes
    found = changes(edition(BEFORE, before, measure), later, np.arange(len(codes), dtype=np.int32)[:, None], 4, True)
    for at, code in enumerate(codes):
        own = sorted((abs(b - a) for (cell, _), (a, b) in amounts.items() if cell == code and a != b), reverse=True)
        assert int(found.contributions.contributors[at]) == len(own)
        assert int(found.contributions.total[at]) == sum(own)
        assert found.contributions.largest[at].tolist() == (own + [0] * 4)[:4]
        changed = {who: pair for (cell, who), pair in amounts.items() if cell == code and pair[0] != pair[1]}
        whole = {who for who in changed if any(_whole(*amounts[leaf, who]) for leaf in "ac" if code in held(NOW, leaf))}
        if code in "ac":
            assert int(found.arrivals[at]) == len(whole)
        assert int(found.arrivals[at]) >= len(whole)  # b is another leaf, which all left


def _whole(before: int, now: int) -> bool:
    return before != now and abs(now - before) >= 0.9 * max(before, now)


def test_records_that_nobody_knows_again_are_compared_by_their_values() -> None:
    """Two records as before, one of another value in place of an earlier one, and one more."""
    measure = Measure(value="value")
    before = edition(BEFORE, [("", "a", 5), ("", "a", 5), ("", "c", 7)], measure)
    now = edition(BEFORE, [("", "c", 8), ("", "a", 5), ("", "a", 5), ("", "a", 5)], measure)
    found = changes(before, now, np.arange(6, dtype=np.int32)[:, None], 2, False)
    places = [now.dimensions[0].position[code] for code in ("Total", "a", "b", "c")]
    assert found.contributions.contributors[places].tolist() == [2, 1, 0, 1]
    assert found.contributions.largest[places].tolist() == [[5, 1], [5, 0], [0, 0], [1, 0]]
    assert found.arrival[places].tolist() == [True, True, False, False]
    assert found.everybody == 2


def test_who_asked_is_protected_from_the_difference_of_two_editions_and_nobody_else() -> None:
    """p came to a, q to c, among small changes of others; p alone asked, in this edition."""
    measure, asks = Measure(value="value", contributor="who"), RequestRule(k=70)
    before = [("r", "a", 500), ("s", "c", 500)]
    now = [("r", "a", 503), ("s", "c", 504), ("p", "a", 90), ("q", "c", 80)]
    for asked, sensitive in ((["p"], {"a"}), ([], set()), (["r", "s"], set()), (["p", "q"], {"a", "c"})):
        later = edition(BEFORE, now, measure, asked)
        wanted = np.arange(len(later.dimensions[0].codes), dtype=np.int32)[:, None]
        found = asks.sensitive(changes(edition(BEFORE, before, measure, []), later, wanted, 4, True).contributions)
        assert {code for code in "abc" if found[later.dimensions[0].position[code]]} == sensitive
