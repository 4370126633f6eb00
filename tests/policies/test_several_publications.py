"""The findings on several publications: which pass, which fail, and what they say of whom."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

from policies.policy import Policy
from policies.several_publications import RULES, EarlierFile, judge_publications
from sluice.ground.arrays import IntArray
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.publications.publication import Publication, SamePeople, same_people
from tests.golden import golden
from tests.risk.publications.publications import KEYS, VALUES, people, published, recoded
from tests.typed_frame import typed_frame


def policy(*rules: dict[str, Any]) -> Policy:
    given = rules or ({"rule": "k_anonymity", "k": 5}, {"rule": "l_diversity", "l": 2})
    return Policy.model_validate({"name": "p", "version": 1, "rules": given, "approvals": {}})


def judged(
    first: pd.DataFrame, second: pd.DataFrame, plans: list[list[dict[str, Any]]], by: Policy | None = None
) -> dict[str, Finding]:
    files = []
    for seed, (records, plan) in enumerate(zip((first, second), plans, strict=True)):
        file = published(records, plan, seed)
        for name, variable in [*file.variables.items(), *file.released.items()]:
            role = Role.QUASI_IDENTIFIER if name in KEYS else Role.SENSITIVE
            for variables in (file.variables, file.released):
                if name in variables:
                    variables[name] = variable.model_copy(update={"role": role})  # type: ignore[index]
        files.append(file)
    same = same_people(files[0].original, files[1].original, [*KEYS, *VALUES])
    earlier = {} if same is None else {"people-1": EarlierFile(files[0], same)}
    found = judge_publications(by or policy(), files[1], earlier, "people", np.random.default_rng(0))
    assert tuple(finding.rule for finding in found) == RULES
    return {finding.rule: finding for finding in found}


def test_other_people_are_nothing_to_compare_with() -> None:
    found = judged(people(seed=1), people(seed=2), [[recoded(40)], [recoded(40)]])
    assert {(finding.verdict, finding.attempted) for finding in found.values()} == {(Verdict.PASS, 0)}


def test_who_leaves_alone_fails_and_the_number_of_so_few_is_not_given() -> None:
    found = judged(people(), people().drop(index=17), [[recoded(40)], [recoded(40)]])
    assert found["differencing"].verdict is Verdict.FAIL
    golden(found["differencing"].says)
    assert found["few_changes"].verdict is Verdict.REVIEW
    assert {found[rule].verdict for rule in ("joint_classes", "averaged_noise")} == {Verdict.PASS}


def test_small_joint_classes_fail_where_the_policy_asks_for_classes() -> None:
    plans = [[recoded(30, 45)], [recoded(31, 47)]]
    found = judged(people(300), people(300), plans)
    assert found["joint_classes"].verdict is Verdict.FAIL
    golden(found["joint_classes"].says)
    other = policy({"rule": "minimum_frequency", "n": 5})
    assert judged(people(300), people(300), plans, other)["joint_classes"].verdict is Verdict.PASS


def test_noise_drawn_anew_fails_and_names_the_variable() -> None:
    records = people(3000).drop_duplicates([*KEYS, "town"]).reset_index(drop=True)
    plan = [{"method": "additive_noise", "columns": ["income"], "amount": 0.02}]
    found = judged(records, records, [plan, plan])["averaged_noise"]
    assert (found.verdict, found.scope, found.limit) == (Verdict.FAIL, "income", 0.05)
    assert found.observed > 0.1


@pytest.mark.parametrize("share", [0.9, 0.5])
def test_a_later_edition_by_the_same_plan_passes(share: float) -> None:
    later = people().sample(frac=share, random_state=1)
    found = judged(people(), later, [[recoded(40)], [recoded(40)]])
    assert {finding.verdict for finding in found.values()} == {Verdict.PASS}


_AGE_AND_PLACE = ["age", "region"]


def halves_and_all(kept: float, seed: int) -> tuple[list[Publication], list[IntArray], pd.DataFrame]:
    """Two halves, of the women and of the men, but for one of each class, then everybody, without their sex; so many
    towns are the true ones, in all files alike. The files, their people, and everybody's age, region, town, released
    town and whether only the last file has them."""
    rng = np.random.default_rng(seed)
    records = people(400, seed)
    records["age"] = records["age"] // 10 * 10
    only = records.index.isin(records.groupby(_AGE_AND_PLACE).sample(1, random_state=seed).index)
    released = records["town"].where(rng.random(len(records)) < kept, rng.permutation(records["town"]))
    everybody, variables = typed_frame(records[[*_AGE_AND_PLACE, "town"]].astype(str))
    roles = {name: Role.SENSITIVE if name == "town" else Role.QUASI_IDENTIFIER for name in variables}
    variables = {name: each.model_copy(update={"role": roles[name]}) for name, each in variables.items()}
    masked = everybody.assign(town=pd.Categorical(released, everybody["town"].cat.categories))
    rows = [*(np.flatnonzero((records["sex"] == sex) & ~only) for sex in "fm"), np.arange(len(records))]
    files = [
        Publication(
            everybody.iloc[of].reset_index(drop=True), masked.iloc[of].reset_index(drop=True), np.arange(len(of)),
            variables, variables,
        )
        for of in rows
    ]  # fmt: skip
    return files, rows, records.assign(released=released, only=only)


@pytest.mark.parametrize(
    ("kept", "seed", "more"), [(0.8, 1, True), (0.8, 2, True), (0.8, 0, False), (0.5, 1, False), (0.0, 1, False)]
)
def test_what_files_added_up_name_rightly_more_often_than_chance(kept: float, seed: int, more: bool) -> None:
    """By counting: each class has one person more in the last file than in the halves, and so the name of a town."""
    (*halves, last), rows, everybody = halves_and_all(kept, seed)
    earlier = {
        name: EarlierFile(file, SamePeople(np.arange(len(of)), of))
        for name, file, of in zip(("women", "men"), halves, rows, strict=False)
    }
    found = judge_publications(policy(), last, earlier, "people", np.random.default_rng(0))
    finding = next(each for each in found if each.rule == "differencing")
    named = everybody[everybody["only"]]
    right = int((named["released"] == named["town"]).sum())
    by_chance = 0.0
    for _, alike in everybody.groupby(_AGE_AND_PLACE):
        by_chance += float((alike["released"] == alike.loc[alike["only"], "released"].iloc[0]).mean())
    guesses = right > 0 and poisson.sf(right - 1, by_chance) < 0.01
    assert guesses == more
    assert (finding.code, finding.verdict) == (
        ("differencing.whole", Verdict.FAIL) if guesses else ("differencing.nobody", Verdict.PASS)
    )
    if guesses:
        assert [note.code for note in finding.notes] == ["differencing.guessed_of_sums"]
        assert finding.scope == "women, men"


def test_where_nobody_is_found_in_the_same_data_set_a_person_decides() -> None:
    file = published(people(), [recoded(40)])
    found = judge_publications(policy(), file, {}, "people", np.random.default_rng(0), ["people-1"])
    assert [finding.verdict for finding in found] == [Verdict.PASS, Verdict.REVIEW, Verdict.PASS, Verdict.PASS]
    assert found[1].scope == "people-1"
    golden(found[1].says)


def test_of_many_publications_three_are_named_and_the_dossier_has_all() -> None:
    first, second = published(people(200), [recoded(40)]), published(people(200).drop(index=17), [recoded(40)])
    same = same_people(first.original, second.original, [*KEYS, *VALUES])
    assert same is not None
    earlier = {f"people-{number}": EarlierFile(first, same) for number in range(5)}
    asked = policy({"rule": "minimum_frequency", "n": 5})
    found = judge_publications(asked, second, earlier, "people", np.random.default_rng(0))
    by_rule = {finding.rule: finding for finding in found}
    for rule in ("few_changes", "differencing", "averaged_noise"):
        notes = [by_rule[rule].data, *(note.data for note in by_rule[rule].notes)]
        told = [data.get(key) for data in notes for key in ("name", "releases", "others")]
        assert {name for datum in told for name in _names(datum)} == {*earlier}
    golden(by_rule["few_changes"].says)
    golden(by_rule["differencing"].says)


def _names(datum: object) -> tuple[str, ...]:
    return (datum,) if isinstance(datum, str) else datum if isinstance(datum, tuple) else ()
