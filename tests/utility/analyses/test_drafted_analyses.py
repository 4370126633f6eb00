"""Analyses of a file of which nobody said what it is for: regressions and tables by role and kind."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.utility.analyses.drafted_analyses import DraftedAnalyses, drafted_analyses
from sluice.utility.analyses.models import refuse_unfit_model

N = 200
RNG = np.random.default_rng(0)
NOBODY: frozenset[str] = frozenset()


def variable(name: str, kind: Kind, role: Role = Role.OTHER, **more: Any) -> Variable:
    return Variable(name=name, kind=kind, role=role, **more)


VARIABLES = {
    "key": variable("key", Kind.TEXT, Role.IDENTIFIER),
    "region": variable("region", Kind.NOMINAL, Role.QUASI_IDENTIFIER, categories=("n", "s", "w")),
    "age": variable("age", Kind.INTEGER, Role.QUASI_IDENTIFIER),
    "pay a year": variable("pay a year", Kind.CONTINUOUS, Role.SENSITIVE),
    "ill": variable("ill", Kind.BINARY, Role.SENSITIVE, categories=("no", "yes")),
    "w": variable("w", Kind.CONTINUOUS, Role.WEIGHT),
    "seen": variable("seen", Kind.DATE),
}
RECORDS = pd.DataFrame(
    {
        "key": [f"{number}" for number in range(N)],
        "region": pd.Categorical(RNG.choice(list("nsw"), N), list("nsw")),
        "age": pd.array(RNG.integers(18, 80, N), "Int64"),
        "pay a year": RNG.lognormal(10, 1.6, N),
        "ill": pd.Categorical(RNG.choice(["no", "yes"], N), ["no", "yes"]),
        "w": RNG.uniform(1, 2, N),
        "seen": pd.Timestamp("2026-01-01"),
    }
)


def drafted(variables: Variables = VARIABLES, undeclared: frozenset[str] = NOBODY) -> DraftedAnalyses:
    return drafted_analyses(variables, RECORDS[list(variables)], undeclared)


def test_what_is_sensitive_is_explained_by_what_describes_people_and_by_other_answers() -> None:
    formulas = [model.formula for model in drafted().models]
    assert formulas == [
        "log(`pay a year`) ~ age + region",
        "ill == 'yes' ~ age + region",
        "log(`pay a year`) ~ ill + age + region",
    ]


def test_what_nearly_tells_another_number_explains_nothing_beside_it() -> None:
    """An age beside the year of birth, the year of a marriage beside those of birth and the age then."""
    rng, n = np.random.default_rng(3), 600
    age, married = rng.integers(18, 70, n), rng.integers(16, 40, n)
    frame = pd.DataFrame(
        {
            "born": 1980 - age - (rng.random(n) < 0.3),
            "age": age,
            "married_at": np.where(rng.random(n) < 0.5, married, np.nan),
            "married_in": 1980.0 - age + married,
            "pay": rng.lognormal(10, 0.5, n) * age,
        }
    )
    frame["married_in"] = frame["married_in"].mask(frame["married_at"].isna())
    known = {
        name: variable(name, Kind.CONTINUOUS, Role.SENSITIVE if name[0] in "mp" else Role.QUASI_IDENTIFIER)
        for name in frame
    }
    formulas = [model.formula for model in drafted_analyses(known, frame, NOBODY).models]
    assert formulas == ["married_at ~ born", "married_in ~ born"]
    alone = {name: known[name] for name in ("age", "pay")} | {"pay": variable("pay", Kind.CONTINUOUS, Role.SENSITIVE)}
    exact = frame.assign(pay=age + rng.normal(size=n) / 10)
    first = drafted_analyses(alone, exact, NOBODY).models[0]
    assert first.formula == "pay ~ age", "what follows from one other is an effect, however strong"


def test_the_first_model_is_fitted_in_subgroups_and_all_are_weighted() -> None:
    models = drafted().models
    assert [model.by for model in models] == ["region", None, None]
    assert all(model.weight == "w" for model in models)


def test_two_tables_cross_people_with_answers() -> None:
    assert drafted().tables == (("region", "pay a year"), ("region", "ill"))


def test_every_draft_fits_the_variables() -> None:
    for model in drafted().models:
        refuse_unfit_model(model, VARIABLES)


def test_without_roles_the_first_variables_explain_each_other() -> None:
    plain = {name: variable(name, each.kind, categories=each.categories) for name, each in VARIABLES.items()}
    models = drafted({name: plain[name] for name in ("age", "ill", "region")}).models
    assert [model.formula for model in models][:2] == ["age ~ ill + region", "ill == 'yes' ~ age + region"]


def test_a_category_that_no_contract_lists_is_not_named() -> None:
    names = {name for model in drafted(undeclared=frozenset(["region"])).models for name in model.formula.split()}
    assert "region" not in names


@pytest.mark.parametrize("names", [(), ("age",), ("key", "w")])
def test_of_one_variable_nothing_is_explained(names: tuple[str, ...]) -> None:
    found = drafted({name: VARIABLES[name] for name in names})
    assert not found.models


def test_a_variable_that_repeats_another_one_is_in_no_model() -> None:
    """401(k) plans: income by its square and assets, of which nothing was left to tell."""
    ages = RECORDS["age"].to_numpy("float64")
    variables = VARIABLES | {"age squared": variable("age squared", Kind.CONTINUOUS, Role.SENSITIVE)}
    found = drafted_analyses(variables, RECORDS.assign(**{"age squared": ages**2}), NOBODY)
    assert found == drafted_analyses(VARIABLES, RECORDS, NOBODY)
    assert found.models
