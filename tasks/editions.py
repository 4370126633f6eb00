"""Editions: whether this release, held beside one that was published before, would give single people away."""

from sluice.custody.ledger import Entry
from sluice.custody.states import State, state_of
from sluice.publication.table_file import read_typed
from sluice.risk.classes.differencing import changed_records
from sluice.variables import NAMES
from sluice.verdict import Finding, Verdict
from tasks.case import Release, last, variables_from_json

_WERE_PUBLIC = (State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)


def few_changes(release: Release) -> list[Finding]:
    """One finding: with fewer changed records than the policy's minimum cell since an earlier edition, it is REVIEW.

    Looked at are the releases of the same data set that are or were public, by the variables released now. The same
    data under another plan count as no change: the report tells of earlier attempts.
    """
    smallest = release.case.policy.minimum_cell
    earlier = _published(release)
    few = [entry.release for entry in earlier if 0 < _changed(release, entry) < smallest]
    verdict, says = Verdict.PASS, "No earlier edition of the data set was published that this one could be held beside."
    if earlier:
        says = f"None of {len(earlier)} earlier editions differs from this one in a few records only."
    if few:
        verdict = Verdict.REVIEW
        says = (
            f"Fewer than {smallest} records changed since {', '.join(few)} was published: who compares the two files "
            "sees whose they are, and what changed. Wait until more has changed."
        )
    return [Finding(rule="few_changes", verdict=verdict, stage="masked", says=says, attempted=len(earlier))]


def _published(release: Release) -> list[Entry]:
    """Of each other release of the same data set that the public could read, the entry that tells its data."""
    histories = release.case.workspace.ledger.histories().items()
    public = (
        entries
        for other, entries in histories
        if other != release.id and state_of(entry.event for entry in entries) in _WERE_PUBLIC
    )
    received = (last(entries, State.RECEIVED) for entries in public)
    return [entry for entry in received if entry and entry.body.get("dataset") == release.case.contract.dataset]


def _changed(release: Release, earlier: Entry) -> int:
    vault = release.case.workspace.vault
    variables = variables_from_json(vault.verify(earlier.body["variables"], ".json").read_bytes())
    columns = [
        name
        for name, variable in release.variables.items()
        if name in variables and name in release.released and variable.role not in NAMES
    ]
    before = read_typed(vault.verify(earlier.body["data"]["sha256"], ".parquet"), variables, columns)
    return changed_records(before, release.read_staged(columns))
