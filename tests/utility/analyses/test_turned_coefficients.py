"""What a reader of the masked file would report otherwise than one of the original needs a decision."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel, Turn
from sluice.utility.analyses.turned_coefficients import beyond_chance, turned_finding
from sluice.utility.comparison import Comparison
from tasks.checks import explain
from tests.golden import golden


def coefficient(before: float, after: float, error: float = 1.0, error_after: float = 1.0) -> ComparedCoefficient:
    half, there = 1.96 * error, 1.96 * error_after
    return ComparedCoefficient(
        term="x", before=before, before_low=before - half, before_high=before + half, after=after,
        after_low=after - there, after_high=after + there, overlap=0, difference=abs(after - before) / error,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "turned"),
    [
        (5, 5, None),
        (5, -5, "sign"),
        (2.5, -2.5, "sign"),
        (2, -2, "sign"),
        (5, 4.1, None),
        (4.5, 1.5, "lost"),
        (1.5, -1.5, None),  # neither is told from 0
        (5, 0.5, "lost"),
        (3, 0.5, None),  # not clear enough to be missed
        (3.5, 1.9, None),  # 0 is possible, and so is the original's
        (0.5, 5, "made"),
        (1.9, 3.5, None),
        (3.6, 1.2, None),  # no further apart than two samples of the same people
        (3.4, 0.4, "lost"),
    ],
)
def test_a_coefficient_turns_where_readers_would_report_another_result(
    before: float, after: float, turned: Turn | None
) -> None:
    assert coefficient(before, after).turned == turned


def test_a_file_of_other_people_is_rarely_stopped_and_one_without_the_effect_nearly_always_is() -> None:
    rng = np.random.default_rng(1)
    original, other, nothing = (rng.normal(mean, 1, 4000) for mean in (4, 4, 0))
    clear = original > 3.3
    stopped = [coefficient(*pair).turned is not None for pair in zip(original[clear], other[clear], strict=True)]
    assert np.mean(stopped) < 0.02
    found = [coefficient(*pair).turned is not None for pair in zip(original[clear], nothing[clear], strict=True)]
    assert np.mean(found) > 0.85


def turns(before: np.ndarray, after: np.ndarray) -> list[Turn | None]:
    """Of the coefficients of one file, with standard errors of 1, as the gate has it."""
    coefficients = tuple(coefficient(*map(float, pair)) for pair in zip(before, after, strict=True))
    [model] = beyond_chance([ComparedModel(name="m", kind="linear", formula="y ~ x", coefficients=coefficients)])
    return [one.turned for one in model.coefficients]


@pytest.mark.parametrize("many", [1, 12, 40])
def test_of_files_of_other_people_few_have_any_that_turned_however_many_are_looked_at(many: int) -> None:
    rng = np.random.default_rng(many)
    stopped = 0
    for _ in range(150):
        truth = rng.choice([0, 0, 1, 2, 3, 4, 6, 10], many)
        stopped += any(turns(truth + rng.normal(size=many), truth + rng.normal(size=many)))
    assert stopped / 150 <= 0.08  # 5 %, and what chance adds


@pytest.mark.parametrize(("many", "found_at_least"), [(1, 0.9), (12, 0.75), (40, 0.6)])
def test_an_effect_of_five_standard_errors_that_is_gone_or_reversed_is_found(many: int, found_at_least: float) -> None:
    rng = np.random.default_rng(many)
    gone = turned = 0
    for _ in range(100):
        truth = rng.choice([0, 0, 1, 2, 3, 4, 6, 10], many)
        truth[0] = 5
        before, after = truth + rng.normal(size=many), truth + rng.normal(size=many)
        after[0] -= 5
        gone += turns(before, after)[0] == "lost"
        after[0] -= 5
        turned += turns(before, after)[0] is not None
    assert gone / 100 >= found_at_least
    assert turned / 100 >= 0.98


def test_an_intercept_tells_nothing() -> None:
    assert coefficient(5, -5).model_copy(update={"term": "(intercept)"}).turned is None


def finding(*coefficients: ComparedCoefficient) -> Finding | None:
    return turned_finding([ComparedModel(name="pay", kind="linear", formula="pay ~ x", coefficients=coefficients)])


def test_one_that_turned_needs_a_decision_and_is_named() -> None:
    found = finding(coefficient(5, 5), coefficient(5, -5))
    assert found is not None
    assert (found.verdict, found.binding) == (Verdict.REVIEW, True)
    golden.words(found.says)


def test_where_none_turned_it_is_reported() -> None:
    found = finding(coefficient(5, 5))
    assert found is not None
    assert (found.verdict, found.binding) == (Verdict.PASS, False)


def test_what_the_masked_file_cannot_give_is_counted_and_not_among_those_that_kept_their_sign() -> None:
    gone = {"after": None, "after_low": None, "after_high": None}
    clear, unclear, intercept = (coefficient(before, 0).model_copy(update=gone) for before in (5, 1, 5))
    intercept = intercept.model_copy(update={"term": "(intercept)"})
    lost = {"kind": "linear", "formula": "pay ~ x", "name": "pay"}
    some = ComparedModel(**lost, coefficients=(coefficient(5, 5), clear, unclear, intercept), lost=3)
    found, of_none = turned_finding([some]), turned_finding([ComparedModel(**lost, coefficients=(clear,), lost=1)])
    assert found is not None
    assert of_none is not None
    assert (found.attempted, found.completed, found.verdict) == (4, 1, Verdict.PASS)
    assert (of_none.attempted, of_none.completed) == (1, 0)
    golden(found.says)
    golden(of_none.says)


def test_coefficients_that_are_not_shown_are_counted_beside_those_that_are() -> None:
    model = ComparedModel(name="pay", kind="linear", formula="pay ~ x", coefficients=(coefficient(5, 5),))
    unseen = ComparedModel(name="ill", kind="logistic", formula="ill ~ x", hidden=5)
    found = turned_finding([model, unseen])
    assert found is not None
    assert next(said.data for said in found.saying if said.code == "turned_coefficients.hidden") == {
        "hidden": 5, "models": 1,
    }  # fmt: skip
    golden(found.says)


def test_without_any_coefficient_nothing_is_said() -> None:
    assert finding() is None


def test_where_many_turned_the_first_are_named() -> None:
    found = finding(*[coefficient(5, -5)] * 9)
    assert found is not None
    golden(found.says)


N = 400
RNG = np.random.default_rng(1)
VARIABLES = {
    "pay": Variable(name="pay", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
    "age": Variable(name="age", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
    "sex": Variable(name="sex", kind=Kind.BINARY, role=Role.QUASI_IDENTIFIER, categories=("f", "m")),
}
AGE = RNG.uniform(18, 65, N)
ORIGINAL = pd.DataFrame(
    {"pay": AGE + RNG.normal(size=N), "age": AGE, "sex": pd.Categorical.from_codes(RNG.integers(0, 2, N), ["f", "m"])}
)
REVERSED = ORIGINAL.assign(age=83 - AGE)


def judge(masked: pd.DataFrame, models: Sequence[dict[str, str]] = (), definition: Analyses | None = None) -> Utility:
    files = Comparison(
        ORIGINAL, ORIGINAL, masked, None, VARIABLES, VARIABLES, np.random.default_rng(0),
        analyses=definition or Analyses(),
    )  # fmt: skip
    return UtilityLimits.model_validate({"models": models}).find(files)


def verdict(found: Utility) -> Verdict:
    return next(each.verdict for each in found.findings if each.rule == "turned_coefficients")


def test_drafted_models_are_compared_where_none_is_named() -> None:
    found = judge(REVERSED)
    assert verdict(found) is Verdict.REVIEW
    assert found.view.models is not None
    assert all(model.drafted for model in found.view.models)
    assert found.view.tables is not None
    assert verdict(judge(ORIGINAL)) is Verdict.PASS


def test_a_named_model_is_held_to_the_same_and_none_is_drafted() -> None:
    named = Analyses.model_validate({"models": [{"name": "age", "kind": "linear", "formula": "pay ~ age"}]})
    for found in (judge(REVERSED, definition=named), judge(REVERSED, [named.models[0].model_dump(exclude_none=True)])):
        assert found.view.models is not None
        assert [model.drafted for model in found.view.models] == [False]
        assert verdict(found) is Verdict.REVIEW


def test_a_search_for_plans_sees_it() -> None:
    files = Comparison(ORIGINAL, ORIGINAL, REVERSED, None, VARIABLES, VARIABLES, np.random.default_rng(0))
    assert Verdict.REVIEW in [each.verdict for each in UtilityLimits().decide(files)]


def test_it_is_explained() -> None:
    assert explain("turned_coefficients").helps
