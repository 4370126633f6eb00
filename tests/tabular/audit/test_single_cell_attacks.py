import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.audit.single_cell_attacks import dominance_attack, external_attack, in_words, internal_attack
from sluice.tabular.rules.p_percent import PPercent
from tests.golden import golden
from tests.tabular.many_cells import contributions_of, many_cells
from tests.tabular.tables import business

# Torra (2013), "Disclosure problems": (P3, M2), (P1, M1) with the two salaries that the file lists,
# (P5, M3), and the three of (P2, M1) that it lists.
SALARIES = [[22], [160, 200], [350, 4, 3, 3, 3], [40, 60, 75]]


def test_the_external_attack_reads_the_single_person() -> None:
    seen = external_attack(contributions_of(SALARIES))
    assert seen.exactly.tolist() == [True, False, False, False]
    assert (seen.largest_from[0], seen.largest_to[0], seen.truth[0]) == (22, 22, 22)
    assert (seen.largest_from[1], seen.largest_to[1]) == (180, 360)  # the higher of two has half at least


def test_the_internal_attack_reads_the_other_of_two() -> None:
    cells = contributions_of(SALARIES)
    lower, higher = internal_attack(cells), dominance_attack(cells)
    assert lower.possible.tolist() == [False, True, True, True]
    assert (lower.largest_from[1], lower.largest_to[1]) == (200, 200)
    assert (higher.largest_from[1], higher.largest_to[1]) == (160, 160)
    assert lower.exactly.tolist() == higher.exactly.tolist() == [False, True, False, False]
    assert (lower.largest_from[3], lower.largest_to[3]) == (57.5, 115)  # who earns 60 of 175, with two others


def test_the_dominant_person_knows_that_the_others_have_13_together() -> None:
    seen = dominance_attack(contributions_of(SALARIES))
    assert (seen.together_from[2], seen.together_to[2], seen.others[2]) == (13, 13, 4)
    assert (seen.largest_from[2], seen.largest_to[2], seen.truth[2]) == (3.25, 13, 4)


@given(many_cells, st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_truth_is_never_excluded_and_less_knowledge_is_less_learned(
    given_cells: list[list[int]], below: int, above: int
) -> None:
    cells = contributions_of(given_cells)
    low, high = np.maximum(cells.total - below, 0).astype(float), (cells.total + above).astype(float)
    for attack in (external_attack, internal_attack, dominance_attack):
        before, after = attack(cells), attack(cells, low, high)
        for seen in (before, after):
            here = seen.possible
            assert (seen.largest_from[here] <= seen.truth[here]).all()
            assert (seen.truth[here] <= seen.largest_to[here]).all()
        here = before.possible
        assert (after.together_from[here] <= before.together_from[here]).all()
        assert (after.together_to[here] >= before.together_to[here]).all()
        nothing_hidden = attack(cells, np.full(len(low), np.nan), np.full(len(low), np.nan))
        assert (nothing_hidden.exactly == before.exactly).all()


@given(many_cells, st.sampled_from([1, 10, 12.5, 100]))
def test_what_the_second_can_tell_is_what_p_percent_forbids(given_cells: list[list[int]], percent: float) -> None:
    """And once the interval reaches up by the rule's level, it cannot tell it any more."""
    cells, rule = contributions_of(given_cells), PPercent(p=percent)
    inside = (cells.contributors > 1) & (cells.largest[:, 0] > 0)
    assert (internal_attack(cells).within(percent) == (rule.sensitive(cells) & inside)).all()
    high = (cells.total + rule.protection(cells)).astype(float)
    assert not internal_attack(cells, cells.total.astype(float), high).within(percent).any()


def test_extremes() -> None:
    zeros = contributions_of([[0, 0, 0], [5, 0, 0]])
    assert external_attack(zeros).exactly.tolist() == [True, False]  # everybody knows that all have 0
    assert dominance_attack(zeros).exactly.tolist() == [True, True]  # and here the one with 5 knows it of the others
    alone = dominance_attack(contributions_of([[7]]))
    assert not alone.possible.any()
    assert np.isnan(alone.together_to).all()
    assert not (alone.exactly.any())
    assert not (alone.within(100).any())


def test_the_report_counts_cells_and_tells_no_value() -> None:
    golden(in_words(contributions_of(SALARIES), percent=10, contributor=("person", "people")))
    zeros = in_words(contributions_of([[0], [0], [7]]))  # attackers mostly know them; whoever reads this should, too
    golden(zeros[0])
    of_two = in_words(contributions_of([[100, 5]]))  # each is told once, by the worst that it suffers
    assert [line.split()[1] for line in of_two] == ["no", "1", "no", "no"]
    low = np.array([0.0, 0.0, 200.0, np.nan])
    high = np.array([500.0, 700.0, 600.0, np.nan])
    assert all(line.startswith("In no cell ") for line in in_words(contributions_of(SALARIES), low, high))


def test_the_business_data_before_protection() -> None:
    """54 cells with n < 3 and 65 with p% = 10 as well (business_generated/README.md), told apart by who learns."""
    table = business("s1k").contributions
    said = [line.split()[1] for line in in_words(table, contributor=("firm", "firms"))]
    everybody, each_of_two, near, _ = (0 if count == "no" else int(count) for count in said)
    assert everybody + each_of_two == 54
    assert everybody + each_of_two + near == 65


def test_refusals() -> None:
    cells = contributions_of([[5, 4, 3]])
    short = type(cells)(cells.total, cells.contributors, cells.largest[:, :1])
    with golden.raises(DataError):
        external_attack(short)
