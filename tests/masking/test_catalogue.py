"""The examples in the catalogue of methods: each is read from the text, masks a survey and keeps its promise."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
import pandas as pd
import pytest
import yaml
from pydantic import Field, TypeAdapter

from sluice.generalization.hierarchy import Hierarchy
from sluice.masking import Step
from sluice.masking.catalogue import catalogue, methods
from sluice.masking.plan import apply_plan
from sluice.masking.step import MaskingStep
from sluice.risk.transparency.attack import NoAttack
from sluice.variables import Kind, Role, Variable
from tests.items.brute_force import crowds, read
from tests.items.set_columns import column_of

REGIONS = ("east", "north", "south", "west")
LEVELS = ("school", "college", "degree")
PURCHASES = {"drinks": ("beer", "tea", "wine"), "food": ("bread", "cheese", "fish", "rice")}
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="household", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
        Variable(name="name", kind=Kind.TEXT, role=Role.IDENTIFIER),
        Variable(name="age", kind=Kind.INTEGER, minimum=18, maximum=90),
        Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
        Variable(name="region", kind=Kind.NOMINAL, categories=REGIONS),
        Variable(name="education", kind=Kind.ORDINAL, categories=LEVELS),
        Variable(name="illness", kind=Kind.NOMINAL, categories=("asthma", "flu", "gout", "none"), role=Role.SENSITIVE),
        Variable(name="income", kind=Kind.CONTINUOUS, minimum=0),
        Variable(name="rent", kind=Kind.CONTINUOUS, minimum=0),
        Variable(name="hours", kind=Kind.CONTINUOUS),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT, minimum=0),
        Variable(
            name="purchases",
            kind=Kind.ITEMS,
            hierarchy=Hierarchy(rows={item: (group,) for group, items in PURCHASES.items() for item in items}),
        ),
    )
}
DTYPES = {
    Kind.CONTINUOUS: "float64",
    Kind.INTEGER: "Int64",
    Kind.TEXT: "str",
    **dict.fromkeys((Kind.ORDINAL, Kind.NOMINAL, Kind.BINARY, Kind.ITEMS), "category"),
}


def _basket(rng: np.random.Generator) -> list[str]:
    """One to three items, some of them seldom."""
    items = [item for group in PURCHASES.values() for item in group]
    return list(rng.choice(items, rng.integers(1, 4), p=np.array([9, 6, 1, 9, 6, 4, 1]) / 36, replace=False))


def survey(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    skill = rng.normal(size=n)

    def drawn(name: str) -> pd.Categorical:
        variable = VARIABLES[name]
        labels = list(variable.categories or ())
        return pd.Categorical(rng.choice(labels, n), categories=labels, ordered=variable.kind is Kind.ORDINAL)

    people = pd.DataFrame(
        {
            "household": pd.array(np.arange(n) // 2, dtype="Int64"),
            "name": pd.Series([f"person {row}" for row in range(n)], dtype="str"),
            "age": pd.array(rng.integers(18, 91, n), dtype="Int64"),
            **{name: drawn(name) for name in ("sex", "region", "education", "illness")},
            "income": np.exp(9.5 + 0.5 * skill).round(2),
            "rent": (500 + 200 * np.abs(skill + rng.normal(size=n))).round(2),
            "hours": (38 + 4 * skill + rng.normal(size=n)).round(1),
            "weight": rng.uniform(1, 9, n).round(2),
            "purchases": column_of(_basket(rng) for _ in range(n)),
        }
    )
    return people.assign(region=people["region"].take(people["household"] * 2).set_axis(people.index))


def in_groups_of(k: int, *columns: str) -> Callable[[pd.DataFrame, pd.DataFrame], None]:
    def check(original: pd.DataFrame, masked: pd.DataFrame) -> None:
        assert masked.groupby(list(columns), observed=True, dropna=False).size().min() >= k

    return check


def same_values(*columns: str) -> Callable[[pd.DataFrame, pd.DataFrame], None]:
    def check(original: pd.DataFrame, masked: pd.DataFrame) -> None:
        for name in columns:
            assert sorted(masked[name]) == sorted(original[name])

    return check


def same_moments(*columns: str) -> Callable[[pd.DataFrame, pd.DataFrame], None]:
    def check(original: pd.DataFrame, masked: pd.DataFrame) -> None:
        pd.testing.assert_series_equal(masked[list(columns)].mean(), original[list(columns)].mean())
        pd.testing.assert_frame_equal(masked[list(columns)].cov(), original[list(columns)].cov())

    return check


def near(share: float, *columns: str) -> Callable[[pd.DataFrame, pd.DataFrame], None]:
    """Means and deviations stay, but for this share of the standard deviation."""

    def check(original: pd.DataFrame, masked: pd.DataFrame) -> None:
        for name in columns:
            before, after = original[name].astype(float), masked[name].astype(float)
            assert abs(before.mean() - after.mean()) < share * before.std()
            assert abs(before.std() - after.std()) < share * before.std()

    return check


def anatomized(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    assert masked.groupby("group")["illness"].nunique().min() >= 3
    same_values("illness")(original, masked)


def swapped_areas(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    same_values("region")(original, masked)
    moved = masked["region"].astype(str) != original["region"].astype(str)
    assert (moved.groupby(original["region"], observed=True).mean() >= 0.1 - 1e-9).all()


def sampled(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    assert len(masked) == 0.8 * len(original)
    assert masked.groupby("household").size().eq(2).all()
    assert masked["weight"].sum() == pytest.approx(original["weight"].sum())


def coded_above(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    coded = original["income"] > original["income"].quantile(0.95)
    assert masked["income"][coded].std() == 0
    assert masked["income"].sum() == pytest.approx(original["income"].sum())


def multiples_of(base: int, column: str) -> Callable[[pd.DataFrame, pd.DataFrame], None]:
    def check(original: pd.DataFrame, masked: pd.DataFrame) -> None:
        assert (masked[column] % base == 0).all()
        assert (masked[column] - original[column]).abs().max() < base

    return check


def shuffled_within_regions(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    pairs = ["income", "rent"]
    for region in REGIONS:
        before, after = (frame.loc[original["region"] == region, pairs] for frame in (original, masked))
        assert sorted(before.itertuples(index=False)) == sorted(after.itertuples(index=False))


def known_by(k: int, m: int) -> Callable[[pd.DataFrame, pd.DataFrame], None]:
    def check(original: pd.DataFrame, masked: pd.DataFrame) -> None:
        rows = {item: (group,) for group, items in PURCHASES.items() for item in items}
        assert min(crowds(read(original["purchases"]), m, rows)) < k <= min(crowds(read(masked["purchases"]), m, rows))

    return check


PROMISES: dict[str, Callable[[pd.DataFrame, pd.DataFrame], None]] = {
    "additive_noise": near(0.1, "income", "rent"),
    "anatomization": anatomized,
    "bottom_up_local_recoding": in_groups_of(5, "age", "sex", "region"),
    "data_distortion": near(0.3, "income"),
    "data_shuffling": same_values("income", "rent"),
    "data_swapping": swapped_areas,
    "generalization": in_groups_of(20, "sex", "region", "education"),
    "global_recoding": lambda original, masked: masked["age"].groupby(original["age"]).nunique().eq(1).all(),
    "ipso": near(0.1, "age", "hours"),
    "item_generalization": known_by(5, 2),
    "item_suppression": known_by(5, 2),
    "k_member_clustering": in_groups_of(5, "age", "sex", "region"),
    "k_nearest_clustering": in_groups_of(5, "age", "sex", "region"),
    "local_suppression": in_groups_of(3, "age", "sex", "region"),
    "lossy_compression": near(0.3, "income", "rent", "hours"),
    "matrix_decomposition": near(0.3, "income", "rent", "hours"),
    "microaggregation": in_groups_of(5, "income", "rent", "region"),
    "mondrian": in_groups_of(5, "age", "sex", "region"),
    "multiple_imputation": near(0.3, "income"),
    "one_pass_k_means": in_groups_of(5, "age", "sex", "region"),
    "permutation": shuffled_within_regions,
    "pram": lambda original, masked: set(masked["education"]) <= set(LEVELS),
    "projected_microaggregation": in_groups_of(5, "income", "rent"),
    "random_orthogonal_matrix": same_moments("income", "rent", "hours"),
    "random_rounding": multiples_of(50, "rent"),
    "rank_swapping": same_values("income", "rent"),
    "recursive_histogram_sanitization": in_groups_of(5, "income", "rent"),
    "removal": lambda original, masked: "name" not in masked,
    "resampling": near(0.3, "income"),
    "rounding": multiples_of(1000, "income"),
    "sampling": sampled,
    "sequential_trees": near(0.3, "age", "income", "hours"),
    "spectral_histogram_sanitization": in_groups_of(5, "income", "rent", "region"),
    "spectral_swapping": near(0.1, "rent", "age"),
    "top_bottom_coding": coded_above,
    "univariate_microaggregation": in_groups_of(5, "rent"),
}


def example(method: str) -> MaskingStep:
    """The step in the document, read as a plan of a release is."""
    section = catalogue().split(f"## `{method}`\n")[1].split("\n## ")[0]
    (step,) = yaml.safe_load(section.split("```yaml\n")[1].split("```")[0])
    return TypeAdapter(Annotated[Step, Field(discriminator="method")]).validate_python(step)


@pytest.mark.parametrize("method", sorted(methods()))
def test_the_example_runs_and_keeps_what_the_method_promises(method: str) -> None:
    step, original = example(method), survey()
    assert type(step) is methods()[method]
    masked, _ = apply_plan([step], original, VARIABLES, np.random.SeedSequence(11))
    released = step.released(VARIABLES)
    assert list(masked) == list(released)
    assert {name: str(dtype) for name, dtype in masked.dtypes.items()} == {
        name: DTYPES[variable.kind] for name, variable in released.items()
    }
    assert masked.index.isin(original.index).all() if step.is_sampling else masked.index.equals(original.index)
    blanks = ("local_suppression", "item_generalization", "item_suppression")
    suppressed = list(step.columns) if method in blanks else []
    assert masked.drop(columns=suppressed).notna().all(axis=None)
    others = [name for name in masked if name in original and not step.concerns(name)]
    pd.testing.assert_frame_equal(masked[others], original.loc[masked.index, others])
    assert not masked.equals(original)
    assert PROMISES[method](original, masked) in (None, True)


@pytest.mark.parametrize("method", sorted(methods()))
def test_every_method_declares_its_attack_or_why_there_is_none(method: str) -> None:
    attacks = example(method).attacks()
    assert attacks
    assert all(len(each.reason) > 20 if isinstance(each, NoAttack) else each.knows for each in attacks)


def test_every_method_has_an_example_and_a_promise() -> None:
    assert set(PROMISES) == set(methods())
    assert all(type(example(name)) is model for name, model in methods().items())
