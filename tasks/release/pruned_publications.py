"""Publications whose data were deleted by rule: what they tell together with a new one nobody can measure any more."""

from collections.abc import Sequence

from policies.pruned_publications import judge_pruned
from sluice.custody.ledger import Entry, last
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.variables import NAMES, Variables
from sluice.ground.verdict import Finding
from tasks.release.earlier_releases import publications
from tasks.release.pruned import recorded_as_pruned
from tasks.release.release import DocumentedRelease, variables_from_json


def compare_with_pruned(release: DocumentedRelease) -> list[Finding]:
    """A finding on each publication, of the same data set or with a variable of this one, that is out of reach."""
    workspace, dataset = release.product.workspace, release.product.contract.dataset
    found = []
    for name, entries in publications(release).items():
        received = last(entries, State.RECEIVED)
        if received is None or not is_out_of_reach(workspace, entries):
            continue
        variables = variables_from_json(release.vault.verify(received.body["variables"], ".json").read_bytes())
        if received.body["dataset"] == dataset or _described(variables) & _described(release.staged_variables):
            found.append(name)
    return judge_pruned(found)


def is_out_of_reach(workspace: Workspace, entries: Sequence[Entry]) -> bool:
    """Whether anything of a release that a comparison would need was deleted by rule, and is not there."""
    masked = last(entries, State.MASKED)
    named = masked.body if masked else {}
    parts = [("data", ".parquet"), ("sample", ".rows")]
    if "csv" not in named:  # of tables
        parts = [("cells", ".npz"), ("published_cells", ".npz")]
    needed = {f"{named[part]}{suffix}" for part, suffix in parts if named.get(part)}
    received = last(entries, State.RECEIVED)
    if received is not None and "csv" in named:
        tables = (received.body[table] for table in ("data", "original", "holdout"))
        needed |= {f"{table['sha256']}.parquet" for table in tables if table}
    missing = {name for name in needed if not (workspace.vault.objects / name).is_file()}
    return bool(missing and missing & recorded_as_pruned(workspace))


def _described(variables: Variables) -> set[str]:
    return {name for name, variable in variables.items() if variable.role not in NAMES}
