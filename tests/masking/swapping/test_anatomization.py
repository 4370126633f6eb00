"""Anatomization."""

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.swapping.anatomization import Anatomization, anatomized_tables, l_diverse_groups
from tests.golden import golden

DISEASES = ("bronchitis", "dyspepsia", "flu", "gastritis", "pneumonia")
VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER),
    "sex": Variable(name="sex", kind=Kind.BINARY, role=Role.QUASI_IDENTIFIER, categories=("F", "M")),
    "disease": Variable(name="disease", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=DISEASES, nullable=True),
    "stage": Variable(name="stage", kind=Kind.CONTINUOUS, role=Role.SENSITIVE, nullable=True),
}


def patients() -> pd.DataFrame:
    """Xiao and Tao, VLDB 2006, Table 1, without the zip codes; the group as in their Table 3."""
    diseases = ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"]
    return pd.DataFrame(
        {
            "age": pd.array([23, 27, 35, 59, 61, 65, 65, 70], dtype="Int64"),
            "sex": pd.Categorical(list("MMMMFFFF"), categories=["F", "M"]),
            "disease": pd.Categorical(diseases, categories=list(DISEASES)),
            "group": pd.array([1, 1, 1, 1, 2, 2, 2, 2], dtype="Int64"),
        }
    )


def clinic(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    return pd.DataFrame(
        {
            "age": pd.array(rng.integers(0, 90, n), dtype="Int64"),
            "sex": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=["F", "M"]),
            "disease": pd.Categorical.from_codes(np.arange(n) % 6 - 1, categories=list(DISEASES)),
            "stage": rng.choice([1.0, 2.0, np.nan], n),
        }
    ).set_axis([5] * n)


def test_the_anatomized_tables_of_the_paper() -> None:
    """Xiao and Tao 2006, Table 3: the quasi-identifier table and the sensitive table of their 2-diverse groups."""
    identifying, sensitive = anatomized_tables(patients(), ["disease"], "group")
    assert identifying.columns.to_list() == ["age", "sex", "group"]
    assert list(sensitive.itertuples(index=False, name=None)) == [
        (1, "dyspepsia", 2),
        (1, "pneumonia", 2),
        (2, "bronchitis", 1),
        (2, "flu", 2),
        (2, "gastritis", 1),
    ]


@given(sizes=st.lists(st.integers(1, 12), min_size=1, max_size=25), l=st.integers(2, 8), seed=st.integers(0, 10_000))
def test_groups_have_at_least_l_different_values(sizes: list[int], l: int, seed: int) -> None:  # noqa: E741
    rng = np.random.default_rng(seed)
    values = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(values)
    if max(sizes) * l > n:
        l = max(2, n // max(sizes))  # noqa: E741
        if max(sizes) * l > n:
            return
    groups = l_diverse_groups(values, l, rng)
    members = np.bincount(groups)
    assert len(members) == n // l
    assert members.min() >= l
    assert (members - l).sum() <= l - 1  # what is left over
    assert len(set(zip(groups.tolist(), values.tolist(), strict=True))) == n  # all values of a group are different


def test_the_most_frequent_values_are_taken_first() -> None:
    """Three values of 4, 2 and 2 records, l = 2: every group must have the first value, or it is left over twice."""
    values = np.array([0, 1, 0, 2, 0, 1, 0, 2])
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(600):
        groups = l_diverse_groups(values, 2, rng)
        assert sorted(groups[values == 0]) == [0, 1, 2, 3]
        seen[int(groups[0])] += 1
    assert chisquare([seen[group] for group in range(4)]).pvalue > 1e-3  # numbered at random


def test_any_member_of_a_group_may_have_any_of_its_values() -> None:
    frame = clinic(6).drop(columns="stage")
    variables = {name: VARIABLES[name] for name in frame}
    rng = np.random.default_rng(1)
    step = Anatomization(columns=("disease",), l=6)
    taken = Counter(str(step.mask(frame, variables, rng)["disease"].iloc[0]) for _ in range(240))
    assert len(taken) == 6
    assert chisquare(list(taken.values())).pvalue > 1e-3


def test_the_two_tables_are_the_file_without_its_order() -> None:
    frame = clinic()
    masked = Anatomization(columns=("disease", "stage"), l=3).mask(frame, VARIABLES, np.random.default_rng(1))
    identifying, sensitive = anatomized_tables(masked, ["disease", "stage"], "group")
    assert identifying.equals(masked[["age", "sex", "group"]])
    assert sensitive["count"].sum() == len(frame)
    told = Counter(map(str, masked[["group", "disease", "stage"]].itertuples(index=False, name=None)))
    assert told == {str(row[:-1]): row[-1] for row in sensitive.itertuples(index=False, name=None)}


def test_two_tables_need_a_column_for_the_counts() -> None:
    with golden.raises(PlanError):
        anatomized_tables(patients().rename(columns={"disease": "count"}), ["count"], "group")
