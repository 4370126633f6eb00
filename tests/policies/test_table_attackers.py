"""What a policy assumes of the readers of tables, in words and as the audit takes it."""

import pytest
from pydantic import ValidationError

from policies.table_attackers import TableAttackers
from sluice.tabular.model.measure import Measure
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tests.golden import golden
from tests.tabular.many_cells import contributions_of


@pytest.mark.parametrize("given", [{}, {"coalition": 0, "known_within": 20}, {"coalition": 2}])
def test_its_words(given: dict[str, float]) -> None:
    golden(TableAttackers.model_validate(given).describe())


def test_a_table_of_records_tells_that_its_cells_are_counts_and_a_signed_measure_that_they_may_be_negative() -> None:
    known = TableAttackers(known_within=20).assumptions(Measure())
    assert (known.counts, known.nonnegative, known.known_within) == ("contributors", True, 20)
    assert not TableAttackers().assumptions(Measure(value="x", negative="absolute")).nonnegative


@pytest.mark.parametrize("field", [{"coalition": 4}, {"known_within": 0.5}, {"statuses": True}])
def test_what_no_reader_can_be(field: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TableAttackers.model_validate(field)


def test_who_pools_what_they_know_of_suppressed_cells_does_so_of_published_ones() -> None:
    """Two of three firms subtract what is theirs, and have the third's."""
    three = contributions_of([[296, 79, 61]])
    rules = (PPercent(p=10), MinimumFrequency(n=3), PPercent(p=10, coalition=3))
    alone, pooled = (TableAttackers(coalition=size).pooled(rules) for size in (1, 2))
    assert alone == rules
    assert pooled == (PPercent(p=10, coalition=2), *rules[1:])
    assert not alone[0].sensitive(three).any()
    assert pooled[0].sensitive(three).all()
