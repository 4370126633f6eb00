"""Rank swapping and linkage, Torra (2013), "Rank swapping: Example I" to "Average of 1-7 variables".

Checked exactly: the candidate sets of Examples III to V, the distance-based links, disclosure risks and scores of
Examples II and VI, and the scores of the table of Census and EIA from its own columns. Within a tolerance, as the swaps
are random: IL for EIA and, up to p = 6, for Census; the table's ID, RSLD and DLD for Census up to the window from which
nothing reaches its figures. The definitions that give the figures were found by trying: the example links original to
masked by the sum of absolute differences and counts a tie as a hit; the table's DLD links each masked record to the
nearest original one. Not checked: IL = 39.22 of Example II, which is 47.90 by Xiong's IL1 to IL5 and 34.27 with the
variances among the covariances; PLD, for which Torra (2013) gives no agreement; RS-RL of the example with four
variables is 7 here and 8 there; the other columns for EIA, whose RSLD and DLD have floors that no definition tried
reaches; Census from p = 14 on (p = 12 for ID and DLD), likewise; the score of Census with p = 16, which is 0.05 off in
Torra's own columns.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from policies.utility_limits import score
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.swapping.rank_swapping import RankSwapping, swap_sources
from sluice.risk.linkage.candidate_sets import rank_swapping_linkage
from sluice.risk.linkage.interval_disclosure import interval_disclosure
from sluice.risk.linkage.linkage_score import disclosure_risk, linkage_score
from sluice.risk.linkage.probabilistic_linkage import probabilistic_linkage
from sluice.risk.linkage.record_linkage import record_linkage
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.mean_variations import mean_variations

FloatArray = npt.NDArray[np.float64]

# fmt: off
ORIGINAL = np.array([
    [8, 9, 1, 3], [6, 7, 10, 2], [10, 3, 4, 1], [7, 1, 2, 6], [9, 4, 6, 4],
    [2, 2, 8, 8], [1, 10, 3, 9], [4, 8, 7, 10], [5, 5, 5, 5], [3, 6, 9, 7],
], dtype=float)
PROTECTED = np.array([
    [10, 10, 3, 5], [5, 5, 8, 1], [8, 4, 2, 2], [9, 2, 4, 4], [7, 3, 5, 6],
    [4, 1, 10, 10], [3, 9, 1, 7], [2, 6, 9, 8], [6, 7, 6, 3], [1, 8, 7, 9],
], dtype=float)

# p: IL, RSLD, DLD, PLD, ID, Score
CENSUS = {
    2: (3.89, 77.73, 73.52, 71.28, 93.98, 42.63), 4: (6.54, 66.65, 58.40, 42.92, 83.09, 36.67),
    6: (10.57, 54.65, 43.76, 22.49, 72.12, 31.93), 8: (16.54, 41.28, 32.13, 11.74, 62.11, 29.16),
    10: (20.18, 29.21, 23.64, 6.03, 53.28, 26.31), 12: (23.46, 19.87, 18.96, 3.46, 47.17, 24.77),
    14: (28.93, 16.14, 15.63, 2.06, 43.39, 25.86), 16: (35.16, 13.81, 13.59, 1.29, 40.78, 27.97),
    18: (32.52, 12.21, 11.50, 0.83, 38.90, 25.81), 20: (35.12, 10.88, 10.87, 0.59, 37.33, 26.55),
}
EIA = {
    2: (4.24, 43.27, 21.71, 16.85, 93.10, 28.06), 4: (9.67, 12.54, 10.61, 4.79, 82.09, 21.89),
    6: (14.63, 7.69, 7.40, 2.03, 72.21, 21.42), 8: (18.71, 6.12, 5.98, 1.12, 63.90, 21.61),
    10: (22.87, 5.60, 5.19, 0.69, 57.09, 22.37), 12: (26.60, 5.39, 4.87, 0.51, 51.64, 23.25),
    14: (29.42, 5.28, 4.55, 0.32, 47.49, 23.91), 16: (32.38, 5.19, 4.54, 0.23, 44.19, 24.82),
    18: (34.22, 5.20, 4.54, 0.22, 41.42, 25.28), 20: (36.27, 5.15, 4.36, 0.18, 38.97, 25.87),
}
# fmt: on


def test_candidate_sets_of_the_second_record() -> None:
    # Examples III to V: with p = 2 the record (6, 7, 10, 2) leaves 5, 5, 3 and 4 records, and one in all four sets.
    sizes = [rank_swapping_linkage(ORIGINAL[:, [j]], PROTECTED[:, [j]], 0.2).size[1] for j in range(4)]
    assert sizes == [5, 5, 3, 4]
    both = rank_swapping_linkage(ORIGINAL[:, :2], PROTECTED[:, :2], 0.2)
    assert both.size[1] == 2  # (5, 5, 8, 1) and (6, 7, 6, 3) in Example IV
    found = rank_swapping_linkage(ORIGINAL, PROTECTED, 0.2)
    assert found.size[1] == 1
    assert found.links.correct()[1] == 1  # "this is the correct link"


def test_distance_based_links_of_the_example() -> None:
    # Example II: 0, 2, 4 and 1 of ten records, on average 17.5 %.
    linked = [
        record_linkage(ORIGINAL[:, :known], PROTECTED[:, :known], "manhattan").correct("hit").sum()
        for known in (1, 2, 3, 4)
    ]
    assert linked == [0, 2, 4, 1]
    assert 100 * np.mean(linked) / len(ORIGINAL) == pytest.approx(17.5)


def test_probabilistic_links_of_the_example() -> None:
    # Example II: PLD = 0. No record keeps a value, so whatever agrees is another's.
    for known in (1, 2, 3, 4):
        assert not probabilistic_linkage(ORIGINAL[:, :known], PROTECTED[:, :known], np.zeros(known)).correct.any()


def test_rank_swapping_links_of_the_example() -> None:
    # Example VI: 0, 2, 7 and 8 of ten.
    linked = [
        rank_swapping_linkage(ORIGINAL[:, :known], PROTECTED[:, :known], 0.2).links.correct().sum()
        for known in (1, 2, 3, 4)
    ]
    assert linked[:3] == [0, 2, 7]
    assert linked[3] == pytest.approx(8, abs=1)


def test_disclosure_risk_and_score_of_the_example() -> None:
    # Examples II and VI, with IL = 39.22 and ID = 44.81.
    generic = disclosure_risk("generic", dld=17.5, pld=0, id=44.81)
    assert generic == pytest.approx(26.78, abs=0.01)
    assert linkage_score(39.22, generic) == pytest.approx(33, abs=0.01)
    specific = disclosure_risk("specific", rsld=42.5, id=44.81)
    assert specific == pytest.approx(43.655, abs=0.001)
    assert linkage_score(39.22, specific) == pytest.approx(41.44, abs=0.01)


def test_scores_of_the_table() -> None:
    off, as_printed = {}, []
    for name, table in (("Census", CENSUS), ("EIA", EIA)):
        for p, (loss, rsld, dld, pld, intervals, published) in table.items():
            risk = disclosure_risk("table", rsld=rsld, dld=dld, pld=pld, id=intervals)
            off[name, p] = abs(linkage_score(loss, risk) - published)
            printed = disclosure_risk("with_specific", rsld=rsld, dld=dld, pld=pld, id=intervals)
            as_printed.append(abs(linkage_score(loss, printed) - published))
    assert off.pop(("Census", 16)) == pytest.approx(0.052, abs=0.002)
    assert max(off.values()) < 0.01
    assert min(as_printed) > 0.5  # the formula above the table gives none of its scores


@pytest.fixture(scope="module")
def census(reference_data: Path) -> FloatArray:
    return pd.read_csv(reference_data / "casc" / "census.csv").to_numpy(dtype=float)


def swapped(values: FloatArray, p: int, draw: int = 0) -> FloatArray:
    return np.column_stack(
        [
            column[swap_sources(column, np.random.default_rng([p, j, draw] if draw else [p, j]), window=p / 100)]
            for j, column in enumerate(values.T)
        ]
    )


def test_information_loss_on_eia(reference_data: Path) -> None:
    """IL is 100 times the mean of Xiong's IL1 to IL5 over the ten magnitudes. At p = 20 it is 39.2, for 36.27."""
    eia = pd.read_csv(reference_data / "casc" / "eia.csv").iloc[:, 5:].to_numpy(dtype=float)
    for p, (loss, *_) in EIA.items():
        found = 100 * mean_variations(eia, swapped(eia, p)).loss
        assert found == pytest.approx(loss, abs=3 if p < 20 else 3.5)


def test_information_loss_on_census(census: FloatArray) -> None:
    """The same IL over the thirteen attributes comes within 2 up to p = 6; from p = 8 on the table's is larger.

    There it is 1.1 to 1.6 times the mean of ten draws: 14 for 20.18 at p = 10, 23 for 35.16 at p = 16. Tried, and no
    nearer on all windows of both files: correlations compared relatively (nearer from p = 10 on, too large before, and
    on EIA), partners on both sides, from the top down, or anywhere in the window with a swap left out where the partner
    has been swapped; values swapped again and again within the window (17.9 and 27.6, but then EIA is 2 to 8 too large
    and the intervals of Census are missed). IL4 rests on AFNLWGT, whose covariances with two others are almost 0
    (correlations of .004), so one draw at p = 16 lies anywhere between 18 and 28.
    """
    for p, (loss, *_) in CENSUS.items():
        draws = [100 * mean_variations(census, swapped(census, p, draw)).loss for draw in range(10)]
        if p <= 6:
            assert np.mean(draws) == pytest.approx(loss, abs=2)
        else:
            assert 1.1 < loss / np.mean(draws) < 1.65


def test_census(census: FloatArray) -> None:
    found = {}
    for p in CENSUS:
        masked = swapped(census, p)
        rsld, dld = (
            100 * np.mean([links(known).correct().mean() for known in range(1, 8)])
            for links in (
                lambda v, m=masked, p=p: rank_swapping_linkage(census[:, :v], m[:, :v], p / 100).links,
                lambda v, m=masked: record_linkage(m[:, :v], census[:, :v], "each_standardised"),
            )
        )
        found[p] = (rsld, dld, 100 * interval_disclosure(census, masked).value)
    for p, (_, rsld, dld, _, intervals, _) in CENSUS.items():
        if p <= 12:
            assert found[p][0] == pytest.approx(rsld, abs=2.5)
        if p <= 10:
            assert found[p][1] == pytest.approx(dld, abs=3)
            assert found[p][2] == pytest.approx(intervals, abs=2)
    for narrow, wide in pairwise(found.values()):
        assert all(one > other for one, other in zip(narrow, wide, strict=True))


@pytest.mark.exhaustive  # as the other figures of the paper
def test_the_score_that_the_product_measures(reference_data: Path) -> None:
    """From the data alone, none of Torra's columns: within 2.6 points, where rank swapping itself is random.

    Census at p = 10 is 23.9 for 26.31, nearly all of it information loss (14.7 for 20.18); EIA at p = 2 is 25.7 for
    28.06, for its RSLD is 33 for 43.27.
    """
    for name, start, table, windows in (("census", 0, CENSUS, (6, 10)), ("eia", 5, EIA, (2,))):
        frame = pd.read_csv(reference_data / "casc" / f"{name}.csv").iloc[:, start:].astype(float)
        variables = {
            each: Variable(name=each, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for each in frame.columns
        }
        for p in windows:
            step = RankSwapping(columns=tuple(frame.columns), window=p / 100)
            masked = step.mask(frame, variables, np.random.default_rng(p))
            loss = mean_variations(frame.to_numpy(), masked.to_numpy()).loss
            files = Comparison(
                frame, frame, masked, None, variables, variables, np.random.default_rng(0), carried_out=(step,)
            )
            found = score(files, loss).view["score"]
            assert found.weighting == "table"
            assert 100 * found.score == pytest.approx(table[p][-1], abs=2.6 if (name, p) != ("census", 6) else 1.5)
