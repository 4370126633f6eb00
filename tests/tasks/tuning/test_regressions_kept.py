"""What became of regressions in a masked file."""

from dataclasses import replace
from unittest.mock import patch

from sluice.utility.analyses.asked_analyses import Analyses, ModelAnalysis
from tasks.tuning import regressions_kept as module
from tasks.tuning.regressions_kept import analyses_loss, worst_of
from tasks.tuning.trial import files_of_trial
from tests.tasks.tuning.house_of_plans import records, space


def asked() -> Analyses:
    model = ModelAnalysis(name="income", kind="linear", formula="income ~ age + sex")
    return Analyses(models=(model,))


def test_an_unchanged_file_loses_nothing_and_a_removed_variable_loses_its_coefficient() -> None:
    known = records()

    def loss(*columns: str) -> module.AnalysesLoss:
        plan = space([{"method": "removal", "columns": list(columns)}]).definition()
        return analyses_loss(asked(), files_of_trial(plan, known, (1,)))

    kept, lost = loss("household"), loss("household", "age")
    assert (kept.worst, kept.holds, kept.lost) == (0, kept.of, 0)
    assert kept.of == 1
    assert lost.lost > 0
    assert lost.holds < kept.holds


def test_a_coefficient_that_moves_by_more_than_the_limit_does_not_hold() -> None:
    known = records()
    plan = space([{"method": "rank_swapping", "columns": ["income"], "window": 0.5}]).definition()
    files = files_of_trial(plan, known, (1,))
    found = analyses_loss(asked(), files)
    assert found.where.endswith(" in income ~ age + sex")
    assert 10 <= found.behind <= len(files.original)
    assert worst_of([analyses_loss(asked(), replace(files, masked=files.recoded)), found]) == found
    for limit, holds in ((found.worst * 1.01, 1), (found.worst * 0.99, 0)):
        with patch.object(module, "HOLDS", limit):
            assert analyses_loss(asked(), files).holds == holds


def test_a_coefficient_that_no_report_shows_is_not_asked_for() -> None:
    """Where more people are asked for than there are, none is."""
    plan = space([{"method": "removal", "columns": ["household", "age"]}]).definition()
    files = files_of_trial(plan, records(), (1,))
    assert analyses_loss(asked(), files).lost > 0
    none = analyses_loss(asked(), replace(files, minimum_cell=len(files.original)))
    assert (none.of, none.holds, none.lost) == (0, 0, 0)


def test_a_trial_is_judged_by_the_analyses_that_the_definition_names() -> None:
    """As its release is; without, those that a report drafts would be held against it."""
    plan = space([{"method": "removal", "columns": ["household", "age"]}]).definition()
    named = plan.model_copy(update={"analyses": asked()})
    assert files_of_trial(named, records(), (1,)).analyses == asked() != plan.analyses
