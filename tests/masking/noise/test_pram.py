"""PRAM."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.noise import pram_kernel
from sluice.masking.noise.pram import MISSING, Pram, randomised
from tests.golden import golden
from tests.masking.survey import drawn

# Benschop, Machingauta and Welch, "Statistical Disclosure Control: A Practice Guide" (IHSN), section "PRAM": the
# matrix of 'region', its counts, and those that are expected after PRAM.
REGIONS = ("capital", "rural1", "rural2")
GUIDE = np.array([[1, 0, 0], [0.05, 0.8, 0.15], [0.05, 0.15, 0.8]])
BEFORE, EXPECTED = [5000, 500, 400], [5045, 460, 395]

GUIDE_PLAN = {
    "region": {
        "capital": {"capital": 1},
        "rural1": {"capital": 0.05, "rural1": 0.8, "rural2": 0.15},
        "rural2": {"capital": 0.05, "rural1": 0.15, "rural2": 0.8},
    }
}
VARIABLES = {
    "region": Variable(name="region", kind=Kind.NOMINAL, categories=REGIONS),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("1", "2", "3", "4"), nullable=True),
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "free": Variable(name="free", kind=Kind.NOMINAL),
}


def regions(counts: list[int]) -> pd.DataFrame:
    codes = np.repeat(np.arange(3), counts)
    return pd.DataFrame({"region": pd.Categorical.from_codes(codes, categories=list(REGIONS))})


def survey(n: int = 400) -> pd.DataFrame:
    return drawn(VARIABLES, n, n, 0.2)


def markov(k: int, rng: np.random.Generator, zeros: float = 0.3) -> np.ndarray:
    """A random Markov matrix with structural zeros off its diagonal."""
    weights = rng.random((k, k)) * (rng.random((k, k)) >= zeros) + np.eye(k)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def test_the_expected_counts_of_the_practice_guide() -> None:
    assert np.array(BEFORE) @ GUIDE == pytest.approx(EXPECTED)
    step = Pram(columns=("region",), matrix=GUIDE_PLAN)
    rng = np.random.default_rng(0)
    masked = [step.mask(regions(BEFORE), VARIABLES, rng)["region"].value_counts(sort=False) for _ in range(200)]
    # A count has a standard deviation of at most sqrt(900 / 4) = 15, its mean of 200 of about 1.
    assert np.mean(masked, axis=0) == pytest.approx(EXPECTED, abs=4)


def test_values_go_where_their_row_says() -> None:
    rng = np.random.default_rng(1)
    matrix = markov(40, rng)
    for row in range(0, 40, 8):
        drawn = np.bincount(randomised(np.full(10_000, row), matrix, rng), minlength=40)
        possible = matrix[row] > 0
        assert drawn[~possible].sum() == 0
        assert chisquare(drawn[possible], 10_000 * matrix[row, possible]).pvalue > 1e-3


@given(k=st.integers(1, 300), n=st.integers(0, 200), seed=st.integers(0, 10_000))
def test_a_structural_zero_is_never_drawn(k: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = markov(k, rng, zeros=0.8)
    codes = rng.integers(-1, k, n)
    drawn = randomised(codes, matrix, rng)
    assert ((drawn < 0) == (codes < 0)).all()
    assert (matrix[codes[codes >= 0], drawn[codes >= 0]] > 0).all()


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(0.1, 0), 0.1, 0.5, np.nextafter(0.5, 1), np.nextafter(1.0, 0)])
def test_a_structural_zero_is_not_drawn_at_rounding_edges(uniform: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times 0.1 adds up to less than 1; the zeros before, between and behind must not get the rest."""
    monkeypatch.setattr(pram_kernel, "drawn_categories", pram_kernel.drawn_categories.py_func)

    class Fixed:
        random: Callable[[], float] = staticmethod(lambda: uniform)

    matrix = np.eye(14)
    matrix[0] = [0, *[0.1] * 5, 0, 0, *[0.1] * 5, 0]
    drawn = randomised(np.zeros(1, dtype=np.int64), matrix, Fixed())  # type: ignore[arg-type]
    assert matrix[0, drawn[0]] > 0


def test_all_or_nothing_is_kept() -> None:
    frame, rng = survey(), np.random.default_rng(0)
    same = Pram(columns=("region", "size"), retention=1).mask(frame, VARIABLES, rng)
    assert same.equals(frame)
    flipped = Pram(columns=("sex",), retention=0).mask(frame, VARIABLES, rng)
    assert (flipped["sex"].to_numpy() != frame["sex"].to_numpy()).all()


def test_missing_as_a_category() -> None:
    frame = survey(4000)
    step = Pram(columns=("size",), retention=0.5, missing_as_category=True)
    assert step.released(VARIABLES)["size"].nullable
    masked = step.mask(frame, VARIABLES, np.random.default_rng(1))["size"]
    was, now = frame["size"].isna().to_numpy(), masked.isna().to_numpy()
    assert (was & now).sum() / was.sum() == pytest.approx(0.5, abs=0.06)
    assert (~was & now).sum() / (~was).sum() == pytest.approx(0.5 / 4, abs=0.04)
    step = Pram(
        columns=("free",),
        missing_as_category=True,
        matrix={"free": {"a": {MISSING: 1}, "b": {"b": 1}, MISSING: {"a": 1}}},
    )
    frame = pd.DataFrame({"free": pd.Categorical(["a", "b", None], categories=["a", "b"])})
    masked = step.mask(frame, VARIABLES, np.random.default_rng(1))["free"]
    assert masked.astype(object).where(masked.notna(), None).to_list() == [None, "b", "a"]


def test_the_fitted_step_says_its_matrix_and_masks_the_same() -> None:
    frame = survey()
    step = Pram(
        columns=("region", "size"), retention=0.7, spread="proportional", invariant=True, missing_as_category=True
    )
    (fitted,) = step.fit(frame, VARIABLES)
    assert step.parameters() == {}
    assert isinstance(fitted, Pram)
    assert fitted.matrix is not None
    matrix = json.loads(json.dumps(fitted.matrix))
    again = Pram(columns=("region", "size"), matrix=matrix, missing_as_category=True)
    assert again.matrix == fitted.matrix
    for name, labels in (("region", [*REGIONS, MISSING]), ("size", [*"1234", MISSING])):
        values = frame[name].astype(object).where(frame[name].notna(), MISSING)
        counts = np.array([(values == label).sum() for label in labels])
        rows = np.array([[matrix[name][label].get(other, 0.0) for other in labels] for label in labels])
        assert counts @ rows == pytest.approx(counts.astype(float), abs=1e-9)
    first = step.mask(frame, VARIABLES, np.random.default_rng(3))
    assert again.mask(frame, VARIABLES, np.random.default_rng(3)).equals(first)


def test_an_analyst_is_told_a_chosen_matrix_in_full_and_one_read_off_the_data_rounded() -> None:
    frame = survey()
    (chosen,) = Pram(columns=("size",), retention=0.9).fit(frame, VARIABLES)
    published = chosen.parameters()["matrix"]["size"]
    assert published["1"] == pytest.approx({"1": 0.9, "2": 0.1 / 3, "3": 0.1 / 3, "4": 0.1 / 3}, abs=1e-15)
    (read_off,) = Pram(columns=("size",), retention=0.9, invariant=True).fit(frame, VARIABLES)
    assert isinstance(read_off, Pram)
    assert read_off.matrix is not None
    rounded = read_off.parameters()
    digits = {100: 1, 1_000: 2, 10_000: 3}[10 ** (len(str(frame["size"].count())) - 1)]
    assert rounded["rounded_to"] == pytest.approx(0.1**digits, abs=1e-12)
    for label, row in rounded["matrix"]["size"].items():
        exact = read_off.matrix["size"][label]
        assert sum(row.values()) == pytest.approx(1, abs=1e-12)
        assert all(round(share, digits) == share > 0 for share in row.values())
        assert all(abs(row.get(other, 0) - share) < 0.1**digits for other, share in exact.items())
        assert row != exact


@pytest.mark.parametrize(("records", "published"), [(60, False), (400, True), (4_000, True), (40_000, True)])
@pytest.mark.parametrize("kind", [{"invariant": True}, {"spread": "proportional"}])
def test_no_small_count_can_be_read_from_a_published_matrix(
    kind: dict[str, Any], records: int, published: bool
) -> None:
    """Whether one, two or none of the records has a rare category, no other category's row names it."""
    matrices = []
    for rare in (0, 1, 2):
        labels = ["rare"] * rare + ["a", "b"] * ((records - rare) // 2) + ["a"] * (rare % 2)
        frame = pd.DataFrame({"region": pd.Categorical(labels, ["a", "b", "rare"])})
        variables = {"region": Variable(name="region", kind=Kind.NOMINAL, categories=("a", "b", "rare"))}
        (fitted,) = Pram(columns=("region",), retention=0.7, **kind).fit(frame, variables)
        matrices.append(fitted.parameters())
    assert bool(matrices[0]) is published
    if published:
        rows = [matrix["matrix"]["region"][label] for matrix in matrices for label in ("a", "b")]
        assert all("rare" not in row for row in rows)


def test_labels_may_be_written_as_numbers() -> None:
    plan = {"size": {1: {1: 0.5, 2: 0.5}, 2: {2: 1}, 3: {3: 1}, 4: {4: 1}}}
    step = Pram.model_validate({"columns": ["size"], "matrix": plan})
    assert step.released(VARIABLES)
    assert step.matrix is not None
    assert step.matrix["size"]["1"] == {"1": 0.5, "2": 0.5}


def test_refusals() -> None:
    undeclared = Pram(columns=("free",), matrix={"free": {"a": {"a": 1}}})
    assert undeclared.released(VARIABLES)
    named = pd.DataFrame({"free": pd.Categorical([MISSING, "a"])})
    as_category = Pram(columns=("free",), retention=0.9, missing_as_category=True)
    for step, frame in ((undeclared, survey()), (as_category, named)):
        with golden.raises(PlanError):
            step.mask(frame, VARIABLES, np.random.default_rng(0))


def test_where_nothing_is_known_nothing_is_drawn() -> None:
    nothing = np.full(3, -1, dtype=np.int8)
    assert randomised(nothing, np.empty((0, 0)), np.random.default_rng(1)).tolist() == [-1, -1, -1]


def test_of_many_categories_no_label_is_looked_for_among_all_others() -> None:
    """The matrix is read by a dictionary: a search of a list of labels compared 10^9 of them."""
    compared = 0

    class Label(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    labels = [Label(f"o{n}") for n in range(100)]
    matrix = {each: dict.fromkeys(labels, 0.01) for each in labels}
    step = Pram(columns=("a",), matrix={"a": matrix})
    variables = {"a": Variable(name="a", kind=Kind.NOMINAL, categories=tuple(map(str, labels)))}
    frame = pd.DataFrame({"a": pd.Categorical(list(map(str, labels)))})
    masked = step.mask(frame, variables, np.random.default_rng(1))
    assert set(masked["a"]) <= set(labels)
    assert 0 < compared < 10 * len(labels) ** 2


def test_a_coarser_guide_draws_the_same_categories() -> None:
    matrix = np.random.default_rng(2).random((300, 300))
    matrix[matrix < 0.3] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    codes = np.random.default_rng(3).integers(-1, 300, 400)
    sums = np.cumsum(matrix, axis=1)
    sums /= sums[:, -1:]
    rng = np.random.default_rng(4)
    searched = [code if code < 0 else np.searchsorted(sums[code], rng.random(), side="right") for code in codes]
    assert randomised(codes, matrix, np.random.default_rng(4)).tolist() == searched
