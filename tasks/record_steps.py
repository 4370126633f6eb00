"""The steps of a release of records between validation and report: check, mask, check again, evaluate.

The policy's rules are checked on the original, where they tell the risk, and on the masked file, where they must hold.
Masking applies the plan, puts the records in a random order and stages the file that would be published. The evaluation
measures disclosure risk by the reference standard and by attacks, and what masking cost the data's user.
"""

from functools import partial

import numpy as np
import pandas as pd

from policies.formula_cells import formula_cells
from policies.power import judge_power
from sluice.custody.states import State
from sluice.ground.machine import threads
from sluice.ground.parallel_jobs import in_threads
from sluice.ground.verdict import Finding
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.generalized_levels import GeneralizedLevels
from sluice.publication.copies import COPIES
from sluice.publication.records_file import write_csv, write_parquet
from sluice.publication.spreadsheet_text import escaped_frame
from sluice.sources.permission import permitted_file
from tasks.release.crashed_measures import findings_of
from tasks.release.records.record_editions import compare_publications, stays_together
from tasks.release.records.record_findings import Evaluation, check_masked_and_locate, check_original, evaluate_file
from tasks.release.records.record_variables import (
    RecordsRelease,
    declared_variables,
    described_variables,
    noise_keys,
    original_variables,
    read_original,
    released_variables,
)
from tasks.release.records.release_comparison import FileToJudge
from tasks.release.records.stored_masked_file import MaskedFile, row_order
from tasks.release.running_step import remark
from tasks.release.tables.files_of_records import compare_with_tables
from tasks.step import step


@step
def mask(release: RecordsRelease) -> FileToJudge:
    """The file, with the frames by which the next steps judge it."""
    frame, vault = read_original(release, release.original), release.vault
    plan, seed = release.product.definition.plan, release.seeds().plan
    rules = release.product.contract.record_rules
    masked, carried_out = apply_plan(plan, frame, original_variables(release), seed, noise_keys(release), rules)
    records = len(frame)
    del frame
    if release.product.definition.move_together is not None:
        masked = masked[stays_together(release, masked)]
    kept = np.sort(masked.index.to_numpy(dtype=np.int64))
    sample = None if len(kept) == records else vault.keep_bytes(kept.astype("<i8").tobytes(), ".rows")
    # The order of the records would link each to its original as surely as a name does.
    masked = masked.loc[row_order(release, kept)].reset_index(drop=True)
    sha256, csv_sha256 = in_threads([partial(_parquet, release, masked), partial(_csv, release, masked)], threads())
    copies: dict[str, str] = {name: _copy(release, name, sha256) for name in release.product.definition.copies}
    seed_name = release.seed_name  # of the seed; it tells nothing of the seed itself
    files = MaskedFile(sha256, csv_sha256, len(masked), carried_out, sample, copies)
    release.record(State.MASKED, **files.hashes, rows=len(masked), sample=sample, seed=seed_name)
    return FileToJudge.of(release, files)


def _parquet(release: RecordsRelease, masked: pd.DataFrame) -> str:
    with release.vault.scratch(".parquet") as path:
        write_parquet(masked, path, released_variables(release))
        return release.vault.keep(path, ".parquet")


def _csv(release: RecordsRelease, masked: pd.DataFrame) -> str:
    with release.vault.scratch(".csv") as path:
        write_csv(escaped_frame(masked) if release.product.policy.formula_cells == "escape" else masked, path)
        return release.vault.keep(path, ".csv")


def _copy(release: RecordsRelease, name: str, sha256: str) -> str:
    """The SHA-256 of a copy for a statistics package, made from the file that is judged.

    Its categories are those that the documents name: others are in no list of labels.
    """
    definition, copy, vault = release.product.definition, COPIES[name], release.vault
    with vault.scratch(copy.ending) as path:
        copy.write(vault.path(sha256, ".parquet"), path, described_variables(release.product), definition.title)
        return vault.keep(path, copy.ending)


@step
def check(release: RecordsRelease, masked: FileToJudge | None = None) -> list[Finding]:
    """One finding or more for each rule; those on the original are reported and do not decide.

    On the original also what can be told of so many people, which whoever waits hears at once.
    """
    policy = release.product.policy
    if masked is None:
        original, variables = read_original(release, release.original), original_variables(release)
        alone = release.product.contract.numbers_alone
        aside = None if release.holdout is None else release.holdout.rows
        power = judge_power(policy, original, variables, release.unit, aside)
        for finding in power:
            remark(finding.says)
        return power + check_original(policy, original, variables, release.unit, permitted_file, alone)
    files = masked.frames.read()
    return [
        *check_masked_and_locate(policy, files, permitted_file),
        *policy.overlooked(files.released),
        *formula_cells(files.masked, policy.formula_cells),
        *findings_of("several_publications", "masked", lambda: compare_publications(release)),
        *findings_of("records_and_tables", "masked", lambda: compare_with_tables(release)),
    ]


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
