"""km-anonymity as a rule: the m-item attack on a file as it reads, whatever masked it."""

import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.km_anonymity import KmAnonymity, unjudged_sets
from sluice.risk.classes.l_diversity import LDiversity
from tests.golden import golden
from tests.items.set_columns import column_of, variable

BASKET = {"basket": variable()}
SEX = {"sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m"), role=Role.QUASI_IDENTIFIER)}


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
