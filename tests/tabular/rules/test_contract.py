"""What all rules on the cells of a table have in common. A new one is added to `RULES`, with its refusals."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.ground.document_faults import faults
from sluice.ground.errors import DataError
from sluice.tabular.rules.dominance import Dominance, dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency, minimum_frequency
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior, p_percent
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from sluice.tabular.rules.zero_cells import ZeroCells
from tests.golden import golden
from tests.tabular.many_cells import contributions_of, many_cells

Cell = Callable[[Sequence[float]], bool]

# Each with the same rule of one cell, and a stricter one.
RULES: dict[str, tuple[SensitivityRule, Cell | None, SensitivityRule]] = {
    "minimum_frequency": (MinimumFrequency(n=3), partial(minimum_frequency, n=3), MinimumFrequency(n=5)),
    "minimum_frequency, zeros safe": (MinimumFrequency(n=3, zeros_safe=True), None, MinimumFrequency(n=3)),
    "p_percent": (PPercent(p=10), partial(p_percent, p=10), PPercent(p=25)),
    "p_percent, three together": (PPercent(p=10, coalition=3), None, PPercent(p=10, coalition=4)),
    "p_percent of a fraction": (PPercent(p=10), partial(p_percent, p=10), PPercent(p=10.5)),
    "dominance": (Dominance(n=1, k=70), partial(dominance, n=1, k=70), Dominance(n=2, k=70)),
    "dominance of two": (Dominance(n=2, k=85.5), partial(dominance, n=2, k=85.5), Dominance(n=2, k=85)),
    "dominance of all": (Dominance(n=2, k=100), partial(dominance, n=2, k=100), Dominance(n=2, k=2)),
    "prior_posterior": (PriorPosterior(p=10, q=50), None, PriorPosterior(p=20, q=50)),
    "prior_posterior, knowing all": (PriorPosterior(p=10, q=100), None, PriorPosterior(p=10, q=10.5)),
    "request_rule": (RequestRule(k=60), None, RequestRule(k=50)),
    "zero_cells": (ZeroCells(), None, ZeroCells(protection_units=5)),
}
each_rule = pytest.mark.parametrize(("rule", "of_one", "stricter"), RULES.values(), ids=RULES)


@each_rule
@given(given_cells=many_cells, random=st.randoms())
def test_each_cell_is_judged_alone_and_is_sensitive_where_it_is_to_be_protected(
    rule: SensitivityRule,
    of_one: Cell | None,
    stricter: SensitivityRule,
    given_cells: list[list[int]],
    random: "np.random.Generator",
) -> None:
    cells = contributions_of(given_cells)
    sensitive, level = rule.sensitive(cells), rule.protection(cells)
    assert (sensitive.dtype, level.dtype) == (np.bool_, np.int64)
    assert ((level > 0) == sensitive).all()
    assert (rule.protection(cells, outsider=True) <= level).all()  # who contributes has the advantage
    for at in random.sample(range(len(given_cells)), min(3, len(given_cells))):
        alone = contributions_of([given_cells[at]])
        assert (rule.sensitive(alone)[0], rule.protection(alone)[0]) == (sensitive[at], level[at])
    if of_one is not None:
        assert sensitive.tolist() == [of_one(cell) for cell in given_cells]
        assert sensitive.tolist() == [of_one(list(reversed(cell))) for cell in given_cells]


@each_rule
@given(given_cells=many_cells)
def test_a_stricter_rule_asks_no_less_and_both_together_ask_what_it_asks(
    rule: SensitivityRule, of_one: Cell | None, stricter: SensitivityRule, given_cells: list[list[int]]
) -> None:
    cells = contributions_of(given_cells)
    assert not (rule.sensitive(cells) & ~stricter.sensitive(cells)).any()
    assert (rule.protection(cells) <= stricter.protection(cells)).all()
    together, alone = requirements_of([rule, stricter], cells), requirements_of([stricter], cells)
    assert (together.sensitive == alone.sensitive).all()
    assert (together.upper == alone.upper).all()
    assert (together.lower == alone.lower).all()


@each_rule
@given(given_cells=many_cells)
def test_only_as_many_of_the_largest_are_looked_at_as_it_says(
    rule: SensitivityRule, of_one: Cell | None, stricter: SensitivityRule, given_cells: list[list[int]]
) -> None:
    whole = contributions_of(given_cells)
    short = type(whole)(whole.total, whole.contributors, whole.largest[:, : rule.largest_needed])
    assert (rule.sensitive(short) == rule.sensitive(whole)).all()
    for outsider in (False, True):
        assert (rule.protection(short, outsider) == rule.protection(whole, outsider)).all()


@pytest.mark.parametrize("name", ["minimum_frequency", "p_percent", "dominance"])
@pytest.mark.parametrize(
    "cell", [[3, -271828], [1, float("nan")], [1, float("inf")], np.array(["1", "2"]), np.ones((2, 2))]
)
def test_what_is_no_cell_is_refused_and_no_value_repeated(name: str, cell: Sequence[float]) -> None:
    of_one = RULES[name][1]
    assert of_one is not None
    with golden.raises(DataError) as refusal:
        of_one(cell)
    assert name in str(refusal.value)
    assert "271828" not in str(refusal.value)


@pytest.mark.parametrize("name", ["minimum_frequency", "p_percent", "dominance"])
def test_an_empty_cell_speaks_of_nobody(name: str) -> None:
    of_one = RULES[name][1]
    assert of_one is not None
    assert not of_one([])


@pytest.mark.parametrize(
    "make",
    [
        partial(minimum_frequency, [1, 2], n=0),
        partial(p_percent, [1, 2, 3], p=0.1),
        partial(dominance, [1, 2], n=1, k=0.85),
        partial(dominance, [1, 2], n=0, k=50),
    ],
)
def test_settings_that_are_none_are_refused(make: Callable[[], object]) -> None:
    with golden.raises(DataError):
        make()


@pytest.mark.parametrize(
    ("rule", "thresholds"),
    [
        (MinimumFrequency, {"n": 0}),
        (MinimumFrequency, {"n": 3, "protection_percent": 0.1}),
        (PPercent, {"p": 0.1}),
        (PPercent, {"p": 10, "coalition": 0}),
        (Dominance, {"n": 1, "k": 0.85}),
        (Dominance, {"n": 0, "k": 50}),
        (PriorPosterior, {"p": 50, "q": 10}),
        (PriorPosterior, {"p": 10, "q": 10}),
        (PriorPosterior, {"p": 10, "q": 0.5}),
        (PriorPosterior, {"p": 10, "q": 50, "coalition": 0}),
        (RequestRule, {"k": 0.7}),
        (ZeroCells, {"protection_units": 0}),
    ],
)
def test_thresholds_out_of_bounds_are_refused(rule: type[SensitivityRule], thresholds: dict[str, float]) -> None:
    with pytest.raises(ValidationError) as refused:
        rule.model_validate(thresholds)
    golden(str(faults(refused.value.errors(), rule)[0]))
