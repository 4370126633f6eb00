"""The searched levels in the report: the picture, and why no level is finer, with no count below the minimum cell."""

from xml.etree import ElementTree

import pytest

from sluice.generalization.levels_found import Finer, KeyLevel, LevelsFound
from sluice.report.records_plots import ladder_svg
from sluice.report.report_page import render
from tests.golden import golden
from tests.report.pages import Page, dossier

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


def test_a_box_for_each_level_with_its_groups() -> None:
    drawn = ElementTree.fromstring(str(ladder_svg(FOUND.keys, "levels", "levels-0")))
    boxes = [each for each in drawn.iter() if each.tag.endswith("rect")]
    assert len(boxes) == 6
    assert [box.get("fill") for box in boxes] == [
        "none", "url(#levels-0)", "var(--masked)", "none", "var(--masked)", "none",
    ]  # fmt: skip
    assert [each.text for each in drawn.iter() if (each.text or "").isdigit()] == ["75", "15", "4", "1", "2", "1"]


def finer(**changes: object) -> LevelsFound:
    """The same where what a finer level of age would do is another."""
    assert AGE.finer
    return FOUND.model_copy(
        update={"keys": (AGE.model_copy(update={"finer": AGE.finer.model_copy(update=changes)}), SEX)}
    )


FOR_SHARES = AGE.model_copy(update={"shares": (0.125, 0.5, 0.375)})
REFINED = FOUND.model_copy(update={"keys": (FOR_SHARES, SEX), "before": 0.31})
TOLD = {
    "why no level is finer, and no group of four": FOUND.reported(10),
    "nearly the best": FOUND.model_copy(update={"excess": 0.013}).reported(10),
    "nobody knows how good": FOUND.model_copy(update={"excess": None}).reported(10),
    "too few suppressed to tell": FOUND.model_copy(update={"suppressed": 3}).reported(10),
    "left to a later step": FOUND.model_copy(update={"left": True}).reported(10),
    "the largest group, where it is large enough": finer(group_records=60).reported(10),
    "finer would lose more": finer(breaks=(), records=None, group={}, group_records=None).reported(10),
    "for how many records a level is finer": REFINED.reported(10),
    "and where they are too few to tell": REFINED.reported(130),  # 122 of 980 records are at level 0
}


@pytest.mark.parametrize("which", TOLD)
def test_the_report_says_what_was_chosen_and_no_more_than_may_be_told(which: str) -> None:
    lines = Page(render(dossier(levels=(TOLD[which],)))).lines
    assert ("20 to 24" in " ".join(lines)) is (which == "the largest group, where it is large enough")
    start = lines.index("Levels that were searched")
    golden("\n".join(lines[start : lines.index("What was done", start)]))


def test_a_loss_does_not_give_a_small_number_of_suppressed_records_away() -> None:
    """Of a variable that is not generalised nothing is lost but what was suppressed: 3 of 1,000."""
    found = FOUND.model_copy(
        update={"suppressed": 3, "keys": (SEX.model_copy(update={"loss": 0.003}),), "value": 0.003}
    )
    reported = found.reported(10)
    assert (reported.suppressed, reported.keys[0].loss, reported.value) == (None, 0, 0)
