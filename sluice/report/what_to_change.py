"""What to change: for each rule that keeps a release back, what helps and where it is broken."""

from dataclasses import dataclass

from sluice.ground.verdict import Finding
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.headline import FURTHER_REASONS, reasons
from sluice.report.wording import figure, percent, rule_words

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
