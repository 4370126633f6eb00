"""The headline: the verdict on a release in plain words, and for each rule that blocks it, what helps and where."""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.ground.verdict import Finding, Verdict, decide, keeping_back
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.wording import figure, percent, rule_words

FURTHER_REASONS = 5  # below the headline

SUGGEST = (
    "sluice suggest FILE, with the definition of this release, tries changes of the plan and names the smallest that "
    "pass."
)
_ELSEWHERE = (
    "Change the plan where the file was masked and assess again, or let sluice init draft another for the original."
)
_DECIDES = (
    "accepts each finding that needs a decision for this release, with a reason and an end, or refuses it: at the "
    "desk, or by sluice accept-finding and sluice refuse-finding."
)
_DECIDED_LATER = "What needs a decision can be decided once nothing fails and everything could be judged."
_UNADVISED = "Read below what the rule found, change what was released and evaluate again."


def state(dossier: Dossier) -> Verdict:
    """The worse of the recorded verdict and what the findings add up to: a contradiction never opens the gate."""
    return max(dossier.verdict, decide(dossier.findings))


def reasons(dossier: Dossier) -> list[Finding]:
    """The findings that keep the release back, worst first, otherwise in the dossier's order."""
    return keeping_back(dossier.findings)


def headline(dossier: Dossier) -> str:
    """The verdict in one plain sentence or two: a word for the state and the worst reason, or who must now approve."""
    verdict, kept_back = state(dossier), reasons(dossier)
    if verdict is Verdict.PASS and dossier.unadopted:
        return f"Meets the policy, but cannot be released: {dossier.unadopted[0]}."
    if verdict is Verdict.PASS:
        given = [_counted(len(waived(dossier)), "waiver"), _counted(len(accepted(dossier)), "accepted finding")]
        under = " and ".join(filter(None, given))
        return f"Meets the policy{f' under {under}' if under else ''}: {dossier.approvals_needed}"
    if not any(finding.binding for finding in dossier.findings):
        return "Blocked: nothing was judged, because no finding decides. What was not judged is not published."
    if max((finding.verdict for finding in kept_back), default=Verdict.PASS) < verdict:
        return "Blocked: the recorded verdict is worse than its findings explain. Evaluate the release again."
    told = lead(dossier, kept_back)
    word = {Verdict.REVIEW: "Needs a decision", Verdict.FAIL: "Blocked"}.get(
        told.verdict, "Blocked, could not be judged"
    )
    beside = [
        _counted(len({finding.says for finding in kept_back if finding.verdict is of}), one, several)
        for of, (one, several) in _BESIDE.items()
        if of is not told.verdict
    ]
    also = " and ".join(filter(None, beside))
    return f"{word}: {told.says}{f' Beside that, {also}.' if also else ''}"


_BESIDE = {
    Verdict.REVIEW: ("finding needs a decision", "findings need a decision"),
    Verdict.UNKNOWN: ("rule could not be judged", "rules could not be judged"),
}
_TITLES = {Verdict.FAIL: "Fails", Verdict.REVIEW: "Needs a decision", Verdict.UNKNOWN: "Could not be judged"}


def _counted(number: int, one: str, several: str = "") -> str:
    return "" if not number else f"1 {one}" if number == 1 else f"{number} {several or f'{one}s'}"


def shown(dossier: Dossier) -> Verdict:
    """The verdict by which the release is shown: what could not be judged never hides what fails."""
    fails = any(finding.verdict is Verdict.FAIL for finding in reasons(dossier))
    return Verdict.FAIL if fails else state(dossier)


def lead(dossier: Dossier, kept_back: list[Finding]) -> Finding:
    """The finding that the headline tells."""
    return next((finding for finding in kept_back if finding.verdict is shown(dossier)), kept_back[0])


@dataclass(frozen=True)
class FurtherReasons:
    """What else keeps a release back, of one verdict: sentences that have one remedy stand together.

    reasons : sentences, and what helps; no sentence twice
    unsaid  : how many more there are
    """

    title: str
    verdict: Verdict
    reasons: tuple[tuple[tuple[str, ...], str], ...]
    unsaid: int = 0


def further_reasons(dossier: Dossier) -> list[FurtherReasons]:
    """Beside the headline: what fails, then what needs a decision, then what could not be judged."""
    kept_back = reasons(dossier)
    said = {lead(dossier, kept_back).says} if kept_back else set[str]()
    found = []
    for verdict, title in _TITLES.items():
        of_it = {each.says: each for each in kept_back if each.verdict is verdict and each.says not in said}
        by_remedy: dict[str, list[str]] = {}
        for each in [*of_it.values()][:FURTHER_REASONS]:
            by_remedy.setdefault(each.advice, []).append(each.says)
        listed = tuple((tuple(says), remedy) for remedy, says in by_remedy.items())
        if listed:
            found.append(FurtherReasons(title, verdict, listed, max(0, len(of_it) - FURTHER_REASONS)))
    return found


def in_sentences(dossier: Dossier) -> list[str]:
    """The further reasons as sentences."""
    found = [says for group in further_reasons(dossier) for sentences, _ in group.reasons for says in sentences]
    return found[:FURTHER_REASONS]


def first_steps(dossier: Dossier) -> list[str]:
    """What can be done now about the reason in the headline, and in general; the others have their remedy beside
    them."""
    kept_back = reasons(dossier)
    return next_steps(dossier, [lead(dossier, kept_back)] if kept_back else [])


def next_steps(dossier: Dossier, of: Sequence[Finding] | None = None) -> list[str]:
    """What can be done now: changes of the plan that passed when they were tried, where anybody asked for such.

    Else the advice on each reason (`tasks.checks` has it), no sentence twice.

    of : the findings whose advice is wanted; None: of all that keep it back
    """
    kept_back = reasons(dossier)[: 1 + FURTHER_REASONS]
    if dossier.unadopted and state(dossier) is Verdict.PASS:
        return ["Have an office adopt contract and policy; then release it, and people are asked to approve."]
    if state(dossier) is Verdict.PASS:
        return [
            "Nothing has to be changed. The approvers read this report and the description of the files, then decide."
        ]
    if not kept_back:
        return ["Check that the policy's rules were carried out, and evaluate the release again."]
    advice = [finding.advice or _UNADVISED for finding in (kept_back if of is None else of)]
    if dossier.suggestions:
        advice = [f"This change of the plan passed when it was tried: {each}." for each in dossier.suggestions]
    elif isinstance(dossier.view, RecordsView) and any(_is_of_the_plan(finding) for finding in kept_back):
        advice.append(_ELSEWHERE if dossier.is_assessment else SUGGEST)
    if any(finding.verdict is Verdict.REVIEW for finding in kept_back):
        if state(dossier) is Verdict.REVIEW:
            advice.insert(0, f"{_who(dossier)}, other than the submitter, {_DECIDES}")
        else:
            advice.append(_DECIDED_LATER)
    return list(dict.fromkeys(advice))


def _who(dossier: Dossier) -> str:
    roles = " or ".join(dossier.decides)
    return f"Somebody with the role {roles}" if roles else "Somebody whom the policy names"


def _is_of_the_plan(finding: Finding) -> bool:
    """Whether another plan may pass where this one failed."""
    return finding.verdict is Verdict.FAIL and finding.stage in ("masked", "reference", "attack", "utility")


def waived(dossier: Dossier) -> list[Finding]:
    return [f for f in dossier.findings if f.binding and f.waiver and f.verdict in (Verdict.REVIEW, Verdict.FAIL)]


def accepted(dossier: Dossier) -> list[Finding]:
    """Those that needed a decision, and that people accepted for this release."""
    return [f for f in dossier.findings if f.binding and f.accepted and f.excused and not f.waiver]


_VARIABLES = 3  # that tell people apart, named at most
_ATTACKED = ("reference", "attack")


@dataclass(frozen=True)
class ToChange:
    """What keeps a release back, and one way out.

    rules : their names, as in the policy
    advice: what usually helps
    where : sentences on the variables and released categories that matter most
    """

    rules: tuple[str, ...]
    advice: str
    where: tuple[str, ...] = ()


def what_to_change(dossier: Dossier) -> list[ToChange]:
    """What keeps the release back, the worst first, each rule once, and rules with the same advice together."""
    found: dict[str, list[Finding]] = {}
    for finding in reasons(dossier)[: 1 + FURTHER_REASONS]:
        found.setdefault(finding.advice, []).append(finding)
    return [
        ToChange(
            tuple(dict.fromkeys(each.rule for each in some)),
            advice,
            tuple(line for each in some for line in each.where),
        )
        for advice, some in found.items()
    ]


def most_telling(dossier: Dossier) -> str:
    """Which released variables tell people apart most, and how much of them masking changed; '' where none is known.

    A variable tells as much as 2^H equally frequent values, of entropy H (the perplexity of its distribution). What
    the report may not show of a variable is not used.
    """
    if not isinstance(dossier.view, RecordsView):
        return ""
    told = [each for each in dossier.view.variables if each.entropy_after is not None and each.changed is not None]
    most = sorted(told, key=lambda each: -(each.entropy_after or 0.0))[:_VARIABLES]
    named = [
        f"{each.name} (like {figure(round(2 ** (each.entropy_after or 0.0)))} equally frequent values, "
        f"{percent(each.changed)} of them changed beside recoding)"
        for each in most
        if (each.entropy_after or 0.0) >= 1
    ]
    if not named:
        return ""
    return f"What still tells people apart most in the masked file: {'; '.join(named)}."


def in_lines(dossier: Dossier) -> list[str]:
    """The same as lines of text, and what tells people apart where an attack found them; none where all is well."""
    lines: list[str] = []
    for change in what_to_change(dossier):
        lines += [f"{', '.join(map(rule_words, change.rules))}: {change.advice}"] if change.advice else []
        lines += [f"  - {each}" for each in change.where]
    if any(finding.stage in _ATTACKED for finding in reasons(dossier)) and (tells := most_telling(dossier)):
        lines.append(tells)
    return lines
