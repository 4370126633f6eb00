"""`sluice suggest`: the smallest changes of a blocked plan that would pass, each tried.

Single changes first; where fewer than three of these pass, two and then three together, of those that brought the plan
nearest. It ends where enough have passed. What is suggested passed again by nine of ten draws, or by all for which
there was time. Suggestions for a definition in a file are recorded as a search and kept for the next report.

Where a release of the same documents and data was judged, its verdict counts, whatever another draw would have: a plan
that falls by the release's own seed and passes by others is too near its limit, and a change must pass several draws.
So is one that passes by a draw, and falls by more than one of ten others.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, nan
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sluice.custody.ledger_entry import last
from sluice.custody.states import State
from sluice.custody.workspace import open_workspace
from sluice.documents.document_reading import canonical_json, parse_document, read_yaml
from sluice.ground.errors import DocumentError
from sluice.ground.sentence import percent
from sluice.ground.verdict import Finding, keeping_back
from sluice.software_version import versions
from tasks.release.documented_release import StagedTable
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.release_documents import load_documents
from tasks.release.stored_dossier import keep_suggestions, kept_dossier
from tasks.tuning.allowance import Allowance
from tasks.tuning.journal import Journal, TrialRecord
from tasks.tuning.other_draws import DRAWS, MAY_FALL, may_fall, other_draws
from tasks.tuning.plan_changes import Change, Plan, changes, with_plan
from tasks.tuning.plan_search import refused
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search_context import misfit, staged_records
from tasks.tuning.space import SearchSettings
from tasks.tuning.trial import STAGES, Miss, Outcome, processes, records_there, try_plan
from tasks.tuning.tuning import recorded

WANTED = 3
_ENOUGH = 2 * WANTED  # changes of different things that passed: among them are those that lose least of what was tried
_MOST_TOGETHER = 3  # changes
_SHARE = 0.6  # of the trials that single changes may take, so that some are left for two together
_BEST = 5  # plans with fewer changes, from which those with one more begin
_TRYING, _FRESH = 2**44, 2**44 + 1  # of the search's seed
CHANGED_DRAWS = 3  # that a change of such a plan must pass
_TRIED_STAGES = ("masked", "reference", "attack", "utility")


Told = Callable[[int, int, int], None]


class Suggestion(BaseModel):
    """Changes that let the plan pass, and what it loses then."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    changes: tuple[str, ...]
    loss: float
    margin: float
    passed: int = Field(default=1, description="of the draws by which it was tried again, how many passed")
    draws: int = 1

    def in_words(self, before: float) -> str:
        """One line."""
        what = "; and ".join(self.changes)
        room = f"; {percent(self.margin)} of its nearest limit left" if isfinite(self.margin) else ""
        by = f"; passes by {self.passed} of {self.draws} draws" if self.draws > 1 else ""
        if not isfinite(before):
            return f"{what} (loss {self.loss:.3f}{room}{by})"
        return f"{what} (loss {self.loss:.3f}, {self.loss - before:+.3f}{room}{by})"


@dataclass(frozen=True)
class Suggestions:
    """What was tried, and what passed.

    before : the plan as it stands, by the verdict of its release where there is one; tried: how many plans; nearest:
             where none passed, the changes that came nearest
    draws  : of a plan that passes by the draw of a trial, by how many of how many others; None: not asked
    judged : the release whose verdict counts; empty: none was judged
    beyond : rules that keep it back and that no trial of a plan looks at, such as earlier publications
    once   : changes that passed, and that there was no time to try again
    stopped: whether somebody stopped it
    untried: changes that there was no time to try, of as many together as were tried last; together: how many these
             were at most
    """

    before: Outcome
    draws: tuple[int, int] | None = None
    judged: str = ""
    beyond: tuple[str, ...] = ()
    passing: tuple[Suggestion, ...] = ()
    tried: int = 0
    nearest: tuple[tuple[str, ...], Outcome] | None = None
    once: tuple[tuple[str, ...], ...] = ()
    stopped: bool = False
    untried: int = 0
    together: int = 0


@dataclass(frozen=True)
class _Tried:
    done: tuple[Change, ...]
    plan: Plan
    outcome: Outcome

    @property
    def order(self) -> tuple[int, float]:
        return len(self.done), self.outcome.loss


def suggest(
    definition: RecordsDefinition,
    written: Plan,
    records: RecordsAtHand,
    whole: RecordsAtHand,
    settings: SearchSettings,
    workers: int = 1,
    told: Told = lambda done, of, found: None,
    journal: Journal | None = None,
    against: Sequence[Finding] = (),
    allowance: Allowance | None = None,
) -> Suggestions:
    """The smallest changes by which the plan passes, at most three.

    written : the plan of the definition, as it is written
    records : on which changes are tried; `whole`: on which those that are suggested passed again
    told    : called with how many plans were tried, how many there are to try before more changes are taken together,
              and how many of them passed
    journal : of a search that was stopped: what it has is not tried again
    against : the findings that keep a release by this plan back: then the plan does not pass, whatever a draw finds
    allowance : the time for all of it, the judgements again included; None: as the settings say, from now on. Where
              somebody stops it, by KeyboardInterrupt, what was found until then comes back
    cost    : up to `trials` trials of `settings`, most of which stop early, and some judgements of a release
    """
    allowance = allowance or Allowance(settings.minutes)
    seed, kept = (settings.seed, _TRYING), Journal() if journal is None else journal
    before, draws = allowance.timed(lambda: try_plan(definition, records, (*seed, 0), settings.loss)), None
    if before.end == "passes":
        asked = (definition, whole, DRAWS, settings.seed, settings.loss)
        others = other_draws(*asked, time_left=lambda: allowance.for_search, until_known=not against)
        draws = others.passed, others.of
        if not against and (others.has_room or others.first_stopped is None):
            return Suggestions(before, draws)
        before = _fallen(before, against) if against else others.first_stopped or before
    else:
        before = before.model_copy(update={"misses": _together(against, before.misses)})
    single = changes(definition, written, records.variables, records.frame, records.policy, before.misses)
    tried: list[_Tried] = []
    known: set[str] = set()
    begin: list[_Tried] = [_Tried((), written, before)]
    passing, again = list[Suggestion](), list[_Tried]()
    untried = together = 0
    try:
        with processes(records, workers) as pool:
            for together in range(1, _MOST_TOGETHER + 1):
                share = 1.0 if together == _MOST_TOGETHER else _SHARE ** (1 / together)
                budget = int(settings.trials * share)
                wanted = _next(begin, definition, single, records, known)[: max(budget - len(tried), 0)]
                step, of = max(workers, 1) * 2, len(tried) + len(wanted)
                for at in range(0, len(wanted), step):
                    if not allowance.for_search:
                        untried = len(wanted) - at
                        break
                    some = wanted[at : at + step]
                    numbers = range(len(tried) + 1, len(tried) + 1 + len(some))
                    plans = [plan for _, plan in some]
                    outcomes = _outcomes(definition, plans, records, settings, seed, numbers, pool, kept)
                    tried += [_Tried(done, plan, outcome) for (done, plan), outcome in zip(some, outcomes, strict=True)]
                    allowance.refuse_stopped()
                    tried = _until_enough(tried)
                    told(len(tried), of, len(_passing(tried)))
                    if len(_different(_passing(tried))) >= _ENOUGH:
                        break
                if len(_different(_passing(tried))) >= WANTED or not allowance.for_search:
                    break
                last = [
                    each for each in tried if each.outcome.end == "fails" and len(each.done) == len(begin[0].done) + 1
                ]
                begin = sorted(last, key=lambda each: (each.outcome.breach, each.outcome.loss))[:_BEST]
                if not begin:
                    break
        for each, found in _confirmed(definition, tried, whole, settings, CHANGED_DRAWS if draws else 1, allowance):
            again.append(each)
            passing += [found] if found else []
    except KeyboardInterrupt:
        allowance.stop()
    once = [_words(each) for each in _different(_passing(tried)) if each not in again]
    failing = [each for each in tried if each.outcome.end == "fails"]
    nearest = min(failing, key=lambda each: (each.outcome.breach, *each.order), default=None)
    closest = None if nearest is None else (_words(nearest), nearest.outcome)
    return Suggestions(
        before, draws, passing=tuple(passing), tried=len(tried), nearest=closest,
        once=tuple(once) if len(passing) < WANTED else (), stopped=allowance.stopped,
        untried=untried, together=together,
    )  # fmt: skip


def _words(tried: _Tried) -> tuple[str, ...]:
    return tuple(change.says for change in tried.done)


def _together(against: Sequence[Finding], missed: Sequence[Miss]) -> tuple[Miss, ...]:
    """What a release fell by, and then what a trial of its plan found beside that."""
    of_release = tuple(map(Miss.of, against))
    rules = {miss.rule for miss in of_release}
    return (*of_release, *(miss for miss in missed if miss.rule not in rules))


def _fallen(passed: Outcome, against: Sequence[Finding]) -> Outcome:
    """The outcome of a release that did not pass, where a draw of the same plan did."""
    stages = {"reference": "attacks", "attack": "attacks", "utility": "utility"}
    stage = min((stages.get(each.stage, "rules") for each in against), key=STAGES.index)
    misses = tuple(map(Miss.of, against))
    return passed.model_copy(update={"end": "fails", "stage": stage, "misses": misses, "margin": nan})


def _next(
    begin: Sequence[_Tried], definition: RecordsDefinition, single: Sequence[Change], records: RecordsAtHand,
    known: set[str],
) -> list[tuple[tuple[Change, ...], Plan]]:  # fmt: skip
    """Plans with one change more than those to begin from, each once."""
    found: list[tuple[tuple[Change, ...], Plan]] = []
    for of in begin:
        more = single
        if of.done:
            try:
                changed = with_plan(definition, of.plan)
            except ValidationError:
                continue
            more = changes(changed, of.plan, records.variables, records.frame, records.policy, of.outcome.misses)
        about = {change.about for change in of.done}
        for change in more:
            if change.about in about or (key := repr(change.plan)) in known:
                continue
            known.add(key)
            if misfit(with_plan(definition, change.plan), records) is not None:
                continue
            found.append(((*of.done, change), change.plan))
    return found


def _outcomes(
    definition: RecordsDefinition, plans: Sequence[Plan], records: RecordsAtHand, settings: SearchSettings,
    seed: tuple[int, ...], numbers: Sequence[int], pool: Executor | None, journal: Journal,
) -> list[Outcome]:  # fmt: skip
    """Of each plan, with a seed of its own number; each is written down at once."""
    points = {number: {"plan": json.dumps(plan, default=str)} for plan, number in zip(plans, numbers, strict=True)}
    known = {number: journal.find(number, point) for number, point in points.items()}
    asked = {
        number: (definition, plan, settings, (*seed, number))
        for plan, number in zip(plans, numbers, strict=True)
        if known[number] is None
    }
    futures = {} if pool is None else {at: pool.submit(_outcome_there, *arguments) for at, arguments in asked.items()}
    found = []
    for number, point in points.items():
        record = known[number]
        if record is None:
            outcome = futures[number].result() if futures else _outcome(records, *asked[number])
            record = TrialRecord(number=number, point=point, outcome=outcome)
            journal.add(record)
        found.append(record.outcome)
    return found


def _outcome(
    records: RecordsAtHand, definition: RecordsDefinition, plan: Plan, settings: SearchSettings, seed: tuple[int, ...]
) -> Outcome:
    try:
        return try_plan(with_plan(definition, plan), records, seed, settings.loss)
    except Exception as error:  # this plan cannot be judged, others can
        return refused(f"The trial stopped with {type(error).__name__}.")


def _outcome_there(*arguments: Any) -> Outcome:
    return _outcome(records_there()[0], *arguments)


def _passing(tried: Sequence[_Tried]) -> list[_Tried]:
    return [each for each in tried if each.outcome.end == "passes"]


def _until_enough(tried: list[_Tried]) -> list[_Tried]:
    """Up to the trial by which enough passed: where it ends is not a matter of how many run at a time."""
    last = next((n for n in range(1, len(tried)) if len(_different(_passing(tried[:n]))) >= _ENOUGH), len(tried))
    return tried[:last]


def _different(tried: Sequence[_Tried]) -> list[_Tried]:
    """The smallest first, and of those about the same things the one that loses least."""
    found: dict[tuple[str, ...], _Tried] = {}
    for each in sorted(tried, key=lambda one: one.order):
        found.setdefault(tuple(sorted(change.about for change in each.done)), each)
    return list(found.values())


def _confirmed(
    definition: RecordsDefinition, tried: Sequence[_Tried], whole: RecordsAtHand, settings: SearchSettings, draws: int,
    allowance: Allowance,
) -> Iterator[tuple[_Tried, Suggestion | None]]:  # fmt: skip
    """Those that pass by nine of ten fresh draws on all records, or by all for which there is time, at least so many,
    with the least margin of these; None: it does not."""
    found = 0
    candidates = _different(_passing(tried))
    for place, each in enumerate(candidates[: 2 * WANTED + settings.finalists]):
        changed, passed, made = with_plan(definition, each.plan), list[Outcome](), 0
        for draw in range(DRAWS):
            seed = (settings.seed, _FRESH, place, draw) if draw else (settings.seed, _FRESH, place)
            if not allowance.for_judgement:
                if made < draws:
                    return
                break
            outcome = allowance.timed(partial(try_plan, changed, whole, seed, settings.loss))
            allowance.refuse_stopped()
            passed += [outcome] if outcome.end == "passes" else []
            made += 1
            if not passed or made - len(passed) > MAY_FALL:
                break
        if not passed or made - len(passed) > may_fall(made):
            yield each, None
        else:
            found += 1
            least = min((one.margin for one in passed if isfinite(one.margin)), default=nan)
            by = {"passed": len(passed), "draws": made}
            yield each, Suggestion(changes=_words(each), loss=passed[0].loss, margin=least, **by)
        if found == WANTED:
            break


def suggest_for(
    path: Path,
    settings: SearchSettings,
    workers: int = 1,
    told: Told = lambda done, of, found: None,
    allowance: Allowance | None = None,
) -> Suggestions:
    """The smallest changes of the definition's plan that would pass. The next report on it has them.

    raises : DocumentError, DataError
    """
    written = read_yaml(path)
    if "tables" in written:
        raise DocumentError(f"{path}: sluice suggest is for files of records; for tables see sluice table redesign")
    definition = parse_document(RecordsDefinition, written, str(path))
    product = load_documents(Records, path, definition, open_workspace())
    product.refuse_unfit()
    data, whole = staged_records(product)
    searched, _ = whole.split(settings)
    parts = "\n".join((*(product.hashes[name] for name in sorted(product.hashes)), data.sha256))
    name = f"{definition.name}-{product.workspace.vault.pseudonym('suggest', parts)[:12]}"
    kept = "\n".join((parts, settings.model_dump_json(exclude={"minutes"}), canonical_json(versions()).decode()))
    journal_name = f"suggest-{product.workspace.vault.pseudonym('suggest', kept)[:24]}.jsonl"
    journal, done = Journal(product.workspace.home / "tuning" / journal_name), 0
    release, kept_back = _judged(product, data)
    beyond = tuple(dict.fromkeys(each.rule for each in kept_back if not _is_tried(each)))
    against = [each for each in kept_back if _is_tried(each)]
    if beyond and not against:
        as_it_is = try_plan(product.definition, searched, (settings.seed, _TRYING, 0), settings.loss)
        return Suggestions(_fallen(as_it_is, kept_back), judged=release, beyond=beyond)

    def count(tried: int, of: int, passing: int) -> None:
        nonlocal done
        done = tried
        told(tried, of, passing)

    with recorded(product, name, data, whole.variables, settings.trials) as taken:
        try:
            plan = tuple(written["plan"])
            found = suggest(
                product.definition, plan, searched, whole, settings, workers, count, journal, against, allowance
            )
        finally:
            taken["trials"] = done
        taken["passed"] = bool(found.passing)
    if found.stopped and not found.passing:
        return replace(found, judged=release, beyond=beyond)
    keep_suggestions(product, tuple(each.in_words(found.before.loss) for each in found.passing))
    return replace(found, judged=release, beyond=beyond)


def _judged(product: Records, data: StagedTable) -> tuple[str, list[Finding]]:
    """The latest release of the same documents and data that was judged, and what keeps it back; '' and none where
    none was, or it passed."""
    found: tuple[str, list[Finding]] = ("", [])
    for release, entries in product.workspace.ledger.histories().items():
        received = last(entries, State.RECEIVED)
        if received is None or received.body["data"]["sha256"] != data.sha256:
            continue
        if any(received.body[name] != sha256 for name, sha256 in product.hashes.items()):
            continue
        dossier = kept_dossier(product.workspace, entries)
        if dossier is not None:
            found = (release, keeping_back(dossier.findings))
    return found


def _is_tried(finding: Finding) -> bool:
    """Whether trials of plans look at its rule: not at earlier publications, nor at the data's contract."""
    from policies.several_publications import RULES  # with their engines

    return finding.stage in _TRIED_STAGES and finding.rule not in RULES
