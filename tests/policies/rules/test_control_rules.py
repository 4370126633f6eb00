"""Singling out as a rule.

Linkability as a rule.

Inference as a rule.
"""

import numpy as np
import pandas as pd

from policies.rules.control_rules import Inference, Linkability, SinglingOut
from sluice.ground.errors import DataError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.rules.people_and_control import (
    CONTROL,
    KEY,
    ORIGINAL,
    STRANGERS,
    VARIABLES,
    attacked,
    without_roles,
)


def test_a_file_that_describes_nobody_is_unknown() -> None:
    constant = pd.concat([ORIGINAL.iloc[:1]] * 100)
    (finding,) = SinglingOut(limit=0.1).find(attacked(constant))
    assert finding.verdict is Verdict.UNKNOWN
    assert (finding.attempted, finding.completed) == (2000, 0)
    golden.words(finding.says)


def test_released_columns_that_the_original_lacks_are_named() -> None:
    more = VARIABLES | {"area=a": Variable(name="area=a", kind="continuous")}
    case = Comparison(**{**vars(attacked(STRANGERS.assign(**{"area=a": 0.5}))), "released": more})
    (finding,) = SinglingOut(limit=0.1).find(case)
    assert finding.verdict is Verdict.PASS
    golden.words(finding.says)


def test_columns_that_are_missing_are_named() -> None:
    golden.refused(DataError, SinglingOut(limit=0.1, columns=("hight", "age", "sex")).find, attacked(STRANGERS))


def test_an_attack_that_does_no_better_than_guessing_never_passes() -> None:
    """Height and sex tell next to nothing of age and area, in any file."""
    (finding,) = Linkability(limit=0.1).find(attacked(STRANGERS))
    assert finding.scope == "height, sex to age, area"
    assert finding.verdict is Verdict.REVIEW
    golden.words(finding.says)


def test_recoded_columns_are_compared_in_their_released_categories() -> None:
    """Age in groups, with the original's own sexes and areas: the original must be looked at in the same groups."""
    groups = ("under 40", "40 to 59", "60 or more")
    released = VARIABLES | {"age": Variable(name="age", kind="ordinal", role=KEY, categories=groups)}

    def recoded(frame: pd.DataFrame) -> pd.DataFrame:
        codes = np.digitize(frame["age"].to_numpy(float), [40, 60])
        return frame.assign(age=pd.Categorical.from_codes(codes, categories=groups, ordered=True))

    case = Comparison(
        original=ORIGINAL, recoded=recoded(ORIGINAL), masked=recoded(ORIGINAL), holdout=CONTROL, variables=VARIABLES,
        released=released, rng=np.random.default_rng(0), recoded_holdout=recoded(CONTROL),
    )  # fmt: skip
    (finding,) = Linkability(limit=0.1, known=(("age", "height"), ("wage", "sex"))).find(case)
    assert finding.verdict is Verdict.FAIL
    assert finding.observed > 0.9


def test_fewer_than_two_quasi_identifiers_link_nothing() -> None:
    (finding,) = Linkability(limit=0.1).find(without_roles(STRANGERS))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)


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
