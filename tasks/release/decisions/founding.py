"""The founding of an office: its roster as a file, the documents that come with it, and who can do what afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from policies.decision_table import OFFICE_DECISIONS
from policies.people import Person, Roster
from policies.policy import Policy, shipped_policies
from sluice.custody.states import ADOPTED
from sluice.ground.durable import write_new
from sluice.settings import settings
from sluice.sources.connections import connections_file
from tasks.release.decisions.office import read_document

_ROSTER = OFFICE_DECISIONS["roster"]
_HEADER = """\
# The people of this office. A change counts once {people} of them, one of them with the role {head}, have run:
#   sluice adopt {file}
# identity: the least by which they are known. key: they sign; account: the account of the system; declared: a name that
# is typed is believed. keys: lines of their .pub files (who has none: sluice key new).
"""

_CONNECTIONS = """\
# The databases, and the folders of files, that releases may be read from; see docs/deployment.md, "What may be read".
# Only the account that runs Sluice, or root, may write to this file.
connections: {}    # replace {} by such lines:
#  warehouse:
#    url: postgresql://reader:${WAREHOUSE_PASSWORD}@warehouse.internal/house?sslmode=verify-full
#    secrets: [WAREHOUSE_PASSWORD]    # variables of the environment that may stand in the url, and no others
#    schemas: [survey]                # may be read whole; or one by one: tables: [survey.fair]
#    queries: false                   # true: definitions may write a SELECT over them
# Without this line, files are read in the definition's own folder and in the current one:
# files: [/srv/incoming]
"""


def write_roster(roster: Roster, file: Path, named: Path | None = None) -> None:
    """Write a roster with comments. Raises FileExistsError.

    named : where it will lie, when not where it is written
    """
    header = _HEADER.format(people=_ROSTER.people, head=_ROSTER.role, file=named or file)
    content = roster.model_dump(mode="json", exclude_defaults=True, exclude={"identity"})
    text = yaml.safe_dump(
        {"identity": roster.identity, **content},
        sort_keys=False,
        default_flow_style=None,
        allow_unicode=True,
        width=4096,
    )
    write_new(file, f"{header}{text}".encode(), 0o644)


def write_first_connections() -> Path | None:
    """A connections.yaml in the workspace, all comments, for the operator to fill in; None where there is one."""
    file = connections_file()
    if settings().connections is not None or file.exists():
        return None
    write_new(file, _CONNECTIONS.encode(), 0o600)
    return file


def founding_documents(people: Path, further: Sequence[Path]) -> list[Path]:
    """The roster, the shipped policies, and the documents that are named; these in place of a policy of their name."""
    named = {document.name for document in map(_policy, further) if document}
    kept = (path for path in shipped_policies().values() if (document := _policy(path)) and document.name not in named)
    return [people, *kept, *further]


def ways_to_act(roster: Roster) -> Iterator[tuple[str, str]]:
    """Each person, and how it will be known who acts, or what is missing for that."""
    for name, person in roster.people.items():
        yield f"{name} ({', '.join(person.roles)})", _way(roster, name, person)


def vacancies(roster: Roster, documents: Sequence[Path]) -> Iterator[str]:
    """What cannot be done with these documents, as nobody has the role for it."""
    adopted = (rule for rule in OFFICE_DECISIONS.values() if rule.event == ADOPTED)
    asked = {rule.role: f"to adopt each {rule.name}" for rule in adopted}
    for policy in filter(None, map(_policy, documents)):
        asked |= dict.fromkeys(policy.approvals.roles, f"among those who approve under '{policy.name}'")
    for role, what in asked.items():
        if not roster.with_role(role):
            yield f"nobody has the role {role}, which is needed {what}"
    if len(roster.people) < _ROSTER.people + 1:
        yield f"with {len(roster.people)} on the roster, nobody is left to decide in another's place"


def _way(roster: Roster, name: str, person: Person) -> str:
    ways: Mapping[str, str | None] = {
        "key": f"signs by {', '.join(key.fingerprint for key in person.public_keys)}" if person.keys else None,
        "account": f"acts under the account {person.account}" if person.account else None,
        "declared": f"acts by --as '{name}'",
    }
    missing = {
        "key": "cannot act before a key is on the roster: sluice key new",
        "account": "cannot act before an account is on the roster",
    }
    return ways[roster.identity] or missing[roster.identity]


def _policy(path: Path) -> Policy | None:
    document = read_document(path)[1]
    return document if isinstance(document, Policy) else None
