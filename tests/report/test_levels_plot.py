"""The searched levels in the report: the picture, and why no level is finer, with no count below the minimum cell."""

import html
import re
from xml.etree import ElementTree

import pytest

from sluice.generalization.levels_found import Finer, KeyLevel, LevelsFound
from sluice.report.levels_plot import ladder_svg
from sluice.report.report import render
from tests.report.pages import dossier

AGE = KeyLevel(
    name="age",
    level=2,
    groups=(75, 15, 4, 1),
    highest=3,
    loss=0.31,
    finer=Finer(
        breaks=("k-anonymity with k = 5",), records=1234, group={"age": "20 to 24", "sex": "f"}, group_records=4
    ),
)
SEX = KeyLevel(name="sex", level=0, groups=(2, 1), highest=1, loss=0.02)
FOUND = LevelsFound(
    keys=(AGE, SEX),
    objective="loss",
    value=0.165,
    excess=0.0,
    checked=7,
    choices=8,
    suppressed=20,
    records=1000,
    unsearched=("suda",),
)


def page(*levels: LevelsFound) -> str:
    """The report's text."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render(dossier(levels=levels)))))


def test_a_box_for_each_level_with_its_groups() -> None:
    drawn = ElementTree.fromstring(str(ladder_svg(FOUND.keys, "levels", "levels-0")))
    boxes = [each for each in drawn.iter() if each.tag.endswith("rect")]
    assert len(boxes) == 6
    assert [box.get("fill") for box in boxes] == [
        "none", "url(#levels-0)", "var(--masked)", "none", "var(--masked)", "none",
    ]  # fmt: skip
    assert [each.text for each in drawn.iter() if (each.text or "").isdigit()] == ["75", "15", "4", "1", "2", "1"]


def test_report_says_what_was_chosen_and_why_no_finer() -> None:
    text = page(FOUND.reported(10))
    assert "Of 8 choices none loses less" in text
    assert "20 of 1,000 records were suppressed" in text
    assert "Left to the judgement of the file: suda." in text
    assert "Finer, 1,234 records would be in groups that break k-anonymity with k = 5." in text
    assert "20 to 24" not in text  # a group of four
    assert "It is the finest that was allowed." in text


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"excess": 0.013}, "none that satisfies the rules can be better by more than 1.3 %"),
        ({"excess": None}, "what others lose at least is not known"),
        ({"suppressed": 3}, "fewer records than may be told were suppressed"),
        ({"left": True}, "20 of 1,000 records were left to a later step"),
    ],
)
def test_what_is_not_known_or_may_not_be_told(changes: dict[str, object], says: str) -> None:
    assert says in page(FOUND.model_copy(update=changes).reported(10))


def test_the_largest_group_is_named_where_it_is_large_enough() -> None:
    finer = AGE.finer.model_copy(update={"group_records": 60}) if AGE.finer else None
    found = FOUND.model_copy(update={"keys": (AGE.model_copy(update={"finer": finer}), SEX)}).reported(10)
    assert "the 60 with age 20 to 24, sex f among them" in page(found)


def test_finer_that_would_lose_more() -> None:
    finer = Finer(breaks=(), records=None)
    found = FOUND.model_copy(update={"keys": (AGE.model_copy(update={"finer": finer}), SEX)}).reported(10)
    assert "more records would have to be suppressed" in page(found)


def test_report_says_for_how_many_records_a_level_is_finer() -> None:
    refined = FOUND.model_copy(
        update={"keys": (AGE.model_copy(update={"shares": (0.125, 0.5, 0.375)}), SEX), "before": 0.31}
    )
    text = page(refined.reported(10))
    assert "2 of 3, finer for 62 % of the records" in text
    assert "With the same levels for all records it would be 0.31;" in text
    assert "finer for" not in page(refined.reported(130))  # 122 of 980 records are at level 0
    assert "With the same levels" not in page(FOUND)


def test_a_loss_does_not_give_a_small_number_of_suppressed_records_away() -> None:
    """Of a variable that is not generalised nothing is lost but what was suppressed: 3 of 1,000."""
    found = FOUND.model_copy(
        update={"suppressed": 3, "keys": (SEX.model_copy(update={"loss": 0.003}),), "value": 0.003}
    )
    reported = found.reported(10)
    assert (reported.suppressed, reported.keys[0].loss, reported.value) == (None, 0, 0)
