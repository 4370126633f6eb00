"""Inference as a rule."""

import numpy as np
import pandas as pd

from policies.rules.control_rules import Inference
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.people_and_control import ORIGINAL, STRANGERS, attacked, without_roles


def test_an_attack_that_does_worse_than_guessing_is_unknown() -> None:
    """A published tool reports a risk of 0 with a tight interval."""
    turned = pd.Categorical(np.where(STRANGERS["area"] == "a", "no", "yes"), categories=["yes", "no", "unsure"])
    (finding,) = Inference(limit=0.1, secrets=("ill",), known=("area",)).find(attacked(STRANGERS.assign(ill=turned)))
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)


def test_one_secret_that_cannot_be_guessed_does_not_hide_another() -> None:
    findings = Inference(limit=0.1, known=("ill",)).find(attacked(ORIGINAL))
    assert [finding.scope for finding in findings] == ["wage by ill", "ill"]
    assert findings[1].verdict is Verdict.UNKNOWN


def test_without_a_key_or_a_sensitive_variable_nothing_is_guessed() -> None:
    (finding,) = Inference(limit=0.1).find(without_roles(STRANGERS))
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)
