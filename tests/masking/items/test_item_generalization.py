"""Item generalization: sets of any file are k^m-anonymous by an intruder's own search, and say the truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.items.item_generalization import ItemGeneralization
from sluice.masking.plan import apply_plan, apply_recodings
from tests.golden import golden
from tests.items.brute_force import crowds, read
from tests.items.set_columns import ROWS, baskets, column_of, variable

BASKET = {"basket": variable()}
SEED = np.random.SeedSequence(1)


def masked(step: ItemGeneralization, sets: list[frozenset[str]]) -> list[frozenset[str]]:
    frame, _ = apply_plan([step], pd.DataFrame({"basket": column_of(sets)}), BASKET, SEED)
    return read(frame["basket"])


def test_the_running_example_of_the_source() -> None:
    """Terrovitis, Mamoulis and Kalnis (2008), section 3: a1 and a2 become A, b1 and b2 stay; k = m = 2."""
    rows = {"a1": ("A", "all"), "a2": ("A", "all"), "b1": ("B", "all"), "b2": ("B", "all")}
    file = [frozenset(each.split()) for each in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")]
    step = ItemGeneralization(columns=("basket",), k=2, m=2, left_out=0)
    frame = pd.DataFrame({"basket": column_of(file)})
    out, (fitted,) = apply_plan([step], frame, {"basket": variable(hierarchy=Hierarchy(rows=rows))}, SEED)
    assert out["basket"].tolist() == ["A;b1;b2", "A;b1", "A;b1;b2", "A;b2"]
    assert isinstance(fitted, ItemGeneralization)
    assert fitted.released_items == ("A", "b1", "b2")


@pytest.mark.chain
@given(baskets(least=4, most=8), st.integers(2, 3), st.integers(1, 3))
def test_an_intruder_finds_k_people_and_nothing_false(sets: list[frozenset[str]], k: int, m: int) -> None:
    found = masked(ItemGeneralization(columns=("basket",), k=k, m=m), sets)
    assert min(crowds(found, m, ROWS)) >= k
    for before, after in zip(sets, found, strict=True):
        assert all(any(name in (item, *ROWS[item]) for item in before) for name in after)


def test_people_and_strata_are_minded() -> None:
    """Two purses of one person are one; what is frequent in the whole may be rare among the old."""
    sets = [frozenset({"apple"}), frozenset({"apple"}), frozenset({"pear"}), *[frozenset({"beer"})] * 4]
    frame = pd.DataFrame({"basket": column_of(sets), "person": pd.Series([1, 1, 2, 3, 4, 5, 6]).astype("str")})
    variables = BASKET | {"person": Variable(name="person", kind=Kind.TEXT, role=Role.PERSON)}
    step = ItemGeneralization(columns=("basket",), k=2, m=1)
    out, _ = apply_plan([step], frame, variables, SEED)
    assert out["basket"].tolist() == ["fruit"] * 3 + ["beer"] * 4
    age = pd.Series(pd.Categorical(["old"] * 2 + ["young"] * 5))
    by_age = frame[["basket"]].assign(age=age)
    with_age = BASKET | {"age": Variable(name="age", kind=Kind.NOMINAL, categories=("old", "young"))}
    out, _ = apply_plan([step.model_copy(update={"strata": ("age",)})], by_age, with_age, SEED)
    assert out["basket"].isna().tolist() == [False, False, True, False, False, False, False]


def test_the_found_groups_recode_another_file_alike() -> None:
    step = ItemGeneralization(columns=("basket",), k=2, m=1, left_out=0)
    frame = pd.DataFrame({"basket": column_of([{"apple"}, {"pear"}, {"beer"}, {"beer"}])})
    _, plan = apply_plan([step], frame, BASKET, SEED)
    others = pd.DataFrame({"basket": column_of([{"pear", "wine"}, set()])})
    assert read(apply_recodings(plan, others, BASKET)["basket"]) == [{"fruit", "wine"}, set()]


def test_groups_may_be_named() -> None:
    step = ItemGeneralization(columns=("basket",), k=2, released_items=("food", "beer"))
    assert masked(step, [frozenset({"apple", "beer", "wine"}), frozenset({"soap"})]) == [{"food", "beer"}, set()]


def test_without_a_hierarchy_rare_items_are_left_out() -> None:
    frame = pd.DataFrame({"basket": column_of([{"a", "b"}, {"a"}, {"a", "c"}])})
    plain = {"basket": variable(hierarchy=None)}
    out, _ = apply_plan([ItemGeneralization(columns=("basket",), k=2, m=2)], frame, plain, SEED)
    assert out["basket"].tolist() == ["a", "a", "a"]


def test_what_it_cannot_treat_is_refused() -> None:
    step = ItemGeneralization(columns=("basket",), k=3, left_out=0)
    with golden.raises(PlanError):
        masked(step, [frozenset({"soap"})] * 2)
    with golden.raises(PlanError) as refused:
        masked(step, [frozenset({"soap"}), frozenset({"apple"}), frozenset()])
    assert "soap" not in str(refused.value)
    with golden.raises(PlanError):
        masked(step, [frozenset({"fruit"})] * 3)


def test_of_a_list_that_somebody_gave_nothing_is_promised() -> None:
    sets = [frozenset({"apple"}), frozenset({"pear"})]
    step = ItemGeneralization(columns=("basket",), k=2, released_items=("apple", "pear"))
    assert masked(step, sets) == sets
    assert "at least" not in step.describe()
