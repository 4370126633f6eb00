"""Pruning: delete from the vault what no rule keeps any more. The ledger has each deletion before it is done."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.retention import Part
from sluice.custody.clock import refuse_wrong_clock
from sluice.custody.states import PRUNED, SEED_DESTROYED, VAULT
from sluice.custody.stored_objects import discard
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked
from sluice.ground.errors import SluiceError
from tasks.release.decisions.signing_in import account
from tasks.release.vault.retention import Inventory, Keeping, inventory

_FRESH = timedelta(days=7)  # since its bytes were last kept: a run may be about to record them


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
