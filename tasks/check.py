"""Check: the policy's rules on a table. On the original they tell the risk, on the masked file what must hold."""

from policies.formula_cells import formula_cells
from sluice.ground.verdict import Finding
from sluice.sources.permission import permitted_file
from tasks.release.findings import findings_of
from tasks.release.records.comparison import FileToJudge
from tasks.release.records.editions import compare_publications
from tasks.release.records.judgement import check_masked_and_locate, check_original
from tasks.release.records.variables import RecordsRelease, original_variables, read_original
from tasks.release.tables.files_of_records import compare_with_tables
from tasks.step import step


@step
def check(release: RecordsRelease, masked: FileToJudge | None = None) -> list[Finding]:
    """One finding or more for each rule; those on the original are reported and do not decide."""
    policy = release.product.policy
    if masked is None:
        original = read_original(release, release.original)
        return check_original(policy, original, original_variables(release), release.unit, permitted_file)
    files = masked.frames.read()
    return [
        *check_masked_and_locate(policy, files, permitted_file),
        *policy.overlooked(files.released),
        *formula_cells(files.masked, policy.formula_cells),
        *findings_of("several_publications", "masked", lambda: compare_publications(release)),
        *findings_of("records_and_tables", "masked", lambda: compare_with_tables(release)),
    ]
