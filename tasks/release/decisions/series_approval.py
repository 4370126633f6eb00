"""Series: whether an edition goes out under the approval that people gave to an earlier one and those that follow it.

How near it is to that edition and to the last is measured when it is judged, and stands in the dossier. Whether the
approval still holds is asked of the ledger, when the edition is to be published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from policies.acts import said_at
from policies.decision_table import DECISION
from policies.series import SeriesLimits
from policies.standing import Standing
from sluice.custody.ledger import Ledger
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import SERIES_ENDED, State, state_of
from sluice.ground.sentence import END, Saying, Sentences
from sluice.ground.verdict import Verdict
from sluice.publication.manifest import GivenApproval
from tasks.release.decisions.office import open_office
from tasks.release.decisions.under_review import UnderReview, subject_of, submitters_of

if TYPE_CHECKING:
    from sluice.ground.variables import Variables
    from sluice.report.dossier import Dossier, InSeries
    from tasks.release.documented_release import DocumentedRelease

_DOCUMENTS = ("contract", "policy", "plan")
_BOUND = (*_DOCUMENTS, "connection", "population", "target")
_ENDS = (State.BLOCKED, State.REJECTED, State.CHANGES_REQUESTED, State.WITHDRAWN, SERIES_ENDED)
_EDITIONS = (State.PUBLISHING, State.PUBLISHED, State.SUPERSEDED)

_SAYS = Sentences(
    "series",
    approved="approved as edition {edition} of {editions} of the series that {people} approved with {approved}, until "
    "{until}.",
    own_decisions=" It needs decisions of its own: ",
    ended="the approval of the series, given with {approved}, ended: {how}",
    holds_no_more="the approval of the series, given with {approved}, holds no more, or another edition came first",
    unpublished="since {approved} was approved, {others} of the same documents was judged and not published",
    all_editions="{editions} editions were published under the approval given with {approved}",
    too_late="the approval of the series, given with {approved}, ended on {until}",
    departs="{departures:semicolons}",
)


@dataclass(frozen=True)
class Series:
    """An approval of a series."""

    limits: SeriesLimits
    approved: str  # the edition that people saw
    approvals: tuple[GivenApproval, ...]  # of it
    begun: int  # the row of the ledger in which its publication was
    until: datetime
    last: str  # the latest edition
    editions: int  # published since
    unpublished: tuple[str, ...]  # others that were judged since, and left so
    ended: str  # by what; empty: it holds

    @property
    def says(self) -> Saying:
        """For the edition that is next."""
        return _SAYS.approved(
            edition=self.editions + 1,
            editions=self.limits.editions,
            people=" and ".join(approval.who for approval in self.approvals),
            approved=self.approved,
            until=f"{self.until:%Y-%m-%d}",
        )


def series_of(case: UnderReview) -> Series | None:
    """The approved series in which a release is the next edition.

    It has the same documents, connection, population list and target as an edition that people approved with all that
    follow, by decisions that the roster of today still verifies, and was first read after that. The series ends when an
    edition does not meet the policy, be it in a rehearsal, or is refused or withdrawn.
    """
    limits, received = case.policy.approvals.series, last(case.entries, State.RECEIVED)
    if limits is None or received is None:
        return None
    public: list[tuple[int, str, Sequence[Entry]]] = []
    judged: list[tuple[int, str]] = []
    ends: list[tuple[int, str]] = []
    for other, everything in _same_documents(case.workspace.ledger, received):
        entries = [entry for entry in everything if case.begun is None or entry.seq < case.begun.seq]
        theirs = last(entries, State.RECEIVED)
        if theirs is None or not _same(theirs, received, _DOCUMENTS):
            continue
        ends += [(entry.seq, _how_it_ends(entry)) for entry in entries if entry.event in _ENDS or _failed(entry)]
        if other == case.id:
            continue
        begun, evaluated = last(entries, State.PUBLISHING), last(entries, State.EVALUATED)
        if begun and state_of(entry.event for entry in entries) in _EDITIONS:
            public += [(begun.seq, other, entries)] if _same(theirs, received, _BOUND) else []
        elif evaluated:
            judged.append((evaluated.seq, other))
    public.sort(reverse=True)
    for since, (seq, approved, edition) in enumerate(public):
        if approvals := _approved_with_the_next(case, edition):
            if case.entries[0].seq < seq:
                return None
            ended = next((how for at, how in sorted(ends) if at > seq), "")
            given = {each.at for each in approvals}
            first = min(said_at(entry) for entry in edition if entry.event == DECISION and entry.at in given)
            unpublished = tuple(other for at, other in judged if at > seq)
            until = first + timedelta(days=limits.days)
            return Series(limits, approved, approvals, seq, until, public[0][1], since, unpublished, ended)
    return None


_Triple = tuple[str, ...]
# Of each ledger that is open: how far each release was looked at, and which were received with the same documents.
_LOOKED_AT: WeakKeyDictionary[Ledger, tuple[dict[str, int], dict[_Triple, dict[str, None]]]] = WeakKeyDictionary()


def _same_documents(ledger: Ledger, received: Entry) -> Iterator[tuple[str, Sequence[Entry]]]:
    """The releases that were ever received with the documents of this one, with their entries.

    cost : a look at each release, and at those of the same definition; the rows of each are gone through once
    """
    seen, found = _LOOKED_AT.setdefault(ledger, ({}, {}))
    histories = ledger.histories()
    for release, entries in histories.items():
        if (known := seen.get(release, 0)) < len(entries):
            for each in entries[known:]:
                if each.event == State.RECEIVED:
                    found.setdefault(_triple(each), {})[release] = None
            seen[release] = len(entries)
    for release in found.get(_triple(received), ()):
        yield release, histories[release]


def _triple(received: Entry) -> _Triple:
    return tuple(received.body[name] for name in _DOCUMENTS)


def _same(one: Entry, other: Entry, names: Sequence[str]) -> bool:
    return all(one.body[name] == other.body[name] for name in names)


def _how_it_ends(entry: Entry) -> str:
    if entry.event == SERIES_ENDED:
        return f"{entry.actor} ended it"
    how = entry.event.replace("_", " ") if entry.event in _ENDS else "judged not to meet the policy"
    return f"{entry.release} was {how}"


def _failed(entry: Entry) -> bool:
    """Whether it records a verdict that lets nothing out."""
    return bool(entry.body.get("verdict", Verdict.PASS.name) != Verdict.PASS.name)


def _approved_with_the_next(case: UnderReview, entries: Sequence[Entry]) -> tuple[GivenApproval, ...]:
    """The approvals of an edition, if all of them are of the next ones, too, and by people who count now."""
    begun, received = last(entries, State.PUBLISHING), last(entries, State.RECEIVED)
    assert begun is not None
    assert received is not None
    plan = case.workspace.vault.verify(received.body["plan"], ".json").read_bytes()
    submitters = {*case.submitters, *submitters_of(entries, plan)}
    of_it = [entry for entry in entries if entry.seq < begun.seq]
    digest, roster, at = (
        subject_of(received.release, of_it).digest(),
        case.office.roster,
        datetime.fromisoformat(begun.at),
    )
    then = case.policy.approvals.standing(of_it, digest, submitters, roster, at, case.office.id)
    for_all = all(each.series for each in then.decided if each.decision == "approve")
    still = all(roster.people[each.who].counts(case.now) for each in then.valid)
    return then.valid if then.complete and for_all and still else ()


def place_in_series(release: "DocumentedRelease", dossier: "Dossier") -> "InSeries | None":
    """How an edition differs from the one that people approved with those that follow, and from the last.

    None where there is no such approval. Cost: one pass over the variables whose distributions are compared, for each.
    """
    # What compares data: who only asks for the standing of an approval starts without.
    from schemas.checks.profile import Profile, compared, count, distance
    from sluice.report.dossier import Dossier, InSeries
    from tasks.release.documented_release import variables_from_json
    from tasks.release.editions.earlier_releases import earlier_attempts

    workspace, contract = release.product.workspace, release.product.contract
    if release.product.policy.approvals.series is None or open_office(workspace) is None:
        return None
    series = series_of(UnderReview.of(workspace, release.id))
    if series is None:
        return None
    variables, departures = compared(contract), []
    frame = release.read_staged(list(variables))
    for edition in dict.fromkeys((series.approved, series.last)):
        history = workspace.ledger.entries(edition)
        published, received = last(history, State.PUBLISHED), last(history, State.RECEIVED)
        if published is None or received is None:
            departures.append(f"the publication of {edition} was not finished")
            continue
        kept = release.vault.verify(subject_of(edition, history).dossier, ".json")
        earlier = Dossier.model_validate_json(kept.read_bytes())
        profile = Profile.model_validate_json(release.vault.verify(published.body["profile"], ".json").read_bytes())
        moved = {
            name: distance(cells.counts, count(frame[name], cells)) if cells.fits(variables[name]) else float("nan")
            for name, cells in profile.distributions.items()
        }
        known = variables_from_json(release.vault.verify(received.body["variables"], ".json").read_bytes())
        new = [name for name in variables if _categories(release.staged_variables, name) - _categories(known, name)]
        records = (dossier.records_original, earlier.records_original)
        found = series.limits.departures(moved, records, (dossier.findings, earlier.findings))
        found += [f"'{name}' has categories that it had not" for name in new]
        departures += [f"compared with {edition}, {each}" for each in found]
    if tries := earlier_attempts(release, unpublished_since=series.begun):
        since = f"since {series.approved} was approved"
        departures.append(f"{since}, these data were judged in {tries} other releases, and not published")
    return InSeries(approved=series.approved, last=series.last, departures=tuple(departures))


def _categories(variables: "Variables", name: str) -> set[str]:
    return {*(variables[name].categories or ())} if name in variables else set()


def standing(release: "DocumentedRelease", begun: Entry | None = None) -> Standing:
    """How the decisions on exactly these bytes stand now, or stood when a publication was begun."""
    return standing_in_series(UnderReview.of(release.product.workspace, release.id, begun))


def standing_in_series(case: UnderReview) -> Standing:
    """How the decisions stand, with those on an earlier edition that are of this one, too.

    Who decides ends that, for good: a refusal that expired is no consent.
    """
    own = case.standing()
    if case.policy.approvals.series is None or any(entry.event == DECISION for entry in case.entries):
        return own
    from sluice.report.dossier import Dossier  # few policies know series

    kept = case.workspace.vault.verify(case.subject.dossier, ".json").read_bytes()
    place, series = Dossier.model_validate_json(kept).series, series_of(case)
    if place is None:
        return own
    if because := _outside(place, series, case.now):
        return own.model_copy(update={"statements": own.statements + _SAYS.own_decisions() + because + END()})
    assert series is not None
    return own.model_copy(
        update={
            "outcome": "approved",
            "valid": series.approvals,
            "missing_roles": (),
            "missing_count": 0,
            "revealed": True,
            "statements": series.says,
            "waits_for": "",
            "asked_roles": (),
            "series": series.approved,
        }
    )


def _outside(place: "InSeries", series: Series | None, now: datetime) -> Saying:
    """Why an edition that was held against a series does not go out under its approval; empty when it does."""
    if series is not None and series.ended:
        return _SAYS.ended(approved=series.approved, how=series.ended)
    if series is None or (series.approved, series.last) != (place.approved, place.last):
        return _SAYS.holds_no_more(approved=place.approved)
    if series.unpublished:
        return _SAYS.unpublished(approved=series.approved, others=" and ".join(series.unpublished))
    if series.editions >= series.limits.editions:
        return _SAYS.all_editions(approved=series.approved, editions=series.limits.editions)
    if now > series.until:
        return _SAYS.too_late(approved=series.approved, until=f"{series.until:%Y-%m-%d}")
    return _SAYS.departs(departures=place.departures) if place.departures else ()
