"""What holds of every attack: a file that tells nothing passes, the original fails, what cannot be played is UNKNOWN.

A new attack is added to `ATTACKS`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from policies.rules.attack_rule import AttackRule, PairedRule
from policies.rules.control_rules import ControlRule
from policies.rules.rules import AttackPolicyRule
from sluice.ground.errors import DataError
from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tasks.checks import advice_on, with_advice
from tests.golden import golden
from tests.policies.rules import attacked_people, linked_people, people_and_control
from tests.policies.rules.written_rules import documented
from tests.report.decided import misquoted

ILL = attacked_people.attacked
PEOPLE = attacked_people.ORIGINAL
TORN, VERBATIM = ILL(attacked_people.scrambled(PEOPLE)), ILL(PEOPLE)
MOVED = ILL(
    PEOPLE.assign(salary=PEOPLE["salary"] + 5000, illness=pd.Categorical(["gout"] * 600, attacked_people.ILLNESSES))
)
STRANGERS, OWN = (
    people_and_control.attacked(each) for each in (people_and_control.STRANGERS, people_and_control.ORIGINAL)
)
SHUFFLED, COPY = linked_people.SHUFFLED, linked_people.COPY
COMPARABLE = ("age", "weight", "size", "area")

# Each with its settings, a file that passes, and one that fails.
ATTACKS: list[tuple[str, dict[str, Any], Comparison, Comparison]] = [
    ("distance_linkage", {"limit": 0.05, "columns": COMPARABLE}, SHUFFLED, COPY),
    (
        "distance_linkage",
        {"limit": 0.05, "scenario": "average", "distance": "mahalanobis", "columns": COMPARABLE},
        SHUFFLED,
        COPY,
    ),
    ("distance_linkage", {"limit": 0.05, "scenario": "worst", "columns": ("age", "weight")}, SHUFFLED, COPY),
    ("probabilistic_linkage", {"limit": 0.05, "columns": COMPARABLE}, SHUFFLED, COPY),
    ("rank_swapping_linkage", {"limit": 0.05, "window": 0.02}, SHUFFLED, COPY),
    ("microaggregation_linkage", {"limit": 0.05}, SHUFFLED, COPY),
    ("interval_disclosure", {"limit": 0.3}, SHUFFLED, COPY),
    ("interval_disclosure", {"limit": 0.3, "by": "spread", "widths": (0.05,)}, SHUFFLED, COPY),
    ("linkage_score", {"limit": 0.5, "excess": 0.2, "columns": ("weight", "income")}, SHUFFLED, COPY),
    ("attribute_divergence", {"limit": 0.05}, MOVED, VERBATIM),
    ("data_invasion", {"excess": 0.1, "columns": ("illness",), "when_misled": "guess"}, TORN, VERBATIM),
    ("maximum_knowledge", {"limit": 0.25}, TORN, VERBATIM),
    ("maximum_knowledge", {"limit": 0.25, "of": "attributes"}, TORN, VERBATIM),
    ("attribute_inference", {"excess": 0.1, "trees": 5, "columns": ("illness",)}, TORN, VERBATIM),
    ("linkability", {"limit": 0.1, "known": (("age", "height"), ("wage", "sex")), "k": 5}, STRANGERS, OWN),
    ("singling_out", {"limit": 0.1}, STRANGERS, OWN),
    ("singling_out", {"limit": 0.1, "mode": "univariate"}, STRANGERS, OWN),
    ("inference", {"limit": 0.1}, STRANGERS, OWN),
    ("membership", {"limit": 0.1, "nearer": 0.55}, STRANGERS, OWN),
    ("rare_combinations", {"limit": 0.1, "sizes": (3,)}, STRANGERS, OWN),
    ("participant_inference", {"limit": 0.1}, STRANGERS, OWN),
    ("subset_inference", {"limit": 0.1}, STRANGERS, OWN),
]
_RULE: TypeAdapter[AttackRule] = TypeAdapter(AttackPolicyRule)
RULES = [(_RULE.validate_python({"rule": name} | settings), safe, unsafe) for name, settings, safe, unsafe in ATTACKS]
each_attack = pytest.mark.parametrize(
    ("rule", "safe", "unsafe"), RULES, ids=[f"{name} {at}" for at, (name, *_) in enumerate(ATTACKS)]
)
of_control, of_pairs = (
    pytest.mark.parametrize("rule", of, ids=[f"{rule.rule} {at}" for at, rule in enumerate(of)])
    for of in ([rule for rule, _, _ in RULES if isinstance(rule, kind)] for kind in (ControlRule, PairedRule))
)


_STATES = [(files.rng, files.rng.bit_generator.state) for _, *both in RULES for files in both]


@pytest.fixture(autouse=True)
def _generators_as_at_first() -> None:
    """Whatever was drawn by the tests before."""
    for generator, state in _STATES:
        generator.bit_generator.state = state


def verdicts(rule: AttackRule, files: Comparison) -> set[Verdict]:
    return {finding.verdict for finding in rule.find(files)}


def each_frame(files: Comparison, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Comparison:
    """With a change of every file of people, and the generator as at first."""
    names = ("original", "recoded", "masked", "holdout", "recoded_holdout")
    held = {name: frame for name in names if (frame := getattr(files, name)) is not None}
    return replace(files, rng=np.random.default_rng(0), **{name: change(frame) for name, frame in held.items()})


@each_attack
def test_a_file_that_tells_nothing_passes_and_the_original_fails(
    rule: AttackRule, safe: Comparison, unsafe: Comparison
) -> None:
    passed, failed = rule.find(safe), rule.find(unsafe)
    assert {finding.verdict for finding in passed} == {Verdict.PASS}, passed
    assert {finding.verdict for finding in failed} == {Verdict.FAIL}, failed
    for one, other in zip(passed, failed, strict=True):
        assert (other.rule, other.stage, other.binding) == (rule.rule, "attack", True)
        assert one.completed
        assert other.completed
        assert abs((other.observed or 0) - (one.observed or 0)) > 0.1
        golden.words(other.says)
    assert misquoted([*passed, *failed]) == []
    told = {*attacked_people.AREAS, *attacked_people.ILLNESSES, "h1", "nan"}
    assert not told & {word.strip(".,'") for finding in (*passed, *failed) for word in finding.says.split()}
    assert {each.advice for each in with_advice(failed)} == {rule.advice}


@each_attack
def test_nobody_to_attack_is_unknown_never_a_pass(rule: AttackRule, safe: Comparison, unsafe: Comparison) -> None:
    findings = rule.find(each_frame(unsafe, lambda frame: frame.iloc[:0]))
    assert {(finding.verdict, finding.completed) for finding in findings} == {(Verdict.UNKNOWN, 0)}
    golden(findings[0])
    assert advice_on(findings[0]) == f"{rule.needs} A waiver cannot excuse what was not measured."


@each_attack
def test_neither_the_order_of_the_records_nor_the_index_matters(
    rule: AttackRule, safe: Comparison, unsafe: Comparison
) -> None:
    def moved(frame: pd.DataFrame) -> pd.DataFrame:
        order = np.random.default_rng(1).permutation(len(frame))
        return frame.iloc[order].set_axis(np.arange(len(frame))[::-1] + 7)

    here, there = rule.find(each_frame(safe, lambda frame: frame)), rule.find(each_frame(safe, moved))
    assert [each.verdict for each in here] == [each.verdict for each in there]
    assert [each.observed for each in here] == pytest.approx([each.observed for each in there], abs=1e-12)


@each_attack
def test_the_example_in_the_documentation_judges(rule: AttackRule, safe: Comparison, unsafe: Comparison) -> None:
    example = documented(rule.rule)
    fewer = {"trees": 5} if hasattr(example, "trees") else {}  # the rest of the forest takes long
    findings = example.model_copy(update=fewer).find(unsafe)
    assert {finding.rule for finding in findings} == {rule.rule}
    assert [finding.says for finding in findings if finding.verdict is Verdict.UNKNOWN] == []


@each_attack
def test_it_says_what_it_asks(rule: AttackRule, safe: Comparison, unsafe: Comparison) -> None:
    golden(rule.describe())
    assert _RULE.validate_python(rule.model_dump(mode="json")) == rule


@of_pairs
def test_without_pairs_a_link_is_neither_right_nor_wrong(rule: PairedRule) -> None:
    (nobody,) = rule.find(replace(COPY, paired=False))
    assert nobody.verdict is Verdict.REVIEW
    golden(nobody)


@of_pairs
def test_without_variables_to_compare_it_is_unknown(rule: PairedRule) -> None:
    other = {name: each.model_copy(update={"role": Role.OTHER}) for name, each in linked_people.VARIABLES.items()}
    (nothing,) = rule.model_copy(update={"columns": None}).find(replace(COPY, variables=other, released=other))
    assert nothing.verdict is Verdict.UNKNOWN
    golden(nothing)


@of_pairs
def test_suppressing_everything_is_judged_or_unknown_but_never_an_error(rule: PairedRule) -> None:
    masked = COPY.masked.assign(**{name: COPY.masked[name].mask(COPY.masked.index >= 0) for name in COMPARABLE})
    found = verdicts(rule, replace(COPY, masked=masked.assign(income=np.nan)))
    assert found == {Verdict.UNKNOWN if rule.rule in ("interval_disclosure", "linkage_score") else Verdict.PASS}


@of_pairs
def test_other_columns_and_another_number_of_records_are_refused(rule: PairedRule) -> None:
    golden.refused(DataError, rule.model_copy(update={"columns": ("wait",)}).find, COPY)
    golden.refused(DataError, rule.find, replace(COPY, masked=COPY.masked[:9]))


@of_control
def test_without_a_control_nothing_is_known(rule: ControlRule) -> None:
    alone = people_and_control.attacked(people_and_control.STRANGERS, None)
    if rule.rule == "subset_inference":  # people are read off a file that they are not in
        assert verdicts(rule, alone) == {Verdict.PASS}
    else:
        (finding,) = rule.find(alone)
        assert finding.verdict is Verdict.UNKNOWN
        golden(finding)
    nobody = people_and_control.attacked(people_and_control.STRANGERS, people_and_control.CONTROL.iloc[:0])
    assert verdicts(rule, nobody) == {Verdict.UNKNOWN}


@pytest.mark.parametrize("name", ["linkability", "inference", "membership"])
def test_few_people_cannot_decide(name: str) -> None:
    rule = next(rule for rule, _, _ in RULES if rule.rule == name)
    few = people_and_control.attacked(people_and_control.STRANGERS, people_and_control.CONTROL.iloc[:15])
    assert Verdict.REVIEW in verdicts(rule, few)
