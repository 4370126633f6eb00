"""What a caption says of a variable follows from its figures."""

from sluice.report.wording import InTables, caption
from tests.golden import golden
from tests.report.pages import variable

ROWS = [("20 to 30", 400, 250), ("30 to 40", 600, 740), ("40 or more", None, None)]


def test_a_caption_says_what_was_lost_and_where_it_went() -> None:
    summary = variable(entropy_before=4.0, entropy_after=1.0, mean_after=34.25, deviation_after=6.6)
    golden(caption(summary, ROWS, 1000, 1000, InTables(0.443, 1, 9)))


def test_what_did_not_change_is_said_to_be_there() -> None:
    summary = variable(entropy_before=4.0, entropy_after=4.0, mean_after=31.25, deviation_after=6.0)
    same = [("20 to 30", 400, 400), ("30 to 40", 600, 601)]
    says = caption(summary, same, 1000, 1000, InTables(0.0, 5, 9))
    golden(says)


def test_without_figures_nothing_is_made_up() -> None:
    bare = variable(mean_before=None, mean_after=None)
    golden(caption(bare, [("a", None, None)], 1000, 1000, None))
    golden(caption(bare, ROWS, 0, 0, None))
