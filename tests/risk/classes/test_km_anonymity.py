"""Those whom a few known items fit, against an intruder who looks at every record; as a rule, whatever masked it."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.items.item_sets import ItemSets
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.km_anonymity import KmAnonymity, side_by_side, smallest_crowds, united, unjudged_sets
from sluice.risk.classes.l_diversity import LDiversity
from tests.golden import golden
from tests.items.brute_force import crowds
from tests.items.set_columns import NAMES, ROWS, baskets, column_of, variable

BASKET = {"basket": variable()}
SEX = {"sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m"), role=Role.QUASI_IDENTIFIER)}


def known(sets: list[frozenset[str]]) -> ItemSets:
    return ItemSets.of(column_of(sets), ";")


def test_the_running_example_of_the_source() -> None:
    """Terrovitis, Mamoulis and Kalnis (2008), section 3: generalising a1 and a2 to A makes it 2^2-anonymous."""
    before = ["a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2"]
    after = ["A b1 b2", "A b1", "A b1 b2", "A b2"]
    assert smallest_crowds(known([frozenset(each.split()) for each in before]), 2).min() == 1
    assert smallest_crowds(known([frozenset(each.split()) for each in after]), 2).min() == 2


@given(baskets(NAMES), st.integers(1, 4), st.data())
def test_every_record_has_the_crowd_that_a_search_of_all_records_finds(
    sets: list[frozenset[str]], m: int, data: st.DataObject
) -> None:
    """People with several records, in any order."""
    people = [data.draw(st.integers(0, 4)) for _ in sets]
    for whose in (None, people):
        found = smallest_crowds(known(sets), m, people=None if whose is None else np.array(whose, dtype=np.int64))
        assert found.tolist() == crowds(sets, m, people=whose)


@given(baskets(NAMES), st.integers(1, 3), st.data())
def test_what_is_known_beside_the_items_parts_the_records(
    sets: list[frozenset[str]], m: int, data: st.DataObject
) -> None:
    groups = [data.draw(st.integers(0, 2)) for _ in sets]
    found = smallest_crowds(known(sets), m, np.array(groups, dtype=np.int64))
    for group in set(groups):
        members = [record for record, each in enumerate(groups) if each == group]
        assert found[members].tolist() == crowds([sets[record] for record in members], m)


@given(baskets(NAMES), st.integers(1, 3))
def test_who_does_not_know_which_group_stands_for_an_item_finds_no_fewer(sets: list[frozenset[str]], m: int) -> None:
    """Items and groups of any level beside each other; a group then fits whatever it may stand for."""
    least = smallest_crowds(known(sets), m).min(initial=len(sets))
    assert min(crowds(sets, m, ROWS), default=len(sets)) >= least


def test_a_group_does_not_hide_an_item_that_is_released_as_such() -> None:
    """'fruit' may stand for apples by the hierarchy, and does not where apples are given as apples."""
    sets = [frozenset({"apple"}), *[frozenset({"fruit"})] * 9]
    assert crowds(sets, 1, ROWS)[0] == 10
    assert smallest_crowds(known(sets), 1).tolist() == [1] + [9] * 9


@given(baskets(NAMES, least=1))
def test_more_knowledge_never_finds_more_people(sets: list[frozenset[str]]) -> None:
    by_m = [smallest_crowds(known(sets), m) for m in (1, 2, 3, 4)]
    assert all((more <= fewer).all() for fewer, more in pairwise(by_m))


def test_sets_of_two_variables_are_known_together() -> None:
    one = [frozenset("ab"), frozenset("a"), frozenset("b")]
    other = [frozenset("x"), frozenset("x"), frozenset("x")]
    both = side_by_side([known(one), known(other)])
    together = [frozenset({*a, *(f"other {each}" for each in b)}) for a, b in zip(one, other, strict=True)]
    assert smallest_crowds(both, 3).tolist() == crowds(together, 3)
    assert smallest_crowds(both, 3).tolist() == [1, 2, 2]


def test_records_that_are_read_together_have_one_set() -> None:
    sets = known([frozenset("a"), frozenset("b"), frozenset("ab")])
    assert united(sets, np.array([0, 0, 1])).sizes.tolist() == [2, 2]


def test_sets_without_items_are_a_crowd_of_all() -> None:
    assert smallest_crowds(known([frozenset()] * 5), 2).tolist() == [5] * 5
    assert len(smallest_crowds(known([]), 2)) == 0


def test_more_known_items_than_can_be_counted_are_refused() -> None:
    golden.refused(DataError, smallest_crowds, known([frozenset({"soap"})]), 5)


def test_real_baskets_have_the_crowds_that_a_search_finds(reference_data: Path) -> None:
    lines = (reference_data / "groceries" / "groceries.csv").read_text().splitlines()[:300]
    sets = [frozenset(item.strip() for item in line.split(",")) for line in lines]
    assert smallest_crowds(known(sets), 2).tolist() == crowds(sets, 2)


def basket_file(sets: list[set[str]] | list[frozenset[str]], **columns: list[str]) -> pd.DataFrame:
    others = {name: pd.Series(pd.Categorical(values)) for name, values in columns.items()}
    return pd.DataFrame({"basket": column_of(sets), **others})


def found(rule: KmAnonymity, frame: pd.DataFrame, variables: dict[str, Variable], unit: str = "people") -> Finding:
    (finding,) = rule.find(frame, variables, "masked", unit)
    return finding


def test_quasi_identifiers_are_known_beside_the_items_unless_the_policy_says_otherwise() -> None:
    frame = basket_file([{"apple"}, {"apple"}, {"beer"}, {"beer"}], sex=["f", "m", "m", "m"])
    assert found(KmAnonymity(k=2), frame, SEX | BASKET).observed == 1
    assert found(KmAnonymity(k=2, known=()), frame, SEX | BASKET).observed == 2
    assert found(KmAnonymity(k=2, known=("sex",)), frame, BASKET | SEX).scope == "basket, sex"


def test_sets_of_one_household_are_read_together_where_it_is_released() -> None:
    """Each pair is that of two records, and only one household has bought all three."""
    household = {"household": Variable(name="household", kind=Kind.TEXT, role=Role.HOUSEHOLD)}
    sets = [{"apple", "beer"}, {"pear", "soap"}, {"apple", "beer"}, {"pear", "soap"}]
    frame = basket_file(sets).assign(household=["1", "1", "2", "3"])
    assert found(KmAnonymity(k=2), frame[["basket"]], BASKET).observed == 2
    joined = found(KmAnonymity(k=2), frame, BASKET | household)
    assert joined.observed == 1
    golden.words(joined.says)
    apart = found(KmAnonymity(k=2), frame.assign(household=["1", "2", "3", "4"]), BASKET | household)
    assert apart.observed == 2


def test_a_file_of_equal_sets_passes_and_one_without_sets_is_unknown() -> None:
    assert found(KmAnonymity(k=5, m=4), basket_file([{"apple", "beer", "soap"}] * 5), BASKET).verdict is Verdict.PASS
    none = found(KmAnonymity(k=2), basket_file([{"apple"}], sex=["f"])[["sex"]], SEX)
    assert none.verdict is Verdict.UNKNOWN
    golden.words(none.says)
    empty = found(KmAnonymity(k=2), basket_file([{"apple"}])[:0], BASKET)
    assert empty.verdict is Verdict.UNKNOWN


def test_only_sets_of_items_are_looked_at() -> None:
    with golden.raises(DataError):
        found(KmAnonymity(k=2, columns=("sex",)), basket_file([{"apple"}], sex=["f"]), BASKET | SEX)


def test_sets_of_which_no_rule_asks_are_unknown() -> None:
    """Rules on other columns, or on whole sets, leave single items unjudged."""
    (finding,) = unjudged_sets([KAnonymity(k=5)], BASKET | SEX)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.scope == "basket"
    assert unjudged_sets([KmAnonymity(k=2)], BASKET) == []
    assert unjudged_sets([KAnonymity(k=5)], SEX) == []
    two = BASKET | {"places": variable("places")}
    (finding,) = unjudged_sets([KmAnonymity(k=2, columns=("basket",))], two)
    assert finding.scope == "places"


def test_rules_on_sensitive_values_do_not_take_different_sets_for_different_secrets() -> None:
    """All of a group take the same drug, each beside something else: as values they would be diverse."""
    drugs = {"drugs": variable("drugs", None, Role.SENSITIVE)}
    frame = pd.DataFrame({"sex": pd.Categorical(["f"] * 3), "drugs": column_of([{"x", "a"}, {"x", "b"}, {"x", "c"}])})
    (finding,) = LDiversity(l=2).find(frame, SEX | drugs, "masked")
    assert finding.verdict is Verdict.UNKNOWN
