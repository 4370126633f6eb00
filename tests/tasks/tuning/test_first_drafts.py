"""Drafts of a first plan: valid, from fine to coarse, and never with a name in them."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.policy import Policy, load_policy, shipped_policies
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import NAMES, Harmless, Kind, Role, Variable
from sluice.masking.plan import released_variables
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.draft_steps import kept_regressions
from tasks.tuning.first_drafts import drafts
from tasks.tuning.plan_changes import with_plan
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search_context import misfit
from tasks.tuning.space import LossWeights
from tasks.tuning.trial import try_plan
from tests.tasks.tuning.house_of_plans import policy, records, space

SHIPPED = ("public-use-file", "scientific-use-file", "perturbed-file", "synthetic-file")
IDLE = [{"method": "removal", "columns": ["town"]}]
GROUPS = {"town": ("Aldby", "Borgen")}


def definition() -> RecordsDefinition:
    return space(IDLE).definition()


def shipped(name: str) -> Policy:
    return load_policy(shipped_policies()[name])


@pytest.mark.parametrize("name", SHIPPED)
def test_every_draft_fits_the_documents_and_names_nobody(name: str) -> None:
    known = records(300, shipped(name))
    found = list(drafts(known, GROUPS))
    assert len(found) > 2
    for draft in found:
        planned = with_plan(definition(), draft.plan)
        assert misfit(planned, known) is None, draft.says
        assert not any(draft.plan.count(step) > 1 for step in draft.plan)
    last = with_plan(definition(), found[-1].plan)
    if not any(step.method == "generalization" for step in last.plan):
        assert all(variable.role not in NAMES for variable in released_variables(last.plan, known.variables).values())


@pytest.mark.parametrize("name", SHIPPED[:2])
def test_under_a_policy_on_groups_they_keep_ever_less(name: str) -> None:
    known = records(300, shipped(name))
    kept = []
    for draft in drafts(known, GROUPS):
        removed = {column for step in draft.plan if step["method"] == "removal" for column in step["columns"]}
        kept.append(len(set(known.variables) - removed))
        for step in draft.plan:
            assert not set(step["columns"]) & removed or step["method"] == "removal"
            assert not any(known.variables[column].role is Role.HOUSEHOLD for column in set(step["columns"]) - removed)
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] < kept[0]


def test_where_people_have_several_records_groups_are_of_so_many_people() -> None:
    known = records(900, policy(rules=[{"rule": "k_anonymity", "k": 5}]))
    whose = {"household": known.variables["household"].model_copy(update={"role": Role.PERSON})}
    known = replace(known, variables=known.variables | whose, declared=known.declared | whose)
    there = known.frame["region"] == known.frame["region"].iloc[0]
    few = known.frame[there].drop_duplicates("household")[:3]  # people of a region, with ten records each
    known = replace(known, frame=pd.concat([known.frame[~there], *[few] * 10], ignore_index=True))
    suppressed = False
    for draft in drafts(known, GROUPS):
        suppressed |= any(step["method"] == "local_suppression" for step in draft.plan)
        outcome = try_plan(with_plan(definition(), draft.plan), known, (1,), LossWeights(), attacked=False)
        assert outcome.end == "passes", (draft.says, outcome.misses)
    assert suppressed


@pytest.mark.parametrize("name", SHIPPED)
def test_names_of_hundreds_of_places_are_left_out(name: str) -> None:
    known = records(300, shipped(name))
    for places, released in ((90, True), (120, False)):
        town = pd.Series([f"town {n % places}" for n in range(300)], dtype="category")
        variable = known.variables["town"].model_copy(
            update={"hierarchy": None, "categories": tuple(town.cat.categories)}
        )
        named = replace(known, frame=known.frame.assign(town=town), variables=known.variables | {"town": variable})
        found = [
            any("town" in step["columns"] and step["method"] != "removal" for step in draft.plan)
            for draft in drafts(named, {"town": ("town 1", "town 2")})
        ]
        assert any(found) is released


def test_a_sensitive_variable_that_is_often_missing_is_left_out_where_a_rule_is_about_it_and_kept_elsewhere() -> None:
    """In groups of five there would be some of which nobody has a value, so that nobody could judge them. A policy that
    asks nothing of sensitive values, as for researchers, is no reason to leave any out."""
    groups_alone = policy(rules=[{"rule": "k_anonymity", "k": 5}])
    on_values = policy(rules=[{"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2}])
    income = records(600).variables["income"]
    unasked = income.model_copy(update={"harmless": Harmless(missing=True, why="only workers are asked")})
    for asks, missing, variable, kept in (
        (groups_alone, 0.3, income, True),
        (on_values, 0.05, income, True),
        (on_values, 0.3, income, False),
        (on_values, 0.3, unasked, True),
    ):
        known = records(600, asks)
        frame = known.frame.assign(income=known.frame["income"].mask(np.arange(600) % 100 < 100 * missing))
        those = replace(known, frame=frame, variables=known.variables | {"income": variable})
        gone = [
            any("income" in step["columns"] for step in draft.plan if step["method"] == "removal")
            for draft in drafts(those, GROUPS)
        ]
        assert (gone[0], all(gone)) == (not kept, not kept)


def test_a_rare_trait_is_kept_where_it_is_harmless_to_be_without() -> None:
    known = records(600, policy(rules=[{"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2}]))
    ill = pd.Series(pd.Categorical(np.where(np.arange(600) % 10, "no", "yes"), ["no", "yes"]))
    trait = Variable(name="ill", kind=Kind.BINARY, role=Role.SENSITIVE, categories=("no", "yes"))
    kept = []
    for values in ((), ("no",), ("yes",)):
        harmless = Harmless(values=values, why="denied") if values else None
        those = replace(
            known,
            frame=known.frame.assign(ill=ill),
            variables=known.variables | {"ill": trait.model_copy(update={"harmless": harmless})},
        )
        first = next(iter(drafts(those, GROUPS)))
        gone = [name for step in first.plan if step["method"] == "removal" for name in step["columns"]]
        kept.append("ill" not in gone)
    assert kept == [False, True, False]


def test_the_only_sensitive_variable_is_kept_though_nearly_all_have_one_value_of_it() -> None:
    """A rule on sensitive values judges no file that holds none: each draft without it would be tried in vain."""
    known = records(600, policy(rules=[{"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2}]))
    income = pd.Series(np.where(np.arange(600) % 10, 1000.0, 2000.0))
    others = {
        name: v.model_copy(update={"role": Role.OTHER}) if v.role is Role.SENSITIVE and name != "income" else v
        for name, v in known.variables.items()
    }
    frame = known.frame.assign(income=income.astype(known.frame["income"].dtype))
    for draft in drafts(replace(known, frame=frame, variables=others), GROUPS):
        assert not any("income" in step["columns"] for step in draft.plan if step["method"] == "removal")


def test_a_leaf_is_of_so_many_people_where_each_has_several_records() -> None:
    known = records(600, shipped("perturbed-file"))
    who = Variable(name="who", kind=Kind.NOMINAL, role=Role.PERSON, categories=tuple(map(str, range(200))))
    person = pd.Categorical(np.repeat(np.arange(200), 3).astype(str), categories=who.categories)
    those = replace(known, frame=known.frame.assign(who=person), variables=known.variables | {"who": who})

    def leaves(of: RecordsAtHand) -> list[int]:
        steps = [step for draft in drafts(of, GROUPS) for step in draft.plan if step["method"] == "sequential_trees"]
        return [step["minimum_leaf"] for step in steps]

    assert leaves(those) == [3 * each for each in leaves(known)]


def test_large_groups_keep_to_the_rules_of_the_policy_too() -> None:
    known = records(600, policy(rules=[{"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2}]))
    levels = [step for draft in drafts(known, GROUPS) for step in draft.plan if step["method"] == "generalization"]
    assert any("models" in step for step in levels)
    assert all(step["under"] == "policy" for step in levels)


def test_the_weight_of_a_survey_is_in_the_finest_drafts() -> None:
    known = records(600)
    weight = Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)
    drawn = np.random.default_rng(1).lognormal(5, 0.3, 600)
    known = replace(known, frame=known.frame.assign(weight=drawn), variables=known.variables | {"weight": weight})
    first, *_, last = drafts(known, GROUPS)
    moved = {name for step in first.plan if step["method"] == "rank_swapping" for name in step["columns"]}
    assert "weight" in moved
    assert "weight" in last.plan[0]["columns"]


def test_no_variable_comes_out_as_one_group_of_all_while_others_could_be_left_out() -> None:
    """A rare region: with it no groups of five are left but by giving all regions as one, which tells nothing."""
    known = records(600, policy(rules=[{"rule": "k_anonymity", "k": 5, "missing_matches": "any"}]))
    for rare, kept in ((12, False), (200, True)):
        regions = known.frame["region"].astype(object).where(np.arange(600) >= rare, "isle").astype("category")
        region = known.variables["region"].model_copy(update={"categories": ("isle", "north", "south")})
        those = replace(known, frame=known.frame.assign(region=regions), variables=known.variables | {"region": region})
        first = next(drafts(those, {}))
        (search,) = (step for step in first.plan if step["method"] == "generalization")
        assert ("region" in search["columns"]) is kept
        assert search["levels"]["sex"] == {"to": 0}
        outcome = try_plan(with_plan(definition(), first.plan), those, (1,), LossWeights(), attacked=False)
        assert outcome.end == "passes", outcome.misses


def test_a_group_before_all_others_is_no_level_that_tells_something() -> None:
    """Of twenty branches the first against all others would be nearly the same for everybody."""
    known = records(600, policy(rules=[{"rule": "k_anonymity", "k": 5}]))
    names = [f"branch {n:02d}" for n in range(20)]
    rows = {name: (name if n < 6 else "other", name if n < 1 else "other", "*") for n, name in enumerate(names)}
    branch = known.variables["sex"].model_copy(
        update={"name": "branch", "kind": Kind.NOMINAL, "categories": tuple(names), "hierarchy": Hierarchy(rows=rows)}
    )
    column = pd.Series(np.resize(names, 600), dtype="category")
    variables = {"branch": branch, **{name: v for name, v in known.variables.items() if name != "region"}}
    first = next(drafts(replace(known, frame=known.frame.assign(branch=column), variables=variables), {}))
    (search,) = (step for step in first.plan if step["method"] == "generalization")
    assert search["levels"]["branch"] == {"to": 1}


def test_in_large_groups_a_common_value_is_hardly_ever_the_only_one() -> None:
    """85 of 100 have it, so that of groups of five every second has no other; in the large ones no group."""
    known = records(2_000, policy(rules=[{"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2}]))
    rare = np.random.default_rng(1).random(2_000) < 0.16
    income = known.frame["income"].where(rare, 1_000)
    known = replace(known, frame=known.frame.assign(income=income))
    large = [draft for draft in drafts(known, GROUPS) if "large groups" in draft.says]
    for draft in large:
        (search,) = (step for step in draft.plan if step["method"] == "generalization")
        assert search["models"] == [{"model": "k_anonymity", "k": 50}]
        outcome = try_plan(with_plan(definition(), draft.plan), known, (1,), LossWeights(), attacked=False)
        assert outcome.end == "passes", (draft.says, outcome.misses)
    # The same variables are tried in groups of both sizes, also where there are few.
    assert any(re.search(r"\b2 .*swapped", draft.says) for draft in large)


def test_a_variable_that_repeats_another_is_left_out() -> None:
    for draft in drafts(records(300), GROUPS, repeats=["region"]):
        assert draft.plan[0]["method"] == "removal"
        assert "region" in draft.plan[0]["columns"]


@pytest.mark.parametrize("name", ["public-use-file", "perturbed-file"])
def test_no_number_moves_to_another_record_as_it_is(name: str) -> None:
    """Else a draft that passes publishes the numbers of all accounts, in a column that nobody took for them."""
    known = records(600, shipped(name))
    accounts = np.random.default_rng(1).integers(10**9, 10**10, 600)
    accounts += accounts % 100 == 0
    income = known.variables["income"].model_copy(update={"maximum": None, "minimum": None})
    known = replace(
        known, frame=known.frame.assign(income=accounts.astype(float)), variables=known.variables | {"income": income}
    )
    moved = 0
    for draft in drafts(known, GROUPS):
        plan = with_plan(definition(), draft.plan).plan
        if not any(step.method in ("rank_swapping", "data_shuffling") and "income" in step.columns for step in plan):
            continue
        released = pd.Series(accounts)
        for step in plan:
            if step.method == "rounding":
                released = step.mask(known.frame, known.variables, np.random.default_rng(1))["income"]
        moved += 1
        assert not released.isin(accounts).any(), draft.says
    assert moved


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("alone", [["mass"], ["mass", "post"]], ids=["one of four", "no other left"])
def test_no_draft_releases_a_category_of_one_person(name: str, alone: list[str]) -> None:
    """It may be in the original for what it tells of that person; to move it to another one tells it still."""
    known = records(300, shipped(name))
    rest = ["post", "web", "call"] if len(alone) == 1 else ["web"]
    answers = pd.Series([*alone, *[rest[n % len(rest)] for n in range(300 - len(alone))]], dtype="category")
    town = known.variables["town"].model_copy(
        update={"role": Role.OTHER, "hierarchy": None, "categories": tuple(answers.cat.categories)}
    )
    known = replace(
        known,
        frame=known.frame.assign(town=answers),
        variables=known.variables | {"town": town},
        declared=known.declared | {"town": town.model_copy(update={"categories": None})},
    )
    for draft in drafts(known, {}):
        steps = [step for step in draft.plan if "town" in step["columns"]]
        if steps[0]["method"] == "removal":
            continue
        assert steps[0]["method"] == "global_recoding", draft.says
        stay = steps[0]["categories"]
        assert set(stay) < set(rest)
        assert (~answers.isin(list(stay))).sum() >= 10
    assert len(rest) == 1 or any("town" in step["columns"] for draft in drafts(known, {}) for step in draft.plan[1:])


def test_of_a_questionnaire_the_regressions_of_numbers_are_kept_and_of_few_categories_all() -> None:
    rng = np.random.default_rng(1)
    items = [f"q{number}" for number in range(20)]
    frame = pd.DataFrame({name: rng.choice(list("abcdef"), 500) for name in items}).assign(score=rng.normal(size=500))
    of_items = {name: Variable(name=name, kind=Kind.NOMINAL, categories=tuple("abcdef")) for name in items}
    variables = {**of_items, "score": Variable(name="score", kind=Kind.CONTINUOUS)}
    variables["q9"] = variables["q9"].model_copy(update={"role": Role.QUASI_IDENTIFIER})
    kept = kept_regressions(frame, variables, [*items, "score"])
    assert isinstance(kept, list)
    assert {"score", "q9"} <= {*kept}
    assert len(kept) < 5
    assert kept_regressions(frame, variables, [*items[:2], "score"]) is True
    assert kept_regressions(frame, variables, ["score"], items) is True
