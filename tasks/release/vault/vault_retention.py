"""Retention of what releases left in the vault: until when each part is kept, by which rule, what is due; and what is
missing, or came back, against the ledger.

Pruning deletes from the vault what no rule keeps any more. The ledger has each deletion before it is done.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

from pydantic import BaseModel, ConfigDict

from policies.adoption import InForce, Office, read_office
from policies.retention import Part, Retention, kept_until
from sluice.custody.clock import refuse_wrong_clock
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import OFFICE, PRUNED, SEED_DESTROYED, VAULT, State
from sluice.custody.stored_objects import StoredObject, discard, stored_objects
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.machine import without_collecting
from tasks.release.decisions.signing_in import account
from tasks.release.editions.recorded_searches import searches
from tasks.release.vault.vault_inventory import Holding, evidence, holdings, pruned_in

_FRESH = timedelta(days=7)  # since its bytes were last kept: a run may be about to record them

STRAY_DAYS = 30  # that an object is kept of which the ledger knows nothing: of a run that was killed, or will record it

_WERE_PUBLISHED = (State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)
_WAIT = (State.NEEDS_DECISION, State.PENDING_REVIEW, State.APPROVED, State.PUBLISHING)
_OF_RETENTION = (PRUNED, SEED_DESTROYED)  # a deletion gives what is left no further days
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Keeping:
    """Until when one release has one part kept, and why.

    until : None: for ever, or while it waits
    says  : by which rule, in words
    """

    holding: Holding
    until: datetime | None
    says: str

    def is_over(self, now: datetime) -> bool:
        return self.until is not None and self.until <= now


@dataclass(frozen=True)
class Inventory:
    """All that lies in the vault, who holds it, and until when.

    histories : of the ledger by which all of it is known: release -> entries
    evidence : release -> names of what is kept for ever
    strays : objects that the ledger does not know, with the time from which nobody waits for them any more
    """

    at: datetime
    histories: Mapping[str, Sequence[Entry]]
    evidence: Mapping[str, Set[str]]
    pruned: frozenset[str]  # objects of which a deletion is recorded
    keepings: Sequence[Keeping]
    searched: Mapping[str, datetime | None]  # data of searches -> until when
    objects: Mapping[str, StoredObject]
    strays: Mapping[str, datetime]

    @cached_property
    def holders(self) -> Mapping[str, list[Keeping]]:
        """Name of an object or a seed -> all that hold it."""
        found: dict[str, list[Keeping]] = defaultdict(list)
        for keeping in self.keepings:
            for name in keeping.holding.objects:
                found[name].append(keeping)
        return found

    def is_due(self, name: str) -> bool:
        """Whether nobody needs it any more: neither a release that shares it, nor a search."""
        held, searched = self.holders.get(name, []), self.searched
        if any(keeping.holding.part == "seeds" and keeping.holding.deleted for keeping in held):
            return True  # it was destroyed for all, and an old backup brought it back
        if name in self.strays:
            return self.strays[name] <= self.at
        if name in searched and not ((until := searched[name]) is not None and until <= self.at):
            return False
        return bool(held or name in searched) and all(keeping.is_over(self.at) for keeping in held)


def inventory(workspace: Workspace, now: datetime | None = None) -> Inventory:
    """What lies in the vault. The ledger must have been verified. Cost: a few readings of it, and a look at each file.

    raises : SluiceError as `Ledger.entries` does
    """
    at = now or datetime.now(UTC)
    objects = stored_objects(workspace.vault)  # before the ledger: what is kept and recorded meanwhile is no stray
    entries, histories = workspace.ledger.entries(), workspace.ledger.histories()
    acts = [entry for entry in entries if entry.release == OFFICE]
    rules = _Rules(workspace, read_office(acts), acts)
    keepings = [rules.keeping(each, histories[each.release]) for each in holdings(workspace, histories)]
    known = {name.partition(".")[0] for each in keepings for name in each.holding.objects}
    kept = {release: evidence(each) for release, each in histories.items()}
    known |= {name.partition(".")[0] for names in kept.values() for name in names}
    known |= {sha256 for act in acts for sha256 in _SHA256.findall(act.written)}
    unknown = {name for name, each in objects.items() if each.plain and name.partition(".")[0] not in known}
    named = workspace.ledger.naming({name.partition(".")[0] for name in unknown})  # in any other place of any row
    strays = {
        name: objects[name].written + timedelta(days=STRAY_DAYS)
        for name in sorted(unknown)
        if name.partition(".")[0] not in named
    }
    searched: dict[str, datetime | None] = {}
    for each in sorted(searches(workspace), key=lambda each: each.received.seq):  # the last of the same data counts
        begun = datetime.fromisoformat(each.received.at)
        searched[f"{each.received.body['data']['sha256']}.parquet"] = rules.of_search(begun)
    return Inventory(at, histories, kept, pruned_in(entries), keepings, searched, objects, strays)


class _Kept(BaseModel):
    """What a policy says of it. All else of a policy takes a second to load, and is not asked here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    version: str
    retention: Retention | None = None


@dataclass
class _Rules:
    """The rules of all policies that a release may be kept by."""

    workspace: Workspace
    office: Office | None
    acts: Sequence[Entry]  # of the office
    offices: dict[int, Office | None] = field(default_factory=dict)  # as so many of its first acts made it
    policies: dict[str, _Kept | None] = field(default_factory=dict)  # by their SHA-256

    def keeping(self, holding: Holding, entries: Sequence[Entry]) -> Keeping:
        if holding.state in _WAIT:
            return Keeping(holding, None, "while it waits to be published")
        received = last(entries, State.RECEIVED)
        if received is None:
            return Keeping(holding, None, "for ever: nothing was received")
        published = holding.state in _WERE_PUBLISHED
        ended = datetime.fromisoformat([entry for entry in entries if _begins_days(entry, published)][-1].at)
        judged = self._read(received.body["policy"])
        if judged is None:
            return Keeping(holding, None, "for ever: the policy that it was judged by cannot be read")
        adopted = self._was_adopted(judged, received)
        held = self._in_force(judged.name)
        in_force = self._retention(held) if held else None
        since = max(datetime.fromisoformat(act.entry.at) for act in held.acts) if held else None
        promised = judged.retention if adopted else None
        until = kept_until(holding.part, published, ended, promised, in_force, since)
        if until is None:
            return Keeping(holding, None, f"for ever: the policy '{judged.name}' has no rule")
        versions = [judged.version] if adopted and judged.retention else []
        versions += [held.adoption.version] if held and in_force else []
        named = " and ".join(dict.fromkeys(versions))
        return Keeping(holding, until, f"by the policy '{judged.name}', version {named}")

    def of_search(self, begun: datetime) -> datetime | None:
        """A search names no policy: what it read is kept as long as any policy in force would keep it."""
        held = [each for (kind, _), each in self.office.in_force.items() if kind == "policy"] if self.office else []
        ends: list[datetime] = []
        for each in held:
            since = max(datetime.fromisoformat(act.entry.at) for act in each.acts)
            end = kept_until("staged_data", False, begun, None, self._retention(each), since)
            if end is None:
                return None
            ends.append(end)
        return max(ends, default=None)

    def _in_force(self, name: str) -> InForce | None:
        return self.office.in_force.get(("policy", name)) if self.office else None

    def _was_adopted(self, policy: _Kept, received: Entry) -> bool:
        """Whether it counted when the release was received: a rehearsal is judged by any, and none of those may say
        that what was tried is forgotten."""
        before = bisect_left(self.acts, received.seq, key=lambda act: act.seq)
        if before not in self.offices:
            self.offices[before] = read_office(self.acts[:before])
        office = self.offices[before]
        held = office.in_force.get(("policy", policy.name)) if office else None
        return held is not None and held.adoption.sha256 == received.body["policy"]

    def _retention(self, held: InForce) -> Retention | None:
        policy = self._read(held.adoption.sha256)
        return policy.retention if policy else None

    def _read(self, sha256: str) -> _Kept | None:
        """The policy that the vault keeps; None where it does not hold it as it was."""
        if sha256 not in self.policies:
            try:
                content = self.workspace.vault.verify(sha256, ".json").read_bytes()
                self.policies[sha256] = _Kept.model_validate_json(content)
            except (DataError, ValueError):
                self.policies[sha256] = None
        return self.policies[sha256]


def _begins_days(entry: Entry, published: bool) -> bool:
    """Whether an event of a release begins the days for which what it left is kept; the last of these counts."""
    return entry.event in _WERE_PUBLISHED if published else entry.event not in _OF_RETENTION


def vault_problems(workspace: Workspace, found: Inventory) -> list[str]:
    """A sentence for each, in the order of the releases. No object is read, nor the ledger once more.

    What is missing without a record of its deletion was not deleted by Sluice: somebody took it, or the vault is older
    than its ledger. Objects of a run that stopped before it was judged are no evidence, and are not missed.
    """
    pruned, there, histories, problems = found.pruned, found.objects, found.histories, []
    for release, kept in found.evidence.items():
        lost = [name for name in kept if name not in there]  # a set less another walks the whole other
        if lost:
            problems.append(f"{release}: {len(lost)} of its documents and reports are missing from the vault")
    for keeping in found.keepings:
        holding = keeping.holding
        part = f"{holding.release}: {holding.part.replace('_', ' ')}"
        if holding.part == "seeds":
            if holding.deleted and any(map(workspace.vault.holds_seed, holding.objects)):
                problems.append(f"{part} were destroyed, and are there again; destroy them: sluice vault prune")
            continue
        judged = any(entry.event == State.EVALUATED for entry in histories[holding.release])
        lost = [name for name in holding.objects if name not in there and name not in pruned]
        if lost and judged:
            problems.append(f"{part} are missing from the vault ({len(lost)} objects), and no deletion is recorded")
        back = [name for name in holding.objects if name in pruned and name in there and found.is_due(name)]
        if back and holding.deleted:
            problems.append(f"{part} were deleted, and are there again; delete them: sluice vault prune")
    return problems


@dataclass(frozen=True)
class Deletion:
    """What goes of one part of one release; of no release, where it is ''."""

    release: str
    part: Part | None
    objects: tuple[str, ...]
    size: int
    says: str


@dataclass(frozen=True)
class Pruning:
    """What was deleted, or would be; and what was due and is still there, in words."""

    deletions: tuple[Deletion, ...]
    kept: tuple[str, ...]


def prune(workspace: Workspace, now: datetime | None = None, dry_run: bool = False) -> Pruning:
    """Delete what is due. Whoever may run this decides nothing: two people adopted the rules.

    Killed in between it is finished by the next call. What came back, with an old backup, goes again.

    now    : the time by which it is decided what is due, if another than the clock's
    raises : SluiceError when the ledger is not whole: it would not know of what is needed; and where this machine's
             clock and those of the ledger disagree
    """
    with locked(workspace.home / "pruning.lock"):
        if problems := workspace.ledger.verify():
            raise SluiceError(
                f"nothing is deleted while the ledger is not whole, as it says what is needed: {'; '.join(problems)}"
            )
        if now is None and not dry_run:
            refuse_wrong_clock(workspace.ledger)  # one that is ahead would delete what is kept for years yet
        with without_collecting():
            found = inventory(workspace, now)
        deletions, kept = _due(workspace, found)
        if dry_run:
            return Pruning(tuple(deletions), tuple(kept))
        for each in deletions:
            _record(workspace, each)
        for name in dict.fromkeys(name for each in deletions for name in each.objects):
            if name not in found.objects:
                workspace.vault.destroy_seed(name)
            elif not discard(workspace.vault, found.objects[name]):
                kept.append(f"{name} was kept again meanwhile")
    return Pruning(tuple(deletions), tuple(kept))


def _due(workspace: Workspace, found: Inventory) -> tuple[list[Deletion], list[str]]:
    going, kept = set(), []
    for name, each in found.objects.items():
        if not found.is_due(name):
            continue
        if not each.plain:
            kept.append(f"{name} is a link or no file, and what it leads to would stay; delete that by hand")
        elif each.written < found.at - _FRESH:
            going.add(name)
            if each.names > 1:
                kept.append(f"{name} has {each.names - 1} more names on its disk, under which it stays")
    seeds = {name for keeping in found.keepings if keeping.holding.part == "seeds" for name in keeping.holding.objects}
    going |= {name for name in seeds if found.is_due(name) and workspace.vault.holds_seed(name)}
    deletions = [_deletion(found, keeping, going) for keeping in found.keepings]
    strays = tuple(sorted(going & found.strays.keys()))
    searched = tuple(sorted(name for name in going & found.searched.keys() if name not in found.holders))
    for names, says in (
        (strays, "the ledger knows nothing of it"),
        (searched, "of a search, by all policies in force"),
    ):
        deletions.append(Deletion("", None, names, sum(found.objects[name].size for name in names), says))
    return [each for each in deletions if each.objects], kept


def _deletion(found: Inventory, keeping: Keeping, going: set[str]) -> Deletion:
    names = tuple(name for name in keeping.holding.objects if name in going)
    size = sum(found.objects[name].size for name in names if name in found.objects)
    return Deletion(keeping.holding.release, keeping.holding.part, names, size, keeping.says)


def _record(workspace: Workspace, each: Deletion) -> None:
    body = {"part": each.part or "", "objects": list(each.objects), "says": each.says}
    event = SEED_DESTROYED if each.part == "seeds" else PRUNED
    workspace.ledger.append(each.release or VAULT, event, account(), body)
