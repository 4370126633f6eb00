from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from policies.rules.dominance import Dominance
from policies.rules.k_anonymity import KAnonymity
from policies.rules.l_diversity import LDiversity
from policies.rules.minimum_frequency import MinimumFrequency
from policies.rules.p_percent import PPercent
from policies.rules.rule import Rule
from policies.rules.rules import PolicyRule
from policies.rules.sample_uniques_share import SampleUniquesShare
from policies.rules.t_closeness import TCloseness
from policies.rules.table_rule import TableRule
from sluice.documents.documents import parse_document
from sluice.errors import DataError, DocumentError
from sluice.generalization.hierarchy import Hierarchy
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Finding, Verdict

QUASI = Role.QUASI_IDENTIFIER
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.INTEGER, role=QUASI),
        Variable(name="years_married", kind=Kind.CONTINUOUS, role=QUASI),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE),
        Variable(name="salary", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
        Variable(name="remark", kind=Kind.TEXT),
    )
}


class Rules(BaseModel):
    rules: tuple[PolicyRule, ...]


def load(**rule: Any) -> Rule:
    return parse_document(Rules, {"rules": [rule]}, "policy").rules[0]


def refusal(**rule: Any) -> str:
    with pytest.raises(DocumentError) as error:
        load(**rule)
    return str(error.value)


def typed(ages: list[int | None], illness: list[str | None] | None = None, index: Any = None) -> pd.DataFrame:
    n = len(ages)
    return pd.DataFrame(
        {
            "age": pd.array(ages, dtype="Int64"),
            "years_married": np.full(n, 2.5),
            "illness": pd.Categorical(
                illness if illness is not None else ["flu", "cold"] * (n // 2) + ["flu"] * (n % 2)
            ),
            "salary": np.arange(n, dtype=float),
            "remark": pd.array(["x"] * n, dtype="str"),
        }
    ).set_axis(range(n) if index is None else index)


def one(rule: Rule, frame: pd.DataFrame, **options: Any) -> Finding:
    (finding,) = rule.find(frame, VARIABLES, "masked", **options)
    return finding


# k-anonymity


def test_a_file_with_uniques_fails_k_anonymity_and_says_so_in_plain_words() -> None:
    finding = one(KAnonymity(k=5), typed([30] * 6 + [41, 42]), unit="women")
    assert finding == Finding(
        rule="k_anonymity",
        verdict=Verdict.FAIL,
        stage="masked",
        scope="age, years_married",
        observed=1,
        limit=5,
        attempted=8,
        completed=8,
        says="2 of 8 women are alone with their combination of age and years married; the policy asks that at least 5 "
        "share every combination.",
    )


def test_the_words_fit_one_unique_small_groups_and_a_pass() -> None:
    assert one(KAnonymity(k=3), typed([30, 30, 30, 41])).says.startswith("1 of 4 records is alone with its combination")
    both = one(KAnonymity(k=4), typed([30, 30, 30, 41]))
    assert "4 of 4 records share their combination" in both.says
    assert "1 of these is alone" in both.says
    passed = one(KAnonymity(k=2), typed([30, 30, 41, 41, 41]))
    assert passed.verdict is Verdict.PASS
    assert passed.says.startswith("Every combination of age and years married is shared by at least 2 of the 5 records")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(20, 24)), min_size=1, max_size=15), st.integers(2, 5), st.randoms())
def test_k_anonymity_in_any_row_order_and_with_any_index(
    ages: list[int | None], k: int, random: "np.random.Generator"
) -> None:
    expected = min(ages.count(age) for age in ages)
    random.shuffle(ages)
    finding = one(KAnonymity(k=k), typed(ages, index=[0] * len(ages)))
    assert finding.observed == expected
    assert finding.verdict is (Verdict.PASS if expected >= k else Verdict.FAIL)


def test_a_missing_key_is_a_category_unless_the_policy_says_that_it_matches_any() -> None:
    frame = typed([30, 30, 30, None])
    assert one(KAnonymity(k=3), frame).observed == 1
    lenient = one(KAnonymity(k=3, missing_matches="any"), frame)
    assert (lenient.verdict, lenient.observed) == (Verdict.PASS, 4)
    assert "a missing value counts as matching any" in lenient.says


def test_named_columns_replace_the_quasi_identifiers() -> None:
    frame = typed([30, 31, 32])
    assert one(KAnonymity(k=3, columns=("years_married",)), frame).observed == 3
    assert one(KAnonymity(k=3), frame).observed == 1


def test_k_equal_to_all_records_and_one_more() -> None:
    assert one(KAnonymity(k=4), typed([30] * 4)).verdict is Verdict.PASS
    assert one(KAnonymity(k=5), typed([30] * 4)).verdict is Verdict.FAIL


# sample uniques


def test_the_share_of_uniques_passes_at_its_limit_and_fails_beyond() -> None:
    frame = typed([30, 30, 30, 41])
    assert one(SampleUniquesShare(at_most=0.25), frame).verdict is Verdict.PASS
    finding = one(SampleUniquesShare(at_most=0.2), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    assert "1 of 4 records is alone" in finding.says
    assert "(25 %); the policy allows at most 20 %" in finding.says


# l-diversity


def test_l_diversity_judges_every_sensitive_variable() -> None:
    illness, salary = LDiversity(l=2).find(typed([30] * 3, ["flu"] * 3), VARIABLES, "masked")
    assert (illness.scope, illness.verdict, illness.observed) == ("illness by age, years_married", Verdict.FAIL, 1)
    assert illness.says.startswith("In 1 of 1 groups of records that cannot be told apart by their quasi-identifiers")
    assert (salary.verdict, salary.observed) == (Verdict.PASS, 3)  # a continuous variable: its distinct values
    assert "In none of the 1 groups" in salary.says


def test_index_labels_are_not_positions() -> None:
    """A tool that used labels as positions reported 2 here: a group of one illness beside a mixed one."""
    frame = typed([30, 30, 41, 41], ["flu", "flu", "cold", "flu"], index=[3, 2, 1, 0])
    assert one(LDiversity(l=2, columns=("illness",)), frame).observed == 1


def test_entropy_l_diversity_is_met_exactly_by_equal_frequencies() -> None:
    entropy = LDiversity(variant="entropy", l=3, columns=("illness",))
    assert one(entropy, typed([30] * 3, ["a", "b", "c"])).verdict is Verdict.PASS
    finding = one(entropy, typed([30] * 4, ["a", "b", "c", "c"]))
    assert finding.verdict is Verdict.FAIL
    assert finding.observed == pytest.approx(2**1.5)
    assert "weighed by how often they occur" in finding.says


def test_recursive_l_diversity_bounds_the_most_frequent_value() -> None:
    frame = typed([30] * 7, ["a"] * 4 + ["b"] * 2 + ["c"])  # 4 against 2 + 1
    recursive = LDiversity(variant="recursive", l=2, c=1.5, columns=("illness",))
    assert one(recursive, frame).verdict is Verdict.PASS
    finding = one(recursive.model_copy(update={"c": 4 / 3}), frame)  # met exactly is not met: less than c times
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, pytest.approx(4 / 3))
    assert "In 1 of 1 groups" in finding.says
    none = one(recursive, typed([30] * 3, ["a"] * 3))
    assert (none.verdict, none.observed) == (Verdict.FAIL, None)
    assert recursive.describe().endswith("(recursive l-diversity).")


def test_other_sensitive_values_count_as_known_when_the_policy_says_so() -> None:
    """Two illnesses among four people, but the salary tells which."""
    frame = typed([30] * 4, ["flu", "flu", "cold", "cold"]).assign(salary=[1.0, 1.0, 2.0, 2.0])
    assert [f.verdict for f in LDiversity(l=2).find(frame, VARIABLES, "masked")] == [Verdict.PASS] * 2
    illness, salary = LDiversity(l=2, others_known=True).find(frame, VARIABLES, "masked")
    assert (illness.verdict, salary.verdict) == (Verdict.FAIL, Verdict.FAIL)
    assert illness.scope == "illness by age, years_married, salary"
    assert "their other sensitive values" in LDiversity(l=2, others_known=True).describe()


# t-closeness


def test_t_closeness_takes_the_ground_distance_of_the_kind() -> None:
    """Salaries of the paper (Li et al. 2007, section 4.2): 0.375 in their order; 2/3 when all are equally far."""
    frame = typed([1, 1, 1, 2, 2, 2, 3, 3, 3]).assign(salary=[3.0, 4, 5, 6, 11, 8, 7, 9, 10])
    assert one(TCloseness(t=0.375, columns=("salary",)), frame).verdict is Verdict.PASS  # met exactly
    ordered = one(TCloseness(t=0.3, columns=("salary",)), frame)
    assert ordered.verdict is Verdict.FAIL
    assert ordered.observed == pytest.approx(0.375)
    assert "In 1 of 3 groups" in ordered.says
    assert one(TCloseness(t=0.3, ground_distance="equal", columns=("salary",)), frame).observed == pytest.approx(2 / 3)


def test_a_suppressed_record_still_counts_for_t() -> None:
    """A tool that left out the records with suppressed keys, but kept their sensitive value, reported too small a t."""
    frame = typed([1, 1, None, None], ["flu", "cold", "flu", "flu"])
    finding = one(TCloseness(t=0.2, columns=("illness",)), frame)
    # By hand: the file has 3/4 flu; the group of age 1 has 1/2 and the suppressed one all flu: both 1/4 away.
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, pytest.approx(0.25))


def test_an_order_is_refused_where_there_is_none() -> None:
    with pytest.raises(DataError, match=r"'ordered' needs values with an order; 'illness' is nominal\. Use 'equal'"):
        TCloseness(t=0.2, ground_distance="ordered").find(typed([1, 2]), VARIABLES, "masked")


def test_the_hierarchical_distance_takes_the_hierarchy_of_the_contract() -> None:
    rows = {"flu": ("lungs", "all"), "cold": ("lungs", "all"), "ulcer": ("stomach", "all")}
    variables = VARIABLES | {"illness": VARIABLES["illness"].model_copy(update={"hierarchy": Hierarchy(rows=rows)})}
    frame = typed([1, 1, 2, 2], ["flu", "flu", "cold", "ulcer"])
    rule = TCloseness(t=0.4, ground_distance="hierarchical", columns=("illness",))
    (finding,) = rule.find(frame, variables, "masked")
    # By hand: 1/2 between the illnesses, 1/4 between lungs and stomach; the mean of both levels.
    assert (finding.verdict, finding.observed) == (Verdict.PASS, pytest.approx(0.375))
    assert one(TCloseness(t=0.4, columns=("illness",)), frame).verdict is Verdict.FAIL
    with pytest.raises(DataError, match="'hierarchical' needs a hierarchy; 'illness' has none"):
        one(rule, frame)


# what cannot be judged

MICRODATA: list[Rule] = [KAnonymity(k=2), LDiversity(l=2), TCloseness(t=0.5), SampleUniquesShare(at_most=0.9)]


@pytest.mark.parametrize("rule", MICRODATA, ids=lambda rule: rule.rule)
def test_nothing_to_judge_is_unknown_never_a_pass(rule: Rule) -> None:
    frame = typed([30, 30])
    plain = {name: variable.model_copy(update={"role": Role.OTHER}) for name, variable in VARIABLES.items()}
    (no_keys,) = rule.find(frame, plain, "masked")
    (no_records,) = rule.find(frame.head(0), VARIABLES, "masked")
    for finding, why in ((no_keys, "declared a quasi-identifier"), (no_records, "holds no records")):
        assert finding.verdict is Verdict.UNKNOWN
        assert why in finding.says
        assert finding.completed == 0


@pytest.mark.parametrize("rule", [LDiversity(l=2), TCloseness(t=0.5)], ids=lambda rule: rule.rule)
def test_no_sensitive_variable_is_unknown(rule: Rule) -> None:
    keys = {name: variable for name, variable in VARIABLES.items() if variable.role is QUASI}
    (finding,) = rule.find(typed([30, 30]), keys, "masked")
    assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.UNKNOWN, 2, 0)
    assert "declared sensitive" in finding.says


@pytest.mark.parametrize("rule", MICRODATA, ids=lambda rule: rule.rule)
def test_a_column_that_is_not_in_the_file_is_an_error(rule: Rule) -> None:
    with pytest.raises(DataError, match=f"{rule.rule}: the file has no column 'age'"):
        rule.find(typed([30, 30]).drop(columns="age"), VARIABLES, "masked")
    named = rule.model_copy(update={"columns": ("agee",)})
    with pytest.raises(DataError, match=r"no column 'agee'\. Did you mean 'age'"):
        named.find(typed([30, 30]), VARIABLES, "masked")


# tables

TABLE: list[TableRule] = [MinimumFrequency(n=3), Dominance(n=1, k=75), PPercent(p=10)]


@pytest.mark.parametrize("rule", TABLE, ids=lambda rule: rule.rule)
def test_a_table_rule_never_lets_a_file_of_records_out(rule: TableRule) -> None:
    (finding,) = rule.find(typed([30] * 10), VARIABLES, "masked")
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.binding
    assert (finding.attempted, finding.completed) == (10, 0)
    assert "for the cells of a table, not for records" in finding.says


@pytest.mark.parametrize("rule", TABLE, ids=lambda rule: rule.rule)
def test_a_table_rule_judges_a_cell(rule: TableRule) -> None:
    assert rule.is_sensitive([22])
    assert not rule.is_sensitive([10, 10, 10, 10])
    with pytest.raises(DataError, match=f"{rule.rule} takes contributions of 0 or more"):
        rule.is_sensitive([1, -1])


# documents


def test_every_rule_loads_by_its_name_with_its_defaults() -> None:
    assert load(rule="k_anonymity", k=5) == KAnonymity(k=5, missing_matches="category", columns=None)
    assert load(rule="l_diversity", l=2) == LDiversity(l=2, variant="distinct")
    assert load(rule="t_closeness", t=0.2) == TCloseness(t=0.2, ground_distance=None)
    assert load(rule="sample_uniques_share", at_most=0) == SampleUniquesShare(at_most=0)
    assert load(rule="minimum_frequency", n=3) == MinimumFrequency(n=3)
    assert load(rule="dominance", n=1, k=75) == Dominance(n=1, k=75)
    assert load(rule="p_percent", p=10) == PPercent(p=10)


def test_an_unknown_rule_is_refused_with_the_nearest_name() -> None:
    said = refusal(rule="k_anonimity", k=5)
    assert "no 'rule' is named 'k_anonimity'" in said
    assert "Did you mean 'k_anonymity'?" in said


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"rule": "k_anonymity", "k": 1}, "k: must be at least 2; got 1"),
        ({"rule": "k_anonymity", "k": 5, "missing_matches": "none"}, "'category' or 'any'; got 'none'"),
        ({"rule": "k_anonymity", "k": 5, "columns": []}, "columns"),
        ({"rule": "k_anonymity", "k": 5, "limit": 3}, "limit: unknown key"),
        ({"rule": "l_diversity", "l": 0.5}, "l: must be greater than 1; got 0.5"),
        ({"rule": "l_diversity", "l": 2, "variant": "probable"}, "'distinct', 'entropy' or 'recursive'"),
        (
            {"rule": "l_diversity", "l": 2, "variant": "recursive"},
            "c is needed for variant 'recursive' and for no other",
        ),
        ({"rule": "l_diversity", "l": 2, "c": 3}, "c is needed for variant 'recursive' and for no other"),
        ({"rule": "l_diversity", "l": 2.5, "variant": "recursive", "c": 3}, "must be a whole number; got 2.5"),
        ({"rule": "l_diversity", "l": 2, "variant": "recursive", "c": 0}, "c: must be greater than 0"),
        ({"rule": "t_closeness", "t": 0.2, "ground_distance": "far"}, "'hierarchical'"),
        ({"rule": "t_closeness", "t": 0}, "t: must be greater than 0"),
        ({"rule": "t_closeness", "t": 20}, "less than 1; got 20. Is it a percentage? Use 0.2."),
        ({"rule": "sample_uniques_share", "at_most": 5}, "Is it a percentage? Use 0.05."),
        ({"rule": "minimum_frequency", "n": 1}, "n: must be at least 2"),
        ({"rule": "dominance", "n": 1, "k": 0.75}, "Is it a share? Use 75."),
        ({"rule": "dominance", "n": 0, "k": 75}, "n: must be at least 1"),
        ({"rule": "p_percent", "p": 0.1}, "a percentage from 1 to 100; got 0.1. Is it a share? Use 10."),
        ({"rule": "p_percent", "p": 101}, "a percentage from 1 to 100; got 101."),
    ],
)
def test_a_threshold_out_of_bounds_is_refused(rule: dict[str, Any], said: str) -> None:
    assert said in refusal(**rule)


@pytest.mark.parametrize("rule", [*MICRODATA, *TABLE], ids=lambda rule: rule.rule)
def test_every_rule_describes_itself_and_survives_a_round_trip(rule: Rule) -> None:
    assert rule.describe().endswith(".")
    assert TypeAdapter(PolicyRule).validate_python(rule.model_dump(mode="json")) == rule
