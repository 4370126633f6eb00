"""What a search came to: where it is written, and the words on a plan that comes near to a limit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from sluice.ground.errors import DataError, DocumentError
from tasks.tuning.confirmation import Confirmation, Judgement, Pruned
from tasks.tuning.journal import Found, TrialRecord
from tasks.tuning.trial import Outcome
from tasks.tuning.tuning import Tuned, output_of
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import space


def tuned(margin: float, *front: tuple[float, float]) -> Tuned:
    """A search whose recommended plan has a margin, and the losses and margins of the plans that passed."""
    ground: Any = None
    outcome = Outcome(end="passes", loss=0.3, margin=margin)
    judgement = Judgement(on="all records", records=600, outcome=outcome)
    trials = tuple(
        TrialRecord(number=number, point={"k": number}, outcome=Outcome(end="passes", loss=loss, margin=has))
        for number, (loss, has) in enumerate(front)
    )
    left = Pruned(space().definition(), (0,), (), (judgement, replace_margin(judgement, 0.4)), 0.3)
    return Tuned(ground, Found(trials), Confirmation((), trials[0]), None, left)


def replace_margin(judgement: Judgement, margin: float) -> Judgement:
    return judgement.model_copy(update={"outcome": judgement.outcome.model_copy(update={"margin": margin})})


def test_a_narrow_margin_is_said_in_words_with_the_plan_of_the_front_that_has_a_wider_one() -> None:
    found = tuned(0.01, (0.3, 0.01), (0.31, 0.015), (0.35, 0.08), (0.5, 0.2))
    assert found.warning is not None
    golden(found.warning)
    assert tuned(0.03, (0.3, 0.03), (0.5, 0.2)).warning is None


def test_where_no_plan_has_a_wide_margin_the_widest_is_named_or_that_there_is_none() -> None:
    golden(tuned(0.01, (0.3, 0.01), (0.4, 0.018)).warning or "")
    golden(tuned(0.01, (0.3, 0.01)).warning or "")
    found = tuned(0.01, (0.3, 0.01))
    assert replace(found, left=None).warning is None  # nothing is recommended


def test_the_recommended_plan_overwrites_nothing(tmp_path: Path) -> None:
    definition, policy, elsewhere = tmp_path / "plan.yaml", tmp_path / "policy.yaml", tmp_path / "others"
    definition.touch()
    policy.touch()
    elsewhere.mkdir()
    tuned = tmp_path / "plan-tuned.yaml"
    assert output_of(definition, None) == tuned
    golden.refused(DataError, output_of, definition, definition)
    golden.refused(DataError, output_of, definition, policy)
    tuned.symlink_to(tmp_path / "nowhere.yaml")
    golden.refused(DataError, output_of, definition, None)
    for outside in (elsewhere / "plan.yaml", tmp_path / ".." / "plan.yaml"):
        golden.refused(DocumentError, output_of, definition, outside)
