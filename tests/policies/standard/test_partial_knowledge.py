"""Partial knowledge as findings: what fails, passes and cannot be measured, and how it is said."""

import numpy as np
import pandas as pd
import pytest

from policies.standard.learning_intruders import judge_partial_knowledge, learned_intruder
from policies.standard.reference_standard import AnyOf, Intruder
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.typed_frame import typed_frame

N = 800
ORIGINAL, VARIABLES = typed_frame(
    pd.DataFrame(np.random.default_rng(3).normal(size=(N, 4)).round(3), columns=list("abcd")).astype(str)
)


def files(masked: pd.DataFrame, people: int = N, **knowledge: tuple[str, ...]) -> Comparison:
    some, out = ORIGINAL.head(people), masked.head(people)
    return Comparison(
        some, some, out, None, VARIABLES, VARIABLES, np.random.default_rng(0), unit="women", knowledge=knowledge
    )


def permuted(*names: str) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return ORIGINAL.assign(**{name: rng.permutation(ORIGINAL[name]) for name in names})


def by_rule(intruder: Intruder, given: Comparison) -> dict[str, Finding]:
    learned = learned_intruder(given, 2_000)
    return {finding.rule: finding for finding in judge_partial_knowledge([intruder], given, learned)}


def test_verbatim_variables_of_a_register_fail_and_the_sentence_begins_with_them() -> None:
    found = by_rule(Intruder(knows="register"), files(permuted("d"), register=("a", "b")))
    assert found["learned_linkage"].verdict is Verdict.FAIL
    assert found["attribute_gain"].verdict is Verdict.FAIL
    golden.words(found["learned_linkage"].says)
    golden(found["attribute_gain"].says)
    assert found["learned_claims"].verdict is Verdict.FAIL
    assert "women" in found["learned_linkage"].says


def test_the_worst_pair_is_named() -> None:
    found = by_rule(Intruder(knows=AnyOf(any=2)), files(permuted("a", "b")))
    assert found["learned_linkage"].verdict is Verdict.FAIL
    assert found["learned_linkage"].scope == "any 2"
    golden.words(found["learned_linkage"].says)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_variables_permuted_one_by_one_hide_everybody(size: int) -> None:
    found = by_rule(Intruder(knows=AnyOf(any=size)), files(permuted("a", "b", "c", "d")))
    assert {finding.verdict for finding in found.values()} == {Verdict.PASS}


def test_the_register_that_finds_nobody_passes_beside_variables_that_are_verbatim() -> None:
    found = by_rule(Intruder(knows="register"), files(permuted("a", "b"), register=("a", "b")))
    assert found["learned_linkage"].verdict is Verdict.PASS
    assert found["attribute_gain"].verdict is Verdict.PASS


def test_who_knows_all_has_nothing_left_to_learn() -> None:
    found = by_rule(Intruder(knows=AnyOf(any=4)), files(ORIGINAL))
    assert found["learned_linkage"].verdict is Verdict.FAIL
    assert found["attribute_gain"].verdict is Verdict.PASS
    golden.words(found["attribute_gain"].says)


def test_a_set_that_the_contract_lacks_cannot_be_judged() -> None:
    found = by_rule(Intruder(knows="registr"), files(ORIGINAL, register=("a",)))
    assert found["learned_linkage"].verdict is Verdict.UNKNOWN
    assert "Did you mean 'register'?" in found["learned_linkage"].says


def test_a_set_of_which_nothing_is_released_finds_nobody() -> None:
    given = files(permuted("a", "b", "c"), register=("a",))
    released = {name: variable for name, variable in VARIABLES.items() if name != "a"}
    without = Comparison(**{**vars(given), "released": released, "masked": given.masked.drop(columns="a")})
    found = by_rule(Intruder(knows="register"), without)
    assert found["learned_linkage"].verdict is Verdict.PASS
    golden.words(found["learned_linkage"].says)


def test_too_few_people_cannot_be_judged() -> None:
    found = by_rule(Intruder(knows=AnyOf(any=4)), files(ORIGINAL, people=90))
    assert found["learned_linkage"].verdict is Verdict.UNKNOWN


def test_an_intruder_who_does_not_bind_is_reported() -> None:
    found = by_rule(Intruder(knows=AnyOf(any=4), binding=False), files(ORIGINAL))
    assert {finding.binding for finding in found.values()} == {False}


def test_without_an_intruder_there_is_no_finding() -> None:
    assert judge_partial_knowledge([], files(ORIGINAL), None) == []
