"""What can be told of so many people, before anything is masked: by the shipped policies."""

import numpy as np
import pandas as pd
import pytest

from policies.policy import Policy, load_policy, shipped_policies
from policies.power import FileSize, figures, judge_power
from sluice.ground.variables import Variable
from sluice.ground.verdict import Finding, Verdict
from tests.golden import golden

VARIABLES = {f"x{at}": Variable(name=f"x{at}", kind="continuous") for at in range(12)}
HOUSE = Variable(name="house", kind="text", role="household")


def policy(name: str) -> Policy:
    return load_policy(shipped_policies()[name])


def told(name: str, records: int, households: int | None = None, aside: int | None = None) -> Finding:
    frame, variables = pd.DataFrame({name: np.zeros(records) for name in VARIABLES}), VARIABLES
    if households:
        frame["house"] = [f"h{row % households}" for row in range(records)]
        variables = {**VARIABLES, "house": HOUSE}
    (finding,) = judge_power(policy(name), frame, variables, "people", aside)
    assert (finding.stage, finding.binding) == ("original", False)
    return finding


def unable(name: str, records: int, units: int | None = None) -> set[str]:
    held = policy(name)
    size = FileSize(records, units or records).of_all(records, held.reference_standard)
    return {each.rule for each in figures(held, size, 12) if not each.decides}


@pytest.mark.parametrize(
    ("name", "records", "units", "rules"),
    [
        ("small-file", 300, None, set()),
        ("public-use-file", 1000, None, set()),
        ("public-use-file", 900, None, {"reference_size"}),
        ("public-use-file", 1200, 400, set()),
        ("public-use-file", 1200, 150, {"learned_claims"}),  # 0 of 150 households: less than 2.6 %
        ("public-use-business", 834, None, set()),
        ("public-use-business", 300, None, {"reference_size", "learned_linkage", "learned_claims"}),
        ("synthetic-file", 3000, None, {"participant_inference", "subset_inference"}),
        ("synthetic-file", 10_000, None, set()),
    ],
)
def test_who_can_decide(name: str, records: int, units: int | None, rules: set[str]) -> None:
    assert unable(name, records, units) == rules


def test_a_file_that_can_be_judged_is_told_by_which_truth_it_passes() -> None:
    finding = told("public-use-file", 3000)
    assert finding.verdict is Verdict.PASS
    golden(finding.says)


def test_where_too_few_are_set_aside_the_size_and_other_policies_are_named() -> None:
    finding = told("synthetic-file", 2400, aside=600)
    assert finding.verdict is Verdict.REVIEW
    golden(finding.says)
    assert "public-use-file" in finding.says
    needed = next(note.data["needed"] for note in finding.notes if note.code == "power.cannot")
    assert unable("synthetic-file", needed) == set()
    assert unable("synthetic-file", int(0.9 * needed))


def test_households_are_counted_and_not_their_members() -> None:
    finding = told("public-use-file", 1200, households=150)
    assert finding.verdict is Verdict.REVIEW
    golden.words(finding.says)
    assert told("public-use-file", 1200, households=1200).verdict is Verdict.PASS


def test_with_a_handful_no_shipped_policy_can_decide() -> None:
    golden(told("public-use-file", 60).says)


@pytest.mark.parametrize("name", ["public-use-file", "synthetic-file"])
def test_an_empty_file_is_no_file_that_can_be_judged(name: str) -> None:
    finding = told(name, 0, aside=0)
    assert finding.verdict is Verdict.REVIEW
    assert {"power.nothing_aside", "power.cannot"} <= {finding.code, *(note.code for note in finding.notes)}


def test_a_policy_without_a_standard_has_no_interval() -> None:
    rules_alone = policy("public-use-file").model_copy(update={"reference_standard": None})
    assert judge_power(rules_alone, pd.DataFrame({"x0": [1.0]}), {"x0": VARIABLES["x0"]}, "people", None) == []


def test_a_file_without_pairs_is_not_promised_intruders_who_learned() -> None:
    size = FileSize(3000, 3000)
    assert figures(policy("public-use-file"), size, 12, paired=False) == []
