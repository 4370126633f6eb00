from importlib.metadata import distribution

import numpy as np
import pandas as pd
import pytest

from policies.standard.hidden_names import judge_hidden_names
from policies.standard.known_methods import _says, judge_transparency
from policies.standard.reference_standard import TransparencyLimits
from sluice.ground import extensions
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.masking_step import MaskingStep
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.rounding import Rounding
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.masking.synthesis.sequential_trees import SequentialTrees
from sluice.report.wording import quoted
from sluice.risk.measurement import Measurement
from sluice.risk.transparency.attack import Leak, NoAttack
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.red_team.files import files_of
from tests.report.decided import misquoted

NAMES = tuple("abcdefghij")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER) for name in NAMES}


def people(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(rng.standard_normal((n, 1)) + rng.standard_normal((n, len(NAMES))), columns=list(NAMES))


def judged(*steps: MaskingStep, limits: TransparencyLimits | None = None, n: int = 400) -> list[Finding]:
    original = people(n)
    masked, carried_out = apply_plan(steps, original, VARIABLES, np.random.SeedSequence(1))
    rng = np.random.default_rng(0)
    return judge_transparency(
        limits or TransparencyLimits(),
        Comparison(original, original, masked, None, VARIABLES, VARIABLES, rng, carried_out=carried_out),
    )


def test_windows_of_several_steps_are_intersected() -> None:
    steps = [
        RankSwapping(columns=NAMES[:3], window=0.05),
        RankSwapping(columns=NAMES[3:6], window=0.1),
        RankSwapping(columns=NAMES[6:], window=0.15),
    ]
    (finding,) = judged(*steps)
    assert finding.verdict is Verdict.FAIL
    assert finding.scope == f"rank_swapping: {', '.join(NAMES)}"
    assert finding.observed > 0.5
    golden(finding.says)


def test_a_single_variable_swapped_widely_passes() -> None:
    (finding,) = judged(RankSwapping(columns=("a",), window=0.3))
    assert finding.verdict is Verdict.PASS


def test_a_policy_sets_the_limit_and_whether_it_binds() -> None:
    allowed = TransparencyLimits(identified=1, confident=1)
    (finding,) = judged(RankSwapping(columns=NAMES, window=0.05), limits=allowed)
    assert finding.verdict is Verdict.PASS
    (finding,) = judged(RankSwapping(columns=NAMES, window=0.05), limits=TransparencyLimits(binding=False))
    assert (finding.verdict, finding.binding) == (Verdict.FAIL, False)


def test_where_some_people_are_attacked_the_worse_end_of_the_interval_decides() -> None:
    (finding,) = judged(RankSwapping(columns=("a", "b"), window=0.3), limits=TransparencyLimits(people=100), n=1000)
    assert (finding.observed, finding.completed) == (0, 100)
    assert finding.verdict is Verdict.REVIEW  # none of a hundred may be more than two in a hundred
    golden(finding.says)


def test_of_a_few_people_it_says_only_that_they_are_few() -> None:
    limits = TransparencyLimits(identified=1, confident=0.001)
    (finding,) = judged(RankSwapping(columns=NAMES[:2], window=0.1), limits=limits)
    assert finding.verdict is Verdict.FAIL  # somebody is found surely
    golden(finding.says)
    assert finding.observed is None


def test_a_file_masked_nobody_knows_how_says_so() -> None:
    frame = people()
    files = Comparison(frame, frame, frame, None, VARIABLES, VARIABLES, np.random.default_rng(0))
    (finding,) = judge_transparency(TransparencyLimits(), files)
    assert (finding.verdict, finding.binding) == (Verdict.REVIEW, False)


def test_methods_that_leave_nothing_to_attack_pass_and_say_so() -> None:
    original = people()
    steps = [Rounding(columns=("a",), base=0.5)]
    masked, carried_out = apply_plan(steps, original, VARIABLES, np.random.SeedSequence(1))
    rng = np.random.default_rng(0)
    files = Comparison(masked, masked, masked, None, VARIABLES, VARIABLES, rng, carried_out=carried_out)
    (finding,) = judge_transparency(TransparencyLimits(), files)
    assert finding.verdict is Verdict.PASS
    golden.words(finding.says)


def test_an_attack_that_cannot_be_played_is_unknown() -> None:
    (finding,) = judged(SequentialTrees(columns=NAMES), n=30)
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.completed == 0
    golden.words(finding.says)


def test_values_computed_from_noise_are_said_without_a_person() -> None:
    linkage, filtering = judged(AdditiveNoise(columns=NAMES, amount=0.25))
    golden.words(linkage.says)
    golden(filtering.says)


@pytest.mark.parametrize(("gain", "code"), [(-0.2, "participation_none"), (0.2, "participation")])
def test_who_is_right_no_more_often_about_participants_is_said_to_be_so(gain: float, code: str) -> None:
    leak = Leak("participation", Measurement(value=gain, attempted=200, completed=200, interval=(gain, gain)), "")
    files = Comparison(people(), people(), people(), None, VARIABLES, VARIABLES, np.random.default_rng(1))
    (said,) = _says(TransparencyLimits(), leak, NAMES, files)
    assert said.code == f"transparency.{code}"
    golden(said.text)


def test_the_figure_that_decides_is_said_first() -> None:
    both = [RankSwapping(columns=NAMES, window=0.05)]
    for allowed in ({"identified": 1.0}, {"confident": 1.0}):
        (finding,) = judged(*both, limits=TransparencyLimits(**allowed))
        first, _ = finding.says.split("; ")
        assert f"({100 * (finding.limit or 0):.3g} % may be" in first
    assert misquoted(judged(*both)) == []
    (finding,) = judged(*both)
    assert quoted(finding, 9) == f"Transparency: is {finding.says.split(' is ')[1].split('; ')[0]}."


@pytest.mark.parametrize("field", ["identified", "confident", "reconstructed"])
def test_a_limit_is_a_share(field: str) -> None:
    golden.refused(ValueError, TransparencyLimits, **{field: 20})


def test_who_is_not_told_the_method_guesses() -> None:
    original = people()
    shared = 3 * np.random.default_rng(7).normal(size=(20, len(NAMES)))
    masked = original.round(3) + shared[np.arange(len(original)) % 20].round(3)
    unknown, finding = judge_transparency(
        TransparencyLimits(),
        Comparison(original.round(3), original.round(3), masked, None, VARIABLES, VARIABLES, np.random.default_rng(0)),
    )
    assert (unknown.code, unknown.binding) == ("transparency.method_not_known", False)
    assert (finding.verdict, finding.binding) == (Verdict.FAIL, True)
    golden(finding.says)


class Secret(AdditiveNoise):
    """Of another distribution, which says of no attack."""

    def attacks(self) -> tuple[NoAttack, ...]:
        return (NoAttack("nobody knows one"),)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extensions._DISTRIBUTIONS, Secret, distribution("numpy"))


def test_a_method_of_others_without_an_attack_needs_a_decision(offered: None) -> None:
    found = judged(Secret(columns=NAMES[:2], amount=0.5), Rounding(columns=NAMES[2:], base=10))
    assert (found[0].code, found[0].verdict, found[0].binding) == ("transparency.not_declared", Verdict.REVIEW, True)
    golden(found[0].says)


def test_columns_that_a_method_of_others_made_are_looked_at(offered: None) -> None:
    rng = np.random.default_rng(2)
    frame = people()[["a", "b"]].assign(number=rng.permutation(400) * 1.0)
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in frame}
    masked = frame.assign(number=frame["number"] * 741_457 % 1_000_003)
    codes = [
        judge_hidden_names(files_of(frame, masked, variables, carried_out=(step(columns=("number",), amount=1.0),)))[
            0
        ].code
        for step in (Secret, AdditiveNoise)
    ]
    assert codes == ["hidden_names.found", "hidden_names.by_plan"]
