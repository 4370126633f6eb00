import numpy as np
import pandas as pd
import pytest

from sluice.risk.linkage.repeated_variables import repeated_variables

N = 400


def measured(*names: str, together: bool = True) -> pd.DataFrame:
    """Numbers of the same people, which go together or not."""
    rng = np.random.default_rng(3)
    level = rng.normal(size=N) if together else np.zeros(N)
    return pd.DataFrame({name: level + 0.5 * rng.normal(size=N) for name in names})


def test_years_of_one_variable_count_as_one() -> None:
    frame = measured("income_2019", "age", "income_2020", "rent_2020", "income_2021")
    assert repeated_variables(list(frame), frame) == ((0, 2, 4), (1,), (3,))


def test_the_number_may_stand_anywhere() -> None:
    frame = measured("w1_score2", "w2_score2", "w1_score3")
    assert repeated_variables(list(frame), frame) == ((0, 1, 2),)


def test_items_that_do_not_go_together_are_variables_of_their_own() -> None:
    frame = measured("q1", "q2", "q3", together=False)
    assert repeated_variables(list(frame), frame) == ((0,), (1,), (2,))


@pytest.mark.parametrize(("kept", "expected"), [(0.9, ((0, 1),)), (0.2, ((0,), (1,)))])
def test_answers_count_as_one_where_most_people_repeat_them(kept: float, expected: object) -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, N)
    second = np.where(rng.random(N) < kept, first, rng.integers(0, 3, N))
    labels = np.array(["good", "fair", "poor"])
    frame = pd.DataFrame({"health_1": labels[first], "health_2": labels[second]}).astype("category")
    assert repeated_variables(list(frame), frame) == expected


def test_what_is_no_column_and_what_never_varies_is_by_itself() -> None:
    frame = pd.DataFrame({"paid_1": np.ones(N), "paid_2": np.ones(N), "paid_3": [*np.arange(9.0), *[np.nan] * (N - 9)]})
    names = [*frame, "paid_1 (last digits)"]
    assert repeated_variables(names, frame) == ((0,), (1,), (2,), (3,))
