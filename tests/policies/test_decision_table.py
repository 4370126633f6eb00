"""A decision is one row, and what is refused with a reason is what cannot be done."""

from itertools import product
from typing import get_args

import pytest

from policies.decision_table import DECISIONS, ON_REVIEW
from policies.standing import REFUSALS, Decision
from sluice.custody.states import EVENTS, PEOPLE, TRANSITIONS, State, Who, tells
from sluice.ground.errors import SluiceError


def test_each_decision_is_an_action_of_people_in_the_table_of_states_and_each_of_these_has_a_row() -> None:
    assert {rule.action for rule in DECISIONS.values()} == {each.action for each in TRANSITIONS if each.by & PEOPLE}
    assert set(ON_REVIEW) == set(get_args(Decision))
    assert REFUSALS == {"reject": "rejected", "request_changes": "changes_requested"}


@pytest.mark.parametrize("name", DECISIONS)
def test_the_ledger_knows_what_records_it_and_somebody_is_told_of_it_or_of_what_it_comes_to(name: str) -> None:
    rule = DECISIONS[name]
    assert rule.event in EVENTS
    assert tells(rule.event) or name in ON_REVIEW  # of these nobody learns before all have decided


@pytest.mark.parametrize(("name", "state", "who"), list(product(DECISIONS, (None, *State), sorted(PEOPLE))), ids=str)
def test_what_can_be_done_is_what_is_not_refused(name: str, state: State | None, who: Who) -> None:
    rule = DECISIONS[name]
    try:
        rule.check_state("people-puf-1", state)
        rule.check_person("people-puf-1", "emil", who)
        refused = ""
    except SluiceError as error:
        refused = str(error)
    assert rule.can(state, who) == (refused == "")
    if refused:
        assert "people-puf-1" in refused
        assert "{" not in refused
