"""Figures and shares as they are written."""

import pytest

from sluice.ground.sentence import Statement
from sluice.ground.verdict import Verdict
from sluice.report.wording import InTables, caption, figure, in_short, percent
from tests.golden import golden
from tests.report.pages import finding, variable


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (-0.0, "0"),
        (6366, "6,366"),
        (0.0123456, "0.01235"),
        (-12.5, "−12.5"),
        (123456.7, "123,457"),
        (0.0000123, "1.2e−05"),
    ],
)
def test_figures_are_written_for_reading(value: float | None, says: str) -> None:
    assert figure(value) == says


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0.0 %"),
        (0.0004, "under 0.1 %"),
        (0.3721, "37.2 %"),
        (0.9996, "over 99.9 %"),
        (1, "100.0 %"),
        (None, "not shown"),
    ],
)
def test_percentages_never_pretend_none_or_all(share: float | None, text: str) -> None:
    assert percent(share) == text


# What a caption says of a variable follows from its figures.


ROWS = [("20 to 30", 400, 250), ("30 to 40", 600, 740), ("40 or more", None, None)]


def test_a_caption_says_what_was_lost_and_where_it_went() -> None:
    summary = variable(entropy_before=4.0, entropy_after=1.0, mean_after=34.25, deviation_after=6.6)
    golden(caption(summary, ROWS, 1000, 1000, InTables(0.443, 1, 9)))


def test_what_did_not_change_is_said_to_be_there() -> None:
    summary = variable(entropy_before=4.0, entropy_after=4.0, mean_after=31.25, deviation_after=6.0)
    same = [("20 to 30", 400, 400), ("30 to 40", 600, 600)]
    says = caption(summary, same, 1000, 1000, InTables(0.0, 5, 9))
    golden(says)
    golden(caption(variable(entropy_before=1.0, entropy_after=1.0), [], 1000, 1000, None))
    golden(caption(variable(entropy_before=1.02, entropy_after=0.8), [], 1000, 1000, None))


def test_without_figures_nothing_is_made_up() -> None:
    bare = variable(mean_before=None, mean_after=None)
    golden(caption(bare, [("a", None, None)], 1000, 1000, None))
    golden(caption(bare, ROWS, 0, 0, None))


def test_a_note_whose_words_this_process_does_not_know_is_left_out_in_short() -> None:
    """The desk reads what another process judged, by rules that it need not have loaded."""
    plain = finding(Verdict.FAIL, observed=0.3, limit=0.05)
    noted = plain.model_copy(update={"notes": (Statement(code="of_another.version", data={"share": 0.3}),)})
    assert in_short(noted) == in_short(plain) != ""


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ((4000, 6000), "hold the same shares"),
        ((4000, 6001), "0.1 points"),
        ((4040, 5960), "Most moved: 20 to 30, from 40.0 % to 40.4 %"),
    ],
)
def test_shares_are_called_the_same_only_where_they_are(after: tuple[int, int], told: str) -> None:
    bare = variable(mean_before=None, mean_after=None)
    rows = [("20 to 30", 4000, after[0]), ("30 to 40", 6000, after[1])]
    assert told in caption(bare, rows, 10_000, 10_000, None)
