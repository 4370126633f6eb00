"""The headline: the verdict on a release in plain words, and for each rule that blocks it, what helps and where."""

from dataclasses import dataclass

from sluice.ground.verdict import Finding, Verdict, decide, keeping_back
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.wording import figure, percent, rule_words

FURTHER_REASONS = 5  # below the headline

SUGGEST = (
    "sluice suggest FILE, with the definition of this release, tries changes of the plan and names the smallest that "
    "pass."
)
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
    if verdict is Verdict.PASS:
        number = len(waived(dossier))
        under = f" under {number} {'waiver' if number == 1 else 'waivers'}" if number else ""
        return f"Meets the policy{under}: {dossier.approvals_needed}"
    if not any(finding.binding for finding in dossier.findings):
        return "Blocked: nothing was judged, because no finding decides. What was not judged is not published."
    if not kept_back or kept_back[0].verdict < verdict:
        return "Blocked: the recorded verdict is worse than its findings explain. Evaluate the release again."
    word = {Verdict.REVIEW: "Held for a decision", Verdict.FAIL: "Blocked"}.get(verdict, "Blocked, could not be judged")
    return f"{word}: {kept_back[0].says}"


def next_steps(dossier: Dossier) -> list[str]:
    """What can be done now: changes of the plan that passed when they were tried, where anybody asked for such.

    Else the advice on each reason (`tasks.checks` has it), no sentence twice.
    """
    kept_back = reasons(dossier)[: 1 + FURTHER_REASONS]
    if state(dossier) is Verdict.PASS:
        return [
            "Nothing has to be changed. The approvers read this report and the description of the files, then decide."
        ]
    if not kept_back:
        return ["Check that the policy's rules were carried out, and evaluate the release again."]
    advice = [finding.advice or _UNADVISED for finding in kept_back]
    if dossier.suggestions:
        advice = [f"This change of the plan passed when it was tried: {each}." for each in dossier.suggestions]
    elif isinstance(dossier.view, RecordsView) and any(_is_of_the_plan(finding) for finding in kept_back):
        advice.append(SUGGEST)
    if any(finding.verdict is Verdict.REVIEW for finding in kept_back):
        advice.append(
            "Where a decision is needed, the owner of the policy may also record a waiver with a reason and an end."
        )
    return list(dict.fromkeys(advice))


def _is_of_the_plan(finding: Finding) -> bool:
    """Whether another plan may pass where this one failed."""
    return finding.verdict is Verdict.FAIL and finding.stage in ("masked", "reference", "attack", "utility")


def waived(dossier: Dossier) -> list[Finding]:
    return [f for f in dossier.findings if f.binding and f.waiver and f.verdict in (Verdict.REVIEW, Verdict.FAIL)]


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
