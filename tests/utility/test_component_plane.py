"""Original and masked records on the original's first two principal components."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.component_plane import CELLS, ComponentPlane, component_plane

NAMES = ("a", "b", "c")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.OTHER) for name in NAMES}


def records(n: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    return pd.DataFrame({"a": shared, "b": shared + 0.3 * rng.normal(size=n), "c": rng.normal(size=n)})


def plane(original: pd.DataFrame, masked: pd.DataFrame, minimum: int = 5) -> ComponentPlane:
    found = component_plane(original, original, masked, VARIABLES, VARIABLES, minimum)
    assert found is not None
    return found


def total(grid: tuple[tuple[float | None, ...], ...]) -> float:
    return sum(share or 0.0 for row in grid for share in row)


def test_the_axes_are_those_of_an_eigenvalue_decomposition() -> None:
    # Independent: numpy's singular values of the standardised columns, which the coding's robust scale leaves in order.
    original = records(4_000)
    found = plane(original, original)
    scale = original.apply(lambda column: 1.4826 * (column - column.median()).abs().median())
    values = np.linalg.svd(((original - original.mean()) / scale).to_numpy(), compute_uv=False) ** 2
    assert found.explained == pytest.approx(tuple(values[:2] / values.sum()), abs=0.005)
    assert set(found.leading[0]) == {"a", "b"}
    assert found.leading[1] == ("c",)


def test_a_file_lies_upon_itself_and_a_shuffled_one_does_not() -> None:
    original = records(4_000)
    same = plane(original, original)
    assert same.before == same.after
    assert same.overlap == pytest.approx(1)
    shuffled = original.apply(lambda column: column.sample(frac=1, random_state=len(column.name)).to_numpy())
    assert plane(original, shuffled.assign(b=-original["b"])).overlap < 0.85


@given(st.integers(40, 600), st.integers(3, 15), st.integers(0, 99))
def test_no_cell_of_few_records_shows_or_is_left_over(n: int, minimum: int, seed: int) -> None:
    original, masked = records(n, seed), records(n + 7, seed + 1)
    found = component_plane(original, original, masked, VARIABLES, VARIABLES, minimum)
    if found is None:
        return
    for grid, size in ((found.before, n), (found.after, n + 7)):
        shares = [share for row in grid for share in row]
        assert len(shares) == CELLS * CELLS
        counts = [share * size for share in shares if share is not None]
        assert all(count >= minimum - 1e-6 for count in counts)
        rest = size - sum(counts)
        assert rest < 1e-6 or (rest >= minimum - 1e-6 and shares.count(None) >= 2)
    assert [[share is None for share in row] for row in found.before] == [
        [share is None for share in row] for row in found.after
    ]
    assert 0 <= found.overlap <= 1 + 1e-9


def test_any_order_of_the_masked_records_gives_the_same() -> None:
    original, masked = records(500), records(500, 2)
    assert plane(original, masked) == plane(original, masked.sample(frac=1, random_state=3))


def test_there_is_none_of_too_little() -> None:
    original = records(400)
    one = {"a": VARIABLES["a"]}
    assert component_plane(original[["a"]], original[["a"]], original[["a"]], one, one, 5) is None
    assert component_plane(original[:8], original[:8], original[:8], VARIABLES, VARIABLES, 5) is None
    flat = original.assign(a=1.0, b=2.0, c=3.0)
    assert component_plane(flat, flat, flat, VARIABLES, VARIABLES, 5) is None
