"""The rules of a policy as models of a search: what the models let pass, the rules pass."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policies.approvals import Approvals
from policies.policy import Policy
from policies.rules.rules import PolicyRule
from sluice.ground.errors import DataError, PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.rule import Background
from sluice.ground.variables import Harmless, Kind, Role, Variable, Variables
from sluice.ground.verdict import Verdict
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.generalization import Generalization
from sluice.risk.classes.alpha_k import AlphaK
from sluice.risk.classes.attribute_combinations import AttributeCombinations
from sluice.risk.classes.beta_likeness import BetaLikeness
from sluice.risk.classes.delta_disclosure import DeltaDisclosure
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import DistinctLDiversity, DistinctNearValues, LDiversity
from sluice.risk.classes.sample_uniques import SampleUniquesShare
from sluice.risk.classes.suda import Suda
from sluice.risk.classes.t_closeness import TCloseness
from sluice.risk.population.delta_presence import DeltaPresence
from sluice.risk.population.household_risk import HouseholdRisk
from sluice.risk.population.individual_risk import IndividualRisk
from sluice.risk.population.k_map import KMap
from sluice.risk.population.loglinear_risk import LoglinearRisk
from sluice.risk.population.population_uniques import PopulationUniques
from sluice.risk.population.reidentification_risk import RecordsAbove, ReidentificationRisk
from tests.golden import golden

VARIABLES = {
    v.name: v
    for v in (
        Variable(name="town", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=tuple("abc")),
        Variable(name="sex", kind=Kind.BINARY, role=Role.QUASI_IDENTIFIER, categories=("f", "m")),
        Variable(
            name="illness",
            kind=Kind.NOMINAL,
            role=Role.SENSITIVE,
            categories=("flu", "gout", "none"),
            hierarchy=Hierarchy(rows={"flu": ("ill", "*"), "gout": ("ill", "*"), "none": ("well", "*")}),
        ),
        Variable(name="stage", kind=Kind.ORDINAL, role=Role.SENSITIVE, categories=("1", "2", "3")),
        Variable(name="pay", kind=Kind.CONTINUOUS, role=Role.OTHER),
    )
}


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            name: pd.Categorical(rng.choice(v.categories, n), categories=v.categories, ordered=v.kind is Kind.ORDINAL)
            for name, v in VARIABLES.items()
            if v.categories
        }
    ).assign(pay=rng.normal(size=n))


def policy_of(*rules: PolicyRule) -> Policy:
    return Policy(name="p", version="1", rules=rules, approvals=Approvals(count=1, identity="declared"))


RULES = (
    KAnonymity(k=3),
    SampleUniquesShare(at_most=0),
    LDiversity(l=2, columns=("illness",)),
    TCloseness(t=0.5, columns=("illness",)),
)
ON_VALUES = (
    LDiversity(l=1.5, variant="entropy", columns=("illness", "stage")),
    LDiversity(l=2, variant="recursive", c=2, columns=("illness",)),
    BetaLikeness(beta=1.5, columns=("illness",)),
    BetaLikeness(beta=1, variant="basic", columns=("stage",)),
    DeltaDisclosure(delta=1.2, columns=("illness",)),
    DeltaDisclosure(delta=0.8, absent_values="ignore", columns=("stage",)),
    AlphaK(alpha=0.6, k=2, columns=("illness",)),
    AlphaK(alpha=0.4, k=2, columns=("illness",), values=("gout", "flu")),
    TCloseness(t=0.2, columns=("illness",), ground_distance="hierarchical"),
    TCloseness(t=0.2, columns=("stage",)),
    TCloseness(t=0.2, columns=("pay",)),
    TCloseness(t=0.6, columns=("pay",), ground_distance="equal"),
)
ON_NEAR = (LDiversity(l=2, columns=("pay",), near=0.5), LDiversity(l=3, columns=("pay",), near=0.2))
ON_RISK = (
    SampleUniquesShare(at_most=0.03),
    ReidentificationRisk(model="prosecutor", highest_at_most=0.5, average_at_most=0.2),
    PopulationUniques(at_most=0.02, population=5_000),
)

ESTIMATED = PopulationUniques(at_most=0.02, population=500)


@given(
    n=st.integers(8, 60),
    seed=st.integers(0, 10**6),
    limit=st.sampled_from([0.0, 0.2]),
    rules=st.sampled_from([RULES, ON_RISK, *[(rule,) for rule in (*ON_RISK, *ON_VALUES, *ON_NEAR)]]),
)
@example(n=15, seed=0, limit=0.0, rules=ON_RISK)  # three groups of five: on average exactly one in five
def test_what_a_search_under_the_rules_makes_meets_them(
    n: int, seed: int, limit: float, rules: tuple[PolicyRule, ...]
) -> None:
    policy = policy_of(*rules)
    assert not policy.without_model(VARIABLES)
    asked = {"columns": ("town", "sex"), "under": "policy", "suppression_limit": limit}
    step = Generalization.model_validate(asked).under_policy(policy)
    frame = people(n, seed)
    try:
        done, _ = apply_plan([step], frame, VARIABLES, np.random.SeedSequence(1))
    except PlanError:
        return
    released = step.released(VARIABLES)
    for rule in rules:
        assert {finding.verdict for finding in rule.find(done, released, "masked")} == {Verdict.PASS}


WITH_PEOPLE = VARIABLES | {
    "who": Variable(name="who", kind=Kind.NOMINAL, role=Role.PERSON, categories=tuple(map(str, range(30)))),
    "weight": Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
}
HARMLESS = {"illness": Harmless(values=("none",), why="most are well"), "stage": Harmless(values=("2",), why="a word")}
WITH_HARMLESS = WITH_PEOPLE | {
    name: WITH_PEOPLE[name].model_copy(update={"harmless": values}) for name, values in HARMLESS.items()
}

FILES = [seed for seed in range(36) if seed % 12 in (0, 1, 11)]  # of all sizes; some rules are broken by 1 or 11 alone
MORE_FILES = [seed for seed in range(60) if seed not in FILES]


@cache
def visits(n: int, seed: int, keys_missing: bool = False) -> pd.DataFrame:
    """Some weighted records a person, in one town each or in several, some values missing."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, int(rng.integers(n // 4, n)) + 1, n) % 30
    frame = people(n, seed).assign(
        who=pd.Categorical(who.astype(str), categories=WITH_PEOPLE["who"].categories), weight=rng.uniform(0.5, 200, n)
    )
    if seed % 2:
        home = pd.Categorical(rng.choice(tuple("abc"), 30), categories=tuple("abc"))
        frame["town"] = home[who]
    for name in ("illness", "stage", *(("town", "sex") if keys_missing else ())):
        frame.loc[rng.random(n) < rng.choice([0, 0, 0.2]), name] = None
    return frame


def made_under(
    rule: PolicyRule | None,
    frame: pd.DataFrame,
    levels: dict[str, int],
    suppressed: float = 0,
    variables: Variables = WITH_PEOPLE,
) -> tuple[pd.DataFrame, Variables]:
    """The file at these levels as the search makes it; raises PlanError where the rule's models do not allow it."""
    asked: dict[str, Any] = {"columns": ("town", "sex"), "levels": levels, "suppression_limit": suppressed}
    if rule is None:
        step = Generalization.model_validate(asked | {"models": [{"model": "k_anonymity", "k": 1}]})
    else:
        step = Generalization.model_validate(asked | {"under": "policy"}).under_policy(policy_of(rule))
    return apply_plan([step], frame, variables, np.random.SeedSequence(1))[0], step.released(variables)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(FILES, marks=pytest.mark.chain, id="9 files"),
        pytest.param(MORE_FILES, marks=pytest.mark.exhaustive, id="51 more"),
        pytest.param(range(60, 300), marks=pytest.mark.longest, id="240 more"),
    ],
)
@pytest.mark.parametrize(
    "rule",
    [KAnonymity(k=3), SampleUniquesShare(at_most=0.05), ON_RISK[1], ESTIMATED, *ON_VALUES, *ON_NEAR, RULES[2]],
    ids=str,
)
@pytest.mark.parametrize("variables", [WITH_PEOPLE, WITH_HARMLESS], ids=["", "harmless values"])
def test_the_search_allows_what_the_rule_passes_and_nothing_else(
    variables: Variables, rule: PolicyRule, seeds: Sequence[int]
) -> None:
    """Where people have several records, these have weights, and values are missing, too, at every level. Of near
    numbers it allows less: how many spans hold a class depends on which is taken first."""
    first = seeds is FILES
    if variables is WITH_HARMLESS and rule not in (*ON_VALUES, RULES[2]):
        seeds = seeds[:6]  # of a rule that looks at no values a few do
    verdicts = []
    for seed in seeds:
        frame = visits(12 + seed % 60, seed)
        for town, sex in product(range(2), range(2)):
            try:
                done, released = made_under(rule, frame, {"town": town, "sex": sex}, variables=variables)
                allowed = True
            except PlanError:
                done, released = made_under(None, frame, {"town": town, "sex": sex}, variables=variables)
                allowed = False
            found = {finding.verdict for finding in rule.find(done, released, "masked")}
            assert (found == {Verdict.PASS}) == allowed or (rule in ON_NEAR and not allowed), (seed, town, sex, found)
            verdicts.append(allowed)
    if first:  # of the others some rule may allow all
        assert 0 < np.mean(verdicts) < 1  # neither is always so


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(FILES[:6], marks=pytest.mark.chain, id="6 files"),
        pytest.param([*FILES[6:], *MORE_FILES], marks=pytest.mark.exhaustive, id="54 more"),
    ],
)
@pytest.mark.parametrize(
    "rule",
    [
        KAnonymity(k=3, missing_matches="any"),
        SampleUniquesShare(at_most=0.05, missing_matches="any"),
        ReidentificationRisk(model="prosecutor", highest_at_most=0.5, average_at_most=0.3, missing_matches="any"),
    ],
    ids=str,
)
def test_where_a_missing_key_may_stand_for_any_value_the_search_errs_on_the_safe_side(
    rule: PolicyRule, seeds: Sequence[int]
) -> None:
    """It takes one for a category of its own: a record is then like fewer others, also like fewer candidates."""
    stricter = []
    for seed in seeds:
        frame = visits(12 + seed % 60, seed, keys_missing=True)
        for town, sex, suppressed in product(range(2), range(2), (0, 0.3)):
            plain, released = made_under(None, frame, {"town": town, "sex": sex})
            try:
                done, released = made_under(rule, frame, {"town": town, "sex": sex}, suppressed)
                allowed = True
            except PlanError:
                done, allowed = plain, False
            background = Background(plain)
            passes = {each.verdict for each in rule.find(done, released, "masked", background=background)} == {
                Verdict.PASS
            }
            assert passes or not allowed, (seed, town, sex, suppressed)
            stricter.append(passes and not allowed)
    assert 0 < np.mean(stricter) < 0.5


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (KAnonymity(k=3, columns=("town",)), "k_anonymity"),
        (SampleUniquesShare(at_most=0.1, columns=("town",)), "sample_uniques_share"),
        (
            ReidentificationRisk(model="prosecutor", records_above=RecordsAbove(risk=0.5, at_most=0.1)),
            "reidentification_risk",
        ),
        (
            ReidentificationRisk(model="journalist", average_at_most=0.1, population="people.csv"),
            "reidentification_risk",
        ),
        (PopulationUniques(at_most=0.1, sampling_fraction=0.1), "population_uniques"),
        (PopulationUniques(at_most=0.1), "population_uniques"),  # by weights
        (IndividualRisk(highest_at_most=0.1), "individual_risk"),
        (HouseholdRisk(highest_at_most=0.1), "household_risk"),
        (LoglinearRisk(guesses_at_most=0.1), "loglinear_risk"),
        (KMap(k=3, population="people.csv"), "k_map"),
        (DeltaPresence(at_most=0.5), "delta_presence"),
        (AttributeCombinations(at_most=0.1), "attribute_combinations"),  # on sets of some of the keys
        (Suda(above=0.1, sampling_fraction=0.1), "suda"),
        (LDiversity(l=2, variant="entropy", others_known=True), "l_diversity"),
        (LDiversity(l=2, variant="entropy", columns=("pay",)), "l_diversity of pay"),
        (TCloseness(t=0.5, columns=("stage",), ground_distance="hierarchical"), "t_closeness of stage"),
        (AlphaK(alpha=0.5, k=2, columns=("illness",), values=("plague",)), "alpha_k of illness"),
        (TCloseness(t=0.5, columns=("absent",)), "t_closeness of absent"),
    ],
)
def test_rules_that_are_left_to_the_judgement(rule: PolicyRule, left: str) -> None:
    """By a sampling fraction or weights the population depends on who is left in the file, and where people have
    several records on the levels; a list of it is in the categories of one file; near numbers are one value."""
    rules = policy_of(rule)
    assert rules.models(VARIABLES) == ()
    assert rules.without_model(VARIABLES) == (left,)


@pytest.mark.parametrize(
    "rule",
    [
        AlphaK(alpha=0.5, k=2, columns=("illness",), values=("plague",)),
        TCloseness(t=0.5, columns=("stage",), ground_distance="hierarchical"),
    ],
    ids=str,
)
def test_a_rule_that_does_not_fit_a_variable_has_no_model_and_refuses_the_file(rule: PolicyRule) -> None:
    """A later step may give the variable the categories that the rule names: the search cannot know of it."""
    assert policy_of(rule).models(VARIABLES) == ()
    golden.refused(DataError, rule.find, people(20, 1), VARIABLES, "masked")


def test_a_number_among_the_sensitive_variables_frees_no_other_from_the_rule() -> None:
    pay = VARIABLES["pay"].model_copy(update={"role": Role.SENSITIVE})
    rules = policy_of(LDiversity(l=2))
    models = rules.models(VARIABLES | {"pay": pay})
    assert models == (
        DistinctLDiversity("illness", 2, valued=True),
        DistinctLDiversity("stage", 2, valued=True),
        DistinctNearValues("pay", 2, near=0.1, valued=True),
    )
    weighed = policy_of(LDiversity(l=2, variant="entropy"))
    assert len(weighed.models(VARIABLES | {"pay": pay})) == 2
    assert weighed.without_model(VARIABLES | {"pay": pay}) == ("l_diversity of pay",)
    named = pay.model_copy(update={"harmless": Harmless(values=("0",), why="nobody minds")})
    assert rules.without_model(VARIABLES | {"pay": named}) == ("l_diversity of pay",)


def test_a_rare_trait_coarsens_no_key_where_it_hurts_nobody_to_be_without() -> None:
    """One in sixty has it, so nearly every group of look-alikes is without; a group of those who have it is refused."""
    rng, n = np.random.default_rng(4), 240
    trait = Variable(name="trait", kind=Kind.BINARY, role=Role.SENSITIVE, categories=("no", "yes"))
    free = trait.model_copy(update={"harmless": Harmless(values=("no",), why="nobody minds being without")})
    frame = people(n, 4).assign(trait=pd.Categorical(np.where(rng.permutation(n) < 4, "yes", "no"), ("no", "yes")))
    levels = []
    for variable in (trait, free):
        step = Generalization.model_validate({"columns": ("town", "sex"), "under": "policy"})
        step = step.under_policy(policy_of(KAnonymity(k=5), LDiversity(l=2, columns=("trait",))))
        done, _ = apply_plan([step], frame, VARIABLES | {"trait": variable}, np.random.SeedSequence(1))
        levels.append(len(done.groupby(["town", "sex"], observed=True)))
    assert levels[0] < levels[1] == 6
    frame.loc[(frame["town"] == "a") & (frame["sex"] == "f"), "trait"] = "yes"
    (found,) = LDiversity(l=2).find(
        frame[["town", "sex", "trait"]], {**dict(list(VARIABLES.items())[:2]), "trait": free}, "masked"
    )
    assert (found.verdict, found.observed) == (Verdict.FAIL, 1)
