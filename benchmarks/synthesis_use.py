"""Risk and use of the ways to synthesise a whole file, on six real ones, under the policy synthetic-file.

`python -m benchmarks synthesis_use` makes the table of benchmarks/README.md in about half an hour of one processor;
`--quick` judges one draw of two files. Every draw is made of other people, a fifth of whom are set aside.

risk : in how many draws every binding limit is kept, the worst verdicts, and the median of the two closest figures:
       how many more values of participants than of others are read (`participant_inference`), and how much better
       than by a coin those who took part are told (`membership`)
use  : medians of the S_pMSE of a logistic regression, of the share of records that are in another cell of the tables
       of three variables, and of the largest difference of a coefficient of three regressions, in standard errors
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.gate_releases import POPULATIONS
from policies.policy import load_policy, shipped_policies
from sluice.ground.errors import SluiceError
from sluice.ground.variables import Variables
from sluice.ground.verdict import Verdict
from sluice.masking.plan import apply_recodings
from sluice.utility.analyses.formula import ModelKind, read_formula
from sluice.utility.analyses.model_comparison import compare_models
from sluice.utility.analyses.model_variables import masked_variables, original_variables
from sluice.utility.comparison import Comparison
from sluice.utility.marginal_summary import marginals
from sluice.utility.propensity_summary import propensity
from tests.red_team.case import judge
from tests.red_team.files import masked_by

SET_ASIDE = 0.2
DRAWS = 3
_POLICY = "synthetic-file"


@dataclass(frozen=True)
class Study:
    """A file as it is synthesised, and what is estimated with it."""

    population: str
    people: int
    columns: tuple[str, ...]
    models: tuple[tuple[ModelKind, str], ...]


STUDIES = {
    "adult": Study(
        "adult", 8_000,
        ("sex", "age", "race", "marital_status", "relationship", "education_num", "workclass", "occupation",
         "hours_per_week", "capital_gain", "capital_loss", "income", "fnlwgt"),
        (("linear", "hours_per_week ~ age + age^2 + sex + education_num + marital_status"),
         ("logistic", "income == '>50K' ~ age + sex + education_num + hours_per_week"),
         ("linear", "education_num ~ age + sex + race + workclass")),
    ),
    "census-income": Study(
        "census-income", 8_000,
        ("sex", "age", "race", "marital_stat", "education", "citizenship", "class_of_worker", "weeks_worked",
         "employer_persons", "wage_per_hour", "dividends", "capital_gains", "tax_filer_stat"),
        (("linear", "weeks_worked ~ age + age^2 + sex + marital_stat"),
         ("linear", "wage_per_hour ~ age + sex + weeks_worked + employer_persons"),
         ("linear", "dividends ~ age + sex + capital_gains")),
    ),
    "nhanes": Study(
        "nhanes", 8_000,
        ("gender", "age", "ethnicity", "education", "income_recode", "health", "height", "weight", "bmi", "sbp",
         "pulse", "albumin", "glucose", "hdl", "totchol"),
        (("linear", "sbp ~ age + gender + bmi + ethnicity"),
         ("linear", "glucose ~ age + gender + weight + height"),
         ("linear", "hdl ~ totchol + bmi + gender + age")),
    ),
    "diabetes": Study(
        "diabetes", 8_000,
        ("gender", "age", "race", "admission_type_id", "diagnosis", "insulin", "A1Cresult", "number_diagnoses",
         "num_lab_procedures", "num_procedures", "num_medications", "number_inpatient", "time_in_hospital",
         "readmitted"),
        (("linear", "time_in_hospital ~ num_medications + num_lab_procedures + number_diagnoses + gender"),
         ("linear", "num_medications ~ insulin + num_procedures + number_diagnoses + race"),
         ("logistic", "readmitted != 'NO' ~ number_inpatient + time_in_hospital + number_diagnoses")),
    ),
    "firms": Study(
        "firms", 8_000, ("NUTS1", "A10", "SIZE", "CJ", "TYPE", "TURNOVER", "PRODUCTION"),
        (("linear", "TURNOVER ~ SIZE + A10"), ("linear", "PRODUCTION ~ TURNOVER + SIZE"),
         ("linear", "PRODUCTION ~ NUTS1 + CJ + TYPE")),
    ),
    "households": Study(
        "households", 4_500,
        ("sex", "age", "urbrur", "relat", "roof", "water", "hhcivil", "income", "expend", "savings"),
        (("linear", "income ~ age + sex + urbrur"), ("linear", "expend ~ income + age + urbrur"),
         ("linear", "savings ~ income + expend + sex")),
    ),
}  # fmt: skip

Step = Mapping[str, Any]
PLANS: dict[str, Step] = {
    "trees, leaves of 20": {"minimum_leaf": 20, "smoothing": "density"},
    "trees, leaves of 50": {"minimum_leaf": 50, "smoothing": "density"},
    "leaves of 50, calibrated": {"minimum_leaf": 50, "smoothing": "density", "calibrated": True},
    "leaves of 100, calibrated": {"minimum_leaf": 100, "smoothing": "density", "calibrated": True},
}


@dataclass(frozen=True)
class Measured:
    """One draw; NaN what could not be measured."""

    verdict: Verdict | None
    stopped_by: tuple[str, ...]
    inferred: float
    participation: float
    propensity: float
    triples: float
    largest: float
    seconds: float

    @property
    def passes(self) -> bool:
        return self.verdict is Verdict.PASS


def files_of_study(study: Study, step: Step, seed: int) -> Comparison:
    """The synthetic file beside those it was made of, and those who were set aside."""
    frame, holdout, variables = drawn(study, seed)
    plan: list[Any] = [{"method": "sequential_trees", "columns": list(study.columns), **step}]
    files = masked_by((frame, dict(variables)), plan, seed, paired=False)
    assert files.carried_out is not None
    recoded = apply_recodings(files.carried_out, holdout, variables)
    return replace(files, holdout=holdout, recoded_holdout=recoded)


def drawn(study: Study, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, Variables]:
    """Those who take part, those set aside, and their variables."""
    population = POPULATIONS[study.population]()
    rows = np.random.default_rng(seed).permutation(len(population.frame))[: study.people]
    people = population.frame.iloc[rows][list(study.columns)].reset_index(drop=True)
    variables = population.variables(people, (*population.core, *population.categories))
    aside = round(SET_ASIDE * len(people))
    return people.iloc[aside:].reset_index(drop=True), people.iloc[:aside].reset_index(drop=True), variables


def measured(study: Study, step: Step, seed: int) -> Measured:
    policy = load_policy(shipped_policies()[_POLICY])
    begun = process_time()
    files = files_of_study(study, step, seed)
    seconds = process_time() - begun
    findings = [*judge(files, policy), *policy.utility.decide(files)]
    binding = [each for each in findings if each.binding]
    beyond = [each for each in binding if each.verdict is not Verdict.PASS]

    def largest_of(rule: str) -> float:
        found = [float(each.observed) for each in findings if each.rule == rule and each.observed is not None]
        return max(found, default=np.nan)

    return Measured(
        max((each.verdict for each in binding), default=None),
        tuple(sorted({each.rule for each in beyond})),
        largest_of("participant_inference"),
        largest_of("membership"),
        _value(propensity(files).measured["propensity"]),
        _value(marginals(files).measured["triple_marginals"]),
        largest_difference(study.models, files),
        seconds,
    )


def _value(found: Any) -> float:
    return float(found.value)


def largest_difference(models: Sequence[tuple[ModelKind, str]], files: Comparison) -> float:
    """Of all coefficients, in standard errors of the original's."""
    found = []
    for kind, text in models:
        formula = read_formula(text)
        names = formula.variables
        before = original_variables(names, files.original, files.variables)
        after = masked_variables(names, files.original, files.recoded, files.masked, files.variables, files.released)
        found += [each.difference for each in compare_models(formula, kind, before, after).changes]
    return float(max(found))


def line(name: str, plan: str, draws: Sequence[Measured]) -> str:
    def middle(figure: str) -> float:
        return float(np.nanmedian([getattr(each, figure) for each in draws]))

    by = sorted({rule for each in draws for rule in each.stopped_by})
    return (
        f"| {name} | {plan} | {sum(each.passes for each in draws)} of {len(draws)} | {middle('inferred'):+.3f} "
        f"| {middle('participation'):.3f} | {middle('propensity'):.1f} | {middle('triples'):.3f} "
        f"| {middle('largest'):.1f} | {middle('seconds'):.1f} | {', '.join(by)} |"
    )


def table(names: Sequence[str], plans: Mapping[str, Step], draws: int) -> Iterator[str]:
    yield "| file | synthesis | passes | participant_inference | membership | S_pMSE | triples | largest z | s | by |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name in names:
        for plan, step in plans.items():
            try:
                yield line(name, plan, [measured(STUDIES[name], step, seed) for seed in range(draws)])
            except SluiceError as error:
                yield f"| {name} | {plan} | refused: {error} |"


def main(quick: bool = False) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in table(list(STUDIES)[: 2 if quick else None], PLANS, 1 if quick else DRAWS):
            print(each, flush=True)
