"""What the page of one release shows: verdict, where the decisions stand, what changed, what there is to read."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from flows.desk.permissions import Rights, may_read
from flows.desk.sign_on import Reader
from flows.history import History, history
from policies.acceptances import latest_day
from policies.approvals import Subject
from policies.standing import Standing, told
from sluice.custody.edition_order import before, line_of
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Finding
from sluice.report.dossier import Dossier, RecordsView, TablesView
from sluice.report.first_screen import first_screen
from sluice.report.first_screen_page import first_screen_html
from sluice.report.headline import accepted, first_steps, further_reasons, headline, shown
from sluice.report.plan_comparison import Comparison, compare
from sluice.report.risk_utility_map import Plan
from tasks.release.decisions.decisions_of_people import Withdrawable, requests
from tasks.release.decisions.open_findings import OpenFinding, open_findings, opened
from tasks.release.decisions.series_approval import standing_in_series
from tasks.release.decisions.under_review import approved_files
from tasks.release.editions.resubmission import changes_between
from tasks.release.products import release_as_judged
from tasks.release.stored_dossier import kept_dossier

_MOST_PLANS = 12  # on a map


@dataclass(frozen=True)
class SinceEdition:
    """What differs from the edition on the shelf that comes before."""

    edition: str
    changes: Sequence[str]
    findings: Sequence[tuple[Finding | None, Finding]]  # as it was, and is; None: no such finding then


@dataclass(frozen=True)
class Decided:
    """That somebody decided, and what as far as the reader may know it."""

    who: str
    at: str
    words: str
    comment: str = ""


@dataclass(frozen=True)
class KeptFile:
    """A file of the vault that a reader may download."""

    name: str
    path: Path
    sha256: str

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def facts(reader: Reader, may: Rights, entries: Sequence[Entry]) -> dict[str, Any]:
    """What the page's template takes. Raises SluiceError where the vault does not hold what was judged."""
    found = history(reader.workspace, entries[0].release)
    dossier = found.dossier
    standing, decided = _decisions(reader, may, found)
    return {
        "release": found.release,
        "state": found.state,
        "dossier": dossier,
        "first_screen": _first_screen(may, found) if dossier else None,
        "verdict": shown(dossier) if dossier else None,
        "headline": headline(dossier) if dossier else _unjudged(entries[-1]),
        "further": further_reasons(dossier) if dossier else [],
        "accepted": accepted(dossier) if dossier else [],
        "next_steps": first_steps(dossier) if dossier else [],
        "open": _open_findings(may, found),
        "decides": may.case.policy.approvals.decides if may.case else (),
        "latest": latest_day(datetime.now(UTC), may.case.policy.approvals) if may.case else None,
        "rights": may,
        "standing": standing,
        "decided": decided,
        "mine": next((each for each in decided if each.who == reader.name), None),
        "subject": _read(may, found),
        "identity": may.case.identity if may.case else None,
        "series": may.case.policy.approvals.series if may.case else None,
        "since": _since_edition(reader, entries, dossier),
        "withdrawn_since": _withdrawn_since(reader, entries, dossier),
        "files": masked_files(reader, may, entries),
        "has_map": beside_others(reader, entries) is not None,
        "has_report": "report" in found.files,
        "asks": _withdrawal(reader, found),
        "folder": _folder(entries),
    }


def _unjudged(end: Entry) -> str:
    """The same as on the list of what stopped, where it did."""
    if end.event != "failed":
        return "It has not been judged yet."
    return f"It was not judged: {end.body.get('step', 'a step')} failed. The output of the run says what to mend."


def _first_screen(may: Rights, found: History) -> Markup:
    """The same as in the report; what is asked as it stands now, and links to the forms instead of commands."""
    assert found.dossier is not None
    screen = first_screen(found.dossier, found.settled)
    acts = [("#findings", "Decide on what was found")] if may.findings else []
    acts += [("#decide", "Decide")] if "approve" in may.decisions else []
    view = found.dossier.view
    return first_screen_html(screen, view if isinstance(view, TablesView) else None, acts, "/releases/{}")


def beside_others(reader: Reader, entries: Sequence[Entry]) -> Comparison | None:
    """A release of records on one map with the latest of its name that the reader may read; None where it has no place
    on one, as tables have none."""
    received = last(entries, State.RECEIVED)
    if received is None:
        return None
    name = received.body["definition"]
    plans: list[Plan] = []  # the latest first
    for release, others in reversed(reader.workspace.ledger.histories().items()):
        if len(plans) >= _MOST_PLANS and release != received.release:  # a dossier takes milliseconds to read
            continue
        has = last(others, State.RECEIVED)
        if (
            has
            and has.body["definition"] == name
            and (release == received.release or may_read(reader, release, others))
        ):
            with suppress(SluiceError):  # it was pruned
                dossier = kept_dossier(reader.workspace, others)
                if dossier and isinstance(dossier.view, RecordsView):
                    plans.append(Plan(release, dossier, f"/releases/{release}/report"))
    if received.release not in [plan.name for plan in plans]:
        return None
    with suppress(SluiceError):
        return compare([plan for plan in plans if plan.name == received.release or plan in plans[:_MOST_PLANS]][::-1])
    return None


def masked_files(reader: Reader, may: Rights, entries: Sequence[Entry]) -> dict[str, KeptFile]:
    """The files that are, or would be, published, by name; none for who may not read them, or where they are gone."""
    if not may.masked or last(entries, State.EVALUATED) is None:
        return {}
    vault, found = reader.workspace.vault, {}
    with suppress(SluiceError):
        for name, (sha256, suffix) in approved_files(release_as_judged(reader.workspace, entries)).items():
            found[name] = KeptFile(name, vault.path(sha256, suffix), sha256)
    return found


def _decisions(reader: Reader, may: Rights, found: History) -> tuple[Standing | None, list[Decided]]:
    """Where it stands, and who decided; what others did is not in it before all who are needed have."""
    if found.subject is None or may.case is None or found.state in (State.BLOCKED, State.NEEDS_DECISION):  # none yet
        return None, []
    try:
        standing = standing_in_series(may.case)
    except SluiceError:
        return None, []
    decided = [
        Decided(each.who, each.at, told(each.decision, may_know), each.comment if may_know else "")
        for each in standing.decided
        for may_know in [standing.revealed or each.who == reader.name]
    ]
    return standing.model_copy(update={"decided": (), "valid": ()}), decided


def _read(may: Rights, found: History) -> str:
    """The digest of what the page shows: what a decision from it is bound to."""
    if found.state is State.NEEDS_DECISION and may.case and (evaluated := opened(may.case)):
        return Subject(**evaluated.body["subject"]).digest()
    return found.subject.digest() if found.subject else ""


def _open_findings(may: Rights, found: History) -> list[OpenFinding]:
    """Those that need a decision now, each with its acceptance where there is one."""
    if found.state is not State.NEEDS_DECISION or may.case is None:
        return []
    return open_findings(may.case)


def _since_edition(reader: Reader, entries: Sequence[Entry], dossier: Dossier | None) -> SinceEdition | None:
    received = last(entries, State.RECEIVED)
    if received is None or dossier is None:
        return None
    edition, line = line_of(reader.workspace.ledger.histories(), received.release)
    earlier = before(edition, [each for each in line if each.release != received.release])
    if earlier is None:
        return None
    was = last(earlier.entries, State.RECEIVED)
    assert was is not None
    with suppress(SluiceError):  # its documents are gone by a rule of retention
        then = kept_dossier(reader.workspace, earlier.entries)
        changes = changes_between(reader.workspace.vault, was, received)
        return SinceEdition(earlier.of, changes, _moved(then, dossier))
    return SinceEdition(earlier.of, ["the vault does not hold its documents any more"], ())


def _withdrawn_since(reader: Reader, entries: Sequence[Entry], dossier: Dossier | None) -> list[str]:
    """Editions of this name that were withdrawn after this one was judged: its notices still call them current."""
    if dossier is None or last(entries, State.RECEIVED) is None:
        return []
    _, line = line_of(reader.workspace.ledger.histories(), entries[0].release)
    found = [(each, last(each.entries, State.WITHDRAWN)) for each in line if each.release != entries[0].release]
    return [
        f"Since this was judged, {each.of} was withdrawn: {withdrawn.body['reason']}"
        for each, withdrawn in found
        if withdrawn and withdrawn.at > dossier.evaluated_at
    ]


def _moved(then: Dossier | None, now: Dossier) -> list[tuple[Finding | None, Finding]]:
    """The findings whose verdict or figure is another; those that are reported alone are left out."""
    known = {(each.stage, each.rule, each.scope): each for each in (then.findings if then else ())}
    pairs = [(known.get((each.stage, each.rule, each.scope)), each) for each in now.findings if each.binding]
    return [
        (old, new) for old, new in pairs if old is None or (old.verdict, old.observed) != (new.verdict, new.observed)
    ]


def _withdrawal(reader: Reader, found: History) -> list[tuple[str, str]]:
    """Who asks that it be withdrawn, and why."""
    with suppress(SluiceError):
        asked = requests(Withdrawable.of(reader.workspace, found.release))
        return [(who, entry.body["comment"]) for who, entry in asked.by.items()]
    return []


def _folder(entries: Sequence[Entry]) -> str:
    published = last(entries, State.PUBLISHED)
    return Path(published.body["folder"]).name if published else ""
