"""Editions of a file: whether this one, compared with one that was published before, gives single people away."""

from collections.abc import Sequence

from sluice.custody.ledger import Entry
from sluice.custody.states import State
from sluice.publication.records_file import read_typed
from sluice.risk.classes.differencing import changed_records
from sluice.variables import NAMES
from sluice.verdict import Finding, Verdict
from tasks.release.earlier_releases import earlier_publications
from tasks.release.records.variables import RecordsRelease, original_variables, released_variables
from tasks.release.release import last, variables_from_json


def few_changes(release: RecordsRelease) -> list[Finding]:
    """One finding: with fewer changed records than the policy's minimum cell since an earlier edition, it is REVIEW.

    Looked at are the releases of the same data set that are or were public, by the variables released now. The same
    data under another plan count as no change: the report names earlier attempts.
    """
    smallest = release.product.policy.minimum_cell
    earlier = earlier_publications(release)
    few = [name for name, entries in earlier.items() if 0 < _changed(release, entries) < smallest]
    verdict, says = (
        Verdict.PASS,
        "No earlier edition of the data set was published that this one could be compared with.",
    )
    if earlier:
        says = f"None of {len(earlier)} earlier editions differs from this one in a few records only."
    if few:
        verdict = Verdict.REVIEW
        says = (
            f"Fewer than {smallest} records changed since {', '.join(few)} was published: who compares the two files "
            "sees whose they are, and what changed. Wait until more has changed."
        )
    return [Finding(rule="few_changes", verdict=verdict, stage="masked", says=says, attempted=len(earlier))]


def _changed(release: RecordsRelease, earlier: Sequence[Entry]) -> int:
    received = last(earlier, State.RECEIVED)
    assert received is not None
    variables = variables_from_json(release.vault.verify(received.body["variables"], ".json").read_bytes())
    released = released_variables(release)
    columns = [
        name
        for name, variable in original_variables(release).items()
        if name in variables and name in released and variable.role not in NAMES
    ]
    before = read_typed(release.vault.verify(received.body["data"]["sha256"], ".parquet"), variables, columns)
    return changed_records(before, release.read_staged(columns))
