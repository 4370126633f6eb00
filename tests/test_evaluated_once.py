"""What stands for the evaluation of a masked file in most tests finds what it did, and evaluates every other file."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from unittest.mock import Mock, patch

import numpy as np
import pytest

from policies.policy import Policy
from sluice.masking.plan import apply_plan
from sluice.risk.linkage.map_rulers import MapLearners
from sluice.utility.comparison import Comparison
from tasks.release.records.record_findings import evaluate_file, risk_findings
from tests.evaluated_once import _UNMEASURED, evaluated_once, is_measured, played_once, without_maps
from tests.masking.survey import VARIABLES, step_of, survey

pytestmark = pytest.mark.chain

POLICY = {
    "name": "of few rules", "version": 1, "rules": [{"rule": "sample_uniques_share", "at_most": 0.5}],
    "approvals": {"count": 2, "roles": [], "valid_days": 30, "identity": "declared"},
}  # fmt: skip


def compared(seed: int = 1) -> Comparison:
    original = survey(120)[["income", "rent"]]
    variables = {name: VARIABLES[name] for name in original}
    step = step_of({"method": "additive_noise", "columns": ["income"], "amount": 0.1})
    masked, _ = apply_plan([step], original, variables, np.random.SeedSequence(seed))
    released = dict(step.released(variables))
    rng = np.random.default_rng(1)
    return Comparison(original, original, masked, None, variables, released, rng)


def test_the_same_file_is_not_evaluated_again_and_any_other_is(tmp_path: Path) -> None:
    policy = Policy.model_validate(POLICY)
    first = compared()
    found = evaluated_once(policy, first, first.variables, first.released, tmp_path)
    with patch("tests.evaluated_once.evaluate_file", side_effect=AssertionError("evaluated again")):
        again = compared()
        assert evaluated_once(policy, again, again.variables, again.released) is found
        with patch("tests.evaluated_once._known", {}):  # as in another process
            assert evaluated_once(policy, again, again.variables, again.released, tmp_path) == found
        renamed = Policy.model_validate(POLICY | {"version": 2, "description": "renamed"})
        assert evaluated_once(renamed, again, again.variables, again.released) is found
        others = [
            (policy, compared(2)),
            (policy, replace(compared(), rng=np.random.default_rng(2))),
            (policy, replace(compared(), unit="people")),
            (Policy.model_validate(POLICY | {"minimum_cell": 11}), compared()),
        ]
        for other, files in others:
            with pytest.raises(AssertionError, match="evaluated again"):
                evaluated_once(other, files, files.variables, files.released)


def test_what_is_not_asked_of_a_policy_is_asked_by_nobody_who_measures() -> None:
    """Else a policy that differs in it would be given what was found by another."""
    policy, files = Policy.model_validate(POLICY), compared()
    measured = {name: getattr(policy, name) for name in Policy.model_fields if name not in _UNMEASURED}
    bare = Mock(spec_set=list(measured), **measured)
    assert evaluate_file(bare, files, files.variables, files.released) == evaluate_file(
        policy, compared(), files.variables, files.released
    )
    assert list(risk_findings(bare, compared())) == list(risk_findings(policy, compared()))


def test_attacks_on_the_same_file_are_played_once_and_only_as_far_as_somebody_asks() -> None:
    played: list[int] = []

    def play(*_: object) -> Iterator[int]:
        for number in range(4):
            if number == 3:
                raise KeyboardInterrupt
            played.append(number)
            yield number

    policy = Policy.model_validate(POLICY)
    with patch("tests.evaluated_once._played", {}):
        assert list(islice(played_once(play, policy, compared()), 1)) == [0]
        assert list(islice(played_once(play, policy, compared()), 3)) == [0, 1, 2]
        assert played == [0, 1, 2]
        with pytest.raises(KeyboardInterrupt):
            list(played_once(play, policy, compared()))
        assert next(played_once(play, policy, compared())) == 0
        assert next(played_once(play, policy, compared(2))) == 0
    assert played == [0, 1, 2, 0, 0], "of what was stopped, and of another file, nothing is known"


@pytest.mark.parametrize(
    ("target", "measured"),
    [
        ("sluice.risk.classes.k_anonymity.k_anonymity", True),
        ("tasks.release.records.record_findings.check_masked", True),
        ("tasks.tuning.confirmation.DRAWS", False),
        ("tasks.publish.datetime", False),
        ("flows.follow_up.go_on", False),
    ],
)
def test_who_changes_a_measure_has_it_measured_and_who_changes_what_lies_around_does_not(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, target: str, measured: bool
) -> None:
    monkeypatch.setenv("SLUICE_HOME", "elsewhere")
    assert not is_measured(request.node, monkeypatch)
    monkeypatch.setattr(target, None)
    assert is_measured(request.node, monkeypatch) is measured


def test_maps_are_looked_for_again_when_the_last_evaluation_has_ended() -> None:
    maps = MapLearners.rulers
    with without_maps():
        with without_maps():
            pass
        assert MapLearners.rulers is not maps
    assert MapLearners.rulers is maps
