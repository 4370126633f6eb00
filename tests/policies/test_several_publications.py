"""The findings on several publications: which pass, which fail, and what they say of whom."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.policy import Policy
from policies.several_publications import RULES, EarlierFile, judge_publications
from sluice.ground.variables import Role
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.publications.publication import same_people
from tests.golden import golden
from tests.risk.publications.publications import KEYS, VALUES, people, published, recoded


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
