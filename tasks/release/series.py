"""Series: whether an edition goes out under the approval that people gave to an earlier one and those that follow it.

How near it is to that edition and to the last is measured when it is judged, and stands in the dossier. Whether the
approval still holds is asked of the ledger, when the edition is to be published.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.approvals import DECISION, Standing
from policies.series import SeriesLimits
from schemas.checks.profile import Profile, compared, count, distance
from sluice.custody.ledger import Entry
from sluice.custody.states import SERIES_ENDED, State, state_of
from sluice.publication.manifest import GivenApproval
from sluice.report.dossier import Dossier, InSeries
from tasks.release.earlier_releases import earlier_attempts
from tasks.release.office import open_office
from tasks.release.release import DocumentedRelease, last
from tasks.release.under_review import UnderReview, subject_of, submitters_of

_BOUND = ("contract", "policy", "plan", "connection")
_ENDS = (State.BLOCKED, State.REJECTED, State.CHANGES_REQUESTED, State.WITHDRAWN, SERIES_ENDED)


@dataclass(frozen=True)
class Series:
    """An approval of a series, as it holds."""

    limits: SeriesLimits
    approved: str  # the edition that people saw
    approvals: tuple[GivenApproval, ...]  # of it
    until: datetime
    last: str  # the latest edition
    editions: int  # published since

    @property
    def says(self) -> str:
        """For the edition that is next."""
        people = " and ".join(approval.who for approval in self.approvals)
        return (
            f"approved as edition {self.editions + 1} of {self.limits.editions} of the series that {people} approved "
            f"with {self.approved}, until {self.until:%Y-%m-%d}."
        )


def series_of(case: UnderReview) -> Series | None:
    """The approved series in which a release is the next edition.

    It has the same contract, policy, definition and connection as an edition that people approved with all that follow,
    by decisions that the roster of today still verifies. It ends when an edition is blocked, refused or withdrawn, and
    rests while one is being published.
    """
    limits, received = case.policy.approvals.series, last(case.entries, State.RECEIVED)
    if limits is None or received is None:
        return None
    public: list[tuple[int, str, Sequence[Entry]]] = []
    ended = 0
    for other, everything in case.workspace.ledger.histories().items():
        entries = [entry for entry in everything if case.begun is None or entry.seq < case.begun.seq]
        theirs = last(entries, State.RECEIVED)
        if other == case.id or theirs is None or any(theirs.body[name] != received.body[name] for name in _BOUND):
            continue
        ended = max([ended, *(entry.seq for entry in entries if entry.event in _ENDS)])
        begun, state = last(entries, State.PUBLISHING), state_of(entry.event for entry in entries)
        if begun and state in (State.PUBLISHED, State.SUPERSEDED):
            public.append((begun.seq, other, entries))
        if begun and state is State.PUBLISHING:  # once it is finished, it is the one to compare with
            ended = max(ended, begun.seq)
    public.sort(reverse=True)
    for since, (seq, approved, edition) in enumerate(public):
        if approvals := _approved_with_the_next(case, edition):
            if seq < ended:
                return None
            until = min(datetime.fromisoformat(each.at) for each in approvals) + timedelta(days=limits.days)
            return Series(limits, approved, approvals, until, public[0][1], since)
    return None


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


def place_in_series(release: DocumentedRelease, dossier: Dossier) -> InSeries | None:
    """How an edition differs from the one that people approved with those that follow, and from the last.

    None where there is no such approval. Cost: one pass over the variables whose distributions are compared, for each.
    """
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
        published = last(history, State.PUBLISHED)
        assert published is not None
        kept = release.vault.verify(subject_of(edition, history).dossier, ".json")
        earlier = Dossier.model_validate_json(kept.read_bytes())
        profile = Profile.model_validate_json(release.vault.verify(published.body["profile"], ".json").read_bytes())
        moved = {
            name: distance(cells.counts, count(frame[name], cells)) if cells.fits(variables[name]) else float("nan")
            for name, cells in profile.distributions.items()
        }
        records = (dossier.records_original, earlier.records_original)
        found = series.limits.departures(moved, records, (dossier.findings, earlier.findings))
        departures += [f"compared with {edition}, {each}" for each in found]
        if edition == series.last and (tries := earlier_attempts(release, unpublished_since=published.seq)):
            departures.append(f"since {edition} these data were judged in {tries} other releases, and not published")
    return InSeries(approved=series.approved, last=series.last, departures=tuple(departures))


def standing_in_series(case: UnderReview) -> Standing:
    """How the decisions stand, with those on an earlier edition that are of this one, too. Who decides ends that."""
    own = case.standing()
    decided = any(entry.event == DECISION for entry in case.entries)  # also what expired: nobody's no becomes a yes
    if case.policy.approvals.series is None or own.outcome != "open" or decided:
        return own
    kept = case.workspace.vault.verify(case.subject.dossier, ".json").read_bytes()
    place, series = Dossier.model_validate_json(kept).series, series_of(case)
    if place is None:
        return own
    if because := _outside(place, series, case.now):
        return own.model_copy(update={"says": f"{own.says} It needs decisions of its own: {because}."})
    assert series is not None
    return own.model_copy(
        update={
            "outcome": "approved",
            "valid": series.approvals,
            "missing_roles": (),
            "missing_count": 0,
            "revealed": True,
            "says": series.says,
            "series": series.approved,
        }
    )


def _outside(place: InSeries, series: Series | None, now: datetime) -> str:
    """Why an edition that was held against a series does not go out under its approval; empty when it does."""
    if series is None or (series.approved, series.last) != (place.approved, place.last):
        return f"the approval of the series, given with {place.approved}, ended, or another edition came first"
    if series.editions >= series.limits.editions:
        return f"{series.limits.editions} editions were published under the approval given with {series.approved}"
    if now > series.until:
        return f"the approval of the series, given with {series.approved}, ended on {series.until:%Y-%m-%d}"
    return "; ".join(place.departures)
