"""A release that was sent back comes again, and the report says what changed since."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tasks.release.editions.resubmission import differences
from tests.flows.house import BLOCKED, WAITING, House
from tests.flows.stages import stages
from tests.golden import golden
from tests.report.pages import Page

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_only_what_is_equal_has_no_difference(before: object, now: object) -> None:
    assert differences(before, before) == []  # type: ignore[arg-type]
    if json.dumps(_without_empty(before)) != json.dumps(_without_empty(now)):
        assert differences(before, now) != []  # type: ignore[arg-type]


def _without_empty(value: object) -> object:
    """An entry without a value is told like one that is not there."""
    if isinstance(value, dict):
        return {key: _without_empty(each) for key, each in sorted(value.items()) if each is not None}
    if isinstance(value, list):
        kept = [*value]
        while kept and kept[-1] is None:
            kept.pop()
        return [_without_empty(each) for each in kept]
    return value


def test_a_difference_names_its_place_and_both_values() -> None:
    before = {"plan": [{"method": "removal"}, {"window": 0.1}], "title": "A"}
    now = {"plan": [{"method": "removal"}, {"window": 0.2}, {"k": 3}], "title": "A"}
    assert differences(before, now) == [  # type: ignore[arg-type]
        "plan.1.window: 0.1, now 0.2",
        'plan.2: not there, now {"k": 3}',
    ]


def test_the_next_round_tells_what_was_asked_and_what_changed() -> None:
    house = stages(House).at("pending")
    first = house.id
    for person, code in (("amara", WAITING), ("jonas", BLOCKED)):
        words = f"{person} wants wider windows"
        assert house.sluice("request-changes", first, "--as", person, "--comment", words).code == code
    house.definition["plan"][-1]["window"] = 0.3
    house.write()
    assert house.release().code == WAITING
    page = (house.home / "reports" / f"{house.id}.html").read_text()
    assert first in page
    lines = Page(page).lines
    told = lines.index(next(line for line in lines if line.startswith("Round 2")))
    golden(lines[told : lines.index("Who must approve")])
    golden([line for line in lines if "approvers type their name" in line])


def test_a_first_round_says_nothing_of_rounds() -> None:
    house = stages(House).at("pending")
    assert "Round" not in (house.home / "reports" / f"{house.id}.html").read_text()
