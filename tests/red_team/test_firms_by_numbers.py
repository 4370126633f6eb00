"""Firms by numbers alone: no groups of look-alikes to ask for, each firm alone with its amounts.

On these files the methods for numbers were made. Whoever knows all amounts of a firm, or any five, is played.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.policy import Policy, load_policy, shipped_policies
from policies.standard.preconditions import judge_numbers_alone
from sluice.ground.rule import Background
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.utility.comparison import Comparison
from tasks.release.records.record_findings import check_masked, evaluate_file
from tests.evaluated_once import without_maps
from tests.red_team import attacks
from tests.red_team.files import Data, files_of, masked_by, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

POLICIES = ("small-file", "public-use-business")


@cache
def firms() -> Data:
    """500 suppliers of electricity in a month, by ten amounts."""
    raw = pd.read_csv(reference_path("casc", "eia.csv"), dtype=str).iloc[:, 5:]
    frame, variables = typed_frame(raw.sample(500, random_state=0).reset_index(drop=True))
    return with_roles((frame, variables), dict.fromkeys(variables, Role.SENSITIVE))


def masked(method: str, **settings: Any) -> Comparison:
    names = list(firms()[1])
    settings = {"columns": names} | settings
    return masked_by(firms(), [{"method": method, **settings}], numbers_alone=True, unit="firms")


def judged(files: Comparison, name: str) -> list[Finding]:
    """What decides."""
    policy: Policy = load_policy(shipped_policies()[name])
    rules = [*check_masked(policy, files), *evaluate_file(policy, files, files.variables, files.released).findings]
    return [finding for finding in rules if finding.binding]


def named(files: Comparison, name: str, verdict: Verdict) -> set[str]:
    return {finding.rule for finding in judged(files, name) if finding.verdict is verdict}


@pytest.mark.exhaustive  # cases of the red team hold firms, too
def test_what_an_intruder_finds_fails_and_what_none_finds_is_judged() -> None:
    """Half of the amounts as they are, the others drawn from a regression on them: everybody is found."""
    names = list(firms()[1])
    given = masked("ipso", columns=names[:5], given=names[5:])
    assert attacks.learned(given) > 0.9
    with without_maps():
        assert {"learned_linkage", "learned_claims", "unique_values"} <= named(given, "small-file", Verdict.FAIL)
    swapped = masked("spectral_swapping")
    assert attacks.nearest(swapped, "rank") < 0.01
    assert attacks.learned(swapped) < 0.01
    assert not named(swapped, "small-file", Verdict.UNKNOWN)
    assert not named(swapped, "small-file", Verdict.FAIL) - {"mean", "correlation", "pair_marginals"}


def test_rules_on_groups_say_that_there_are_none() -> None:
    frame = pd.DataFrame({"sales": [1.0, 2.0, 3.0]})
    variables = {"sales": Variable(name="sales", kind=Kind.CONTINUOUS, role=Role.SENSITIVE)}
    for rule in (KAnonymity(k=5), LDiversity(l=2)):
        (undeclared,) = rule.find(frame, variables, "masked")
        assert undeclared.verdict is Verdict.UNKNOWN
        (alone,) = rule.find(frame, variables, "masked", background=Background(numbers_alone=True))
        assert (alone.verdict, alone.code) == (Verdict.PASS, "no_groups")
    by_sales = KAnonymity(k=5, columns=("sales",))  # a rule that names a column asks for groups all the same
    (found,) = by_sales.find(frame, variables, "masked", background=Background(numbers_alone=True))
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_lacks_nothing_of_a_file_of_numbers_alone(policy: str) -> None:
    variables = {"sales": Variable(name="sales", kind=Kind.CONTINUOUS, role=Role.SENSITIVE)}
    asked = {"holdout": False, "knowledge": (), "paired": True, "how": "document"}
    loaded = load_policy(shipped_policies()[policy])
    assert loaded.unmet(variables, **asked)
    assert not loaded.unmet(variables, numbers_alone=True, **asked)


@pytest.mark.parametrize("disguise", ["an age", "a region by number", "a size class"])
def test_a_key_that_passes_for_an_amount_needs_a_decision(disguise: str) -> None:
    """k-anonymity is not got rid of by declaring nothing."""
    rng, n = np.random.default_rng(2), 2_000
    keys = {
        "an age": rng.integers(18, 95, n),
        "a region by number": 1_000 + rng.integers(0, 90, n),
        "a size class": np.where(rng.random(n) < 0.8, 0, rng.integers(1, 9, n)),
    }
    amounts = pd.DataFrame(
        {"sales": rng.lognormal(8, 2, n).round(), "grants": np.where(rng.random(n) < 0.9, 0, rng.lognormal(5, 1, n))}
    )
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.SENSITIVE) for name in (*amounts, "key")}
    assert judge_numbers_alone(files_of(amounts, amounts, {n: variables[n] for n in amounts})).verdict is Verdict.PASS
    frame = amounts.assign(key=keys[disguise].astype(float))
    found = judge_numbers_alone(files_of(frame, frame, variables))
    assert (found.verdict, found.code) == (Verdict.REVIEW, "numbers_alone.shared")
