"""Evaluate: disclosure risk by the reference standard and by attacks, and what masking cost the data's user."""

from tasks.release.records.comparison import compared
from tasks.release.records.judgement import Evaluation, evaluate_file
from tasks.release.records.masked_file import MaskedFile
from tasks.release.records.variables import RecordsRelease, declared_variables, described_variables
from tasks.step import step


@step
def evaluate(release: RecordsRelease, masked: MaskedFile) -> Evaluation:
    product = release.product
    # The documents' variables hold no category that only the data have: the report names those that are common.
    return evaluate_file(
        product.policy, compared(release, masked), declared_variables(product), described_variables(product)
    )
