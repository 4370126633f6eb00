"""Through which variables and categories a file breaks a rule, and what must not follow from what is said."""

import re

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from policies.rules.failing_categories import _failing, with_failing_categories
from sluice.ground.rule import Background, Rule
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.classes.microdata_rule import KeyedRecords, MissingMatches
from sluice.risk.classes.sample_uniques import SampleUniquesShare
from sluice.risk.people_of_records import groups_of_people
from tests.golden import golden

CELL = 5
AGE = Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER)
TOWN = Variable(name="town", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER)
ILLNESS = Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE)
PATIENT = Variable(name="patient", kind=Kind.NOMINAL, role=Role.PERSON)
HOUSE = Variable(name="house", kind=Kind.NOMINAL, role=Role.HOUSEHOLD)


def frame(**columns: list[object]) -> pd.DataFrame:
    kinds = {"age": "Int64"}
    return pd.DataFrame(
        {name: pd.Series(values, dtype=kinds.get(name, "category")) for name, values in columns.items()}
    )


def located(records: pd.DataFrame, *rules: Rule) -> list[Finding]:
    named = {each.name: each for each in (AGE, TOWN, ILLNESS, PATIENT, HOUSE)}
    variables = {name: named[name] for name in records}
    background = Background(minimum_cell=CELL)
    findings = [each for rule in rules for each in rule.find(records, variables, "masked", "people", background)]
    units = groups_of_people(records, variables)
    return with_failing_categories(findings, rules, records, variables, background, "people", units)


def test_the_variable_that_makes_records_rare_is_named() -> None:
    records = frame(age=[*range(20, 30), *[40] * 20], town=[*["hill"] * 10, *["vale"] * 20])
    (where,) = located(records, KAnonymity(k=3))[0].where
    golden(where)  # and of no single age are there as many records as may be told of


def test_a_category_is_named_where_more_of_its_records_are_rare_than_of_all() -> None:
    towns = [*"abcdefghij"]
    records = frame(age=[*[30] * 10, *[40] * 30], town=[*towns, *towns * 3])
    golden(located(records, KAnonymity(k=3))[0].where)


def test_of_two_rules_on_frequencies_the_wider_speaks_and_a_rule_that_holds_says_nothing() -> None:
    records = frame(age=[*range(20, 30), *[30, 31, 32, 33, 34] * 2, *[40] * 20], town=["hill"] * 40)
    alone, few, of_two = located(records, SampleUniquesShare(at_most=0), KAnonymity(k=3), KAnonymity(k=2))
    assert [bool(each.where) for each in (alone, few)] == [False, True]
    assert located(frame(age=[40] * 20, town=["hill"] * 20), KAnonymity(k=3))[0].where == ()
    assert of_two.verdict is Verdict.FAIL


def test_a_rule_on_sensitive_values_names_the_variable_that_keeps_groups_alike() -> None:
    ages = [age for age in range(20, 30) for _ in range(5)]
    records = frame(age=ages, town=["hill"] * 50, illness=[("flu", "gout")[age % 2] for age in ages])
    (found,) = located(records, LDiversity(l=2, near=0))
    golden(found.where[0])


def test_records_of_one_person_are_no_crowd() -> None:
    """The attacker knows who lives in a hamlet: eight records there are one patient's, and nothing is told of them."""
    ages = [*range(20, 28), *range(30, 38), *[60] * 60]
    records = frame(
        age=ages,
        town=[*["hamlet"] * 8, *["hill"] * 8, *["vale"] * 60],
        patient=["p0"] * 8 + [f"q{at}" for at in range(68)],
    )
    said = " ".join(located(records, KAnonymity(k=3))[0].where)
    assert said
    assert "hamlet" not in said


def test_a_large_household_is_no_crowd() -> None:
    """Eight people of one household share what nobody else has, such as a weight: naming it names them."""
    records = frame(
        age=[*range(20, 28), *range(30, 38), *[60] * 60],
        town=[*["farm"] * 8, *["hill"] * 8, *["vale"] * 60],
        house=["h0"] * 8 + [f"j{at}" for at in range(68)],
    )
    said = " ".join(located(records, KAnonymity(k=3))[0].where)
    assert said
    assert "farm" not in said


@given(st.lists(st.tuples(st.integers(20, 26), st.sampled_from("abcdefg")), min_size=1, max_size=60), st.integers(2, 6))
def test_no_sentence_tells_of_few_people_nor_lets_them_be_subtracted(people: list[tuple[int, str]], k: int) -> None:
    """The attacker subtracts what is said of the named categories from what is said of all."""
    records = frame(age=[age for age, _ in people], town=[f"town-{town}" for _, town in people])
    (found,) = located(records, KAnonymity(k=k))
    sizes = records.groupby(["age", "town"], observed=True)["age"].transform("size").to_numpy()
    failing = sizes < k
    for line in found.where:
        name = line.partition(":")[0]
        (left, total) = re.findall(r"without it, (none|[\d,]+|fewer than \d+) instead of ([\d,]+)", line)[0]
        assert int(total) == failing.sum() >= CELL
        if left.isdigit():
            assert int(left) >= CELL
            assert int(total) - int(left) >= CELL
        named = re.findall(r"'([^']+)' \((.+?) % of its (\d+) people\)", line)
        is_named = np.isin(records[name].astype(str), [category for category, _, _ in named])
        for category, share, of in named:
            members = records[name].astype(str).to_numpy() == category
            assert members.sum() == int(of) >= CELL
            assert (members & failing).sum() >= CELL
            assert (members & ~failing).sum() in (0, *range(CELL, 1000)) or share.startswith("over")
        if named:
            for others in (~is_named, ~is_named & failing):
                assert others.sum() == 0 or others.sum() >= CELL


kept = st.sampled_from(["a", "b", None])


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), kept, kept), min_size=1, max_size=30),
    st.sampled_from(["any", "category"]),
    st.booleans(),
)
def test_equal_records_looked_at_once_break_a_rule_as_each_of_them_does(
    rows: list[tuple[str, str, str | None, str | None]], missing_matches: MissingMatches, is_known: bool
) -> None:
    """Each record before suppression, and what of it was blanked: nothing, or a key."""
    before = frame(**{name: [row[at] for row in rows] for at, name in enumerate(("town", "illness"))})
    after = frame(**{
        name: [row[at] if row[2 + at] else None for row in rows] for at, name in enumerate(("town", "illness"))
    })  # fmt: skip
    variables = {"town": TOWN, "illness": ILLNESS.model_copy(update={"role": Role.QUASI_IDENTIFIER})}
    background = Background(original=before if is_known else None, minimum_cell=CELL)
    for rule in (KAnonymity(k=3, missing_matches=missing_matches), SampleUniquesShare(at_most=0)):
        look = _failing(rule, after, variables, ["town", "illness"], background)
        for keys in (["town", "illness"], ["town"], ["illness"]):
            np.testing.assert_array_equal(
                look(keys), rule.failing(KeyedRecords(after, variables, keys, background=background))
            )
