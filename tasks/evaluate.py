"""Evaluate: disclosure risk by the reference standard and by attacks, and what masking cost the data's user."""

from sluice.masking.recoding.generalized_levels import GeneralizedLevels
from tasks.release.records.comparison import FileToJudge
from tasks.release.records.judgement import Evaluation, evaluate_file
from tasks.release.records.variables import RecordsRelease, declared_variables, described_variables
from tasks.step import step


@step
def evaluate(release: RecordsRelease, masked: FileToJudge) -> Evaluation:
    """The last to need the frames, which it lets go."""
    product = release.product
    # The documents' variables hold no category that only the data have: the report names those that are common.
    described = described_variables(product)
    for step_done in masked.carried_out:
        if isinstance(step_done, GeneralizedLevels):
            described = step_done.only_shown(described)
    return evaluate_file(product.policy, masked.frames.take(), declared_variables(product), described)
