"""What contract and policy refuse whatever the records are is no trial."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.contract import Contract
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_search import Search, point_of
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search_context import fits, misfit
from tasks.tuning.space import SpaceOfPlans
from tests.flows.house import contract
from tests.tasks.tuning.house_of_plans import policy, records, space, uniform

UNIQUES = [{"rule": "k_anonymity", "k": 3}, {"rule": "sample_uniques_share", "at_most": 0.01}]
KEYS = ["age", "sex", "region"]
REMOVED: dict[str, Any] = {"method": "removal", "columns": ["household", "town"]}
LEVELS: dict[str, Any] = {"method": "generalization", "columns": KEYS, "under": "policy", "suppression_limit": 0.05}
BLURRED = {"method": "sequential_trees", "columns": KEYS, "smoothing": ["none", "density"]}


def with_hierarchy(n: int = 600) -> RecordsAtHand:
    """Ages have intervals in the contract, and the policy judges the whole file, too."""
    known = records(n, policy(rules=UNIQUES))
    content = contract()
    age = next(each for each in content["variables"] if each["name"] == "age")
    age["hierarchy"] = {"rows": {str(at): ["under 50" if at < 50 else "50 or over"] for at in range(18, 100)}}
    declared = Contract.model_validate(content)
    return replace(known, contract=declared, declared={**known.declared, "age": declared.staged["age"]},
                   variables={**known.variables, "age": declared.staged["age"]})  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ([REMOVED, BLURRED | {"smoothing": "density"}, LEVELS], "generalization of 'age', integer, needs a hierarchy"),
        ([REMOVED, LEVELS | {"refine": True}], "models must judge each group of look-alikes by its records"),
        ([REMOVED, BLURRED | {"smoothing": "none"}, LEVELS], None),
    ],
)
def test_why_the_documents_refuse_a_plan(plan: list[dict[str, Any]], says: str | None) -> None:
    found = misfit(space(plan).definition(), with_hierarchy())
    assert found is None if says is None else says in (found or "")


def opened() -> SpaceOfPlans:
    """Half of its plans are refused by the documents alone."""
    return space([REMOVED, BLURRED, LEVELS | {"suppression_limit": {"from": 0.01, "to": 0.1}}])


def test_a_search_asks_for_no_plan_that_the_documents_refuse() -> None:
    known, of = with_hierarchy(300), opened()
    assert not all(fits(of, point_of(of, uniform(seed)), known) for seed in range(10))
    asked = Search(of, known)
    points = [point for _ in range(3) for point in asked._asked([])]
    assert all(misfit(of.definition(at(point)), known) is None for point in points)


def test_a_space_of_which_no_plan_fits_is_searched_all_the_same_and_says_why() -> None:
    of = space([REMOVED, LEVELS | {"refine": True, "suppression_limit": [0.01, 0.05]}],
               search={"trials": 1, "seed": 1, "people": 1})  # fmt: skip
    found = Search(of, with_hierarchy(300)).run()
    assert found.trials[0].outcome.end == "refused"
    assert "sample uniques" in found.trials[0].outcome.misses[0].says
