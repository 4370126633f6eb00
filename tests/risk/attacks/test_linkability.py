"""Linkability, beside anonymeter and at its extremes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.risk.attacks.linkability import linkability, random_links
from tests.golden import golden
from tests.risk.attacks.adult_with_control import adult_with_control
from tests.typed_frame import typed_frame

A, B = ["age", "education_num", "race", "hours_per_week"], ["fnlwgt", "occupation", "sex", "relationship"]
C, D = ["age", "fnlwgt", "sex"], ["education_num", "hours_per_week", "occupation", "relationship"]


@pytest.mark.chain
@pytest.mark.parametrize(
    ("first", "second", "k", "main", "control"), [(A, B, 5, 849, 70), (C, D, 1, 447, 4), (C, D, 20, 1419, 787)]
)
def test_as_many_links_as_anonymeter_finds(
    reference_data: Path, first: list[str], second: list[str], k: int, main: int, control: int
) -> None:
    """anonymeter 1.1.0, LinkabilityEvaluator on the same 3,000 records each, all attacked. It scales by the range of
    both files and breaks ties by its sorting, so the counts may differ: by at most 30 of 3,000."""
    data, variables = adult_with_control(reference_data, 3000)
    found = linkability(*data, variables, first, second, k, 3000, np.random.default_rng(0))
    assert found.main.completed == found.control.completed == 3000
    assert found.main.successes == pytest.approx(main, abs=30)
    assert found.control.successes == pytest.approx(control, abs=30)
    assert found.informative
    assert found.risk().value == pytest.approx((main - control) / (3000 - control), abs=0.02)


def people(n: int, seed: int) -> tuple[pd.DataFrame, dict]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {f"x{j}": rng.normal(size=n) for j in range(2)}
        | {"sex": pd.Categorical(rng.choice(["f", "m"], n), categories=["f", "m"])}
    )
    frame["area"] = pd.Categorical(rng.choice(list("abcd"), n), categories=list("abcd"))
    return typed_frame(frame)


def test_the_original_itself_links_everybody_and_a_constant_file_nobody_in_particular() -> None:
    (original, variables), (control, _) = people(200, 1), people(200, 2)
    verbatim = linkability(original, original, control, variables, ["x0"], ["x1"], 1, 200, np.random.default_rng(0))
    assert verbatim.main.share == 1
    assert verbatim.control.share < 0.1
    assert verbatim.risk().value > 0.9
    constant = pd.concat([original.iloc[:1]] * 50)
    told = linkability(original, constant, control, variables, ["x0"], ["x1"], 1, 200, np.random.default_rng(0))
    assert told.main.share == told.control.share  # the same record is taken first in both, for anybody
    assert told.risk().value == 0
    everybody = linkability(original, original, control, variables, ["x0"], ["x1"], 200, 10, np.random.default_rng(0))
    assert (everybody.main.share, everybody.control.share, everybody.baseline) == (1, 1, 1)
    assert not everybody.informative


def test_random_links_by_hand() -> None:
    assert random_links(10, 1) == pytest.approx(0.1)
    assert random_links(5, 2) == pytest.approx(1 - 3 / 10)  # C(3, 2) / C(5, 2)
    assert random_links(5, 3) == 1


def test_fewer_people_than_attacks() -> None:
    (original, variables), (control, _) = people(30, 1), people(20, 2)
    found = linkability(original, original, control, variables, ["x0"], ["x1"], 1, 500, np.random.default_rng(0))
    assert (found.main.attempted, found.main.completed, found.control.completed) == (500, 30, 20)


def test_refusals() -> None:
    original, variables = people(10, 1)
    rng = np.random.default_rng(0)
    golden.refused(DataError, linkability, original, original, original, variables, ["x0", "sex"], ["x0"], 1, 5, rng)
    golden.refused(DataError, linkability, original, original, original, variables, ["x0"], ["x1"], 11, 5, rng)
