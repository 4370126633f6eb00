"""A removed variable comes back only where the file lost too much."""

from tasks.tuning.plan_changes import changes
from tasks.tuning.trial import Miss
from tests.tasks.tuning.house_of_plans import records, space

PLAN = (
    {"method": "removal", "columns": ["household", "town", "income", "age"]},
    {"method": "local_suppression", "columns": ["sex", "region"], "k": 5},
)


def offered(stage: str) -> dict[str, list[str]]:
    """What is removed after each change that keeps a variable."""
    known = records(300)
    miss = Miss(rule="pair_marginals", stage=stage, verdict=2, says="Too much was lost.", far=0.2)
    definition = space(list(PLAN)).definition()
    found = changes(definition, PLAN, known.variables, known.frame, known.policy, [miss])
    return {each.says: each.plan[0]["columns"] for each in found if each.says.startswith("keep ")}


def test_a_removed_variable_stays_masked_where_a_limit_on_utility_is_broken() -> None:
    found = offered("utility")
    assert found["keep income, by rank_swapping window: 0.02"] == ["household", "town", "age"]
    assert found["keep income, by rank_swapping window: 0.5"] == ["household", "town", "age"]
    assert any(says.startswith("keep age, by global_recoding bins: ") for says in found)
    assert not any("household" in says for says in found)  # a name comes back nowhere


def test_no_other_finding_is_mended_by_telling_more() -> None:
    assert offered("attack") == offered("masked") == {}
