"""The headline: the verdict on a release in plain words, for the report and the command line alike."""

from sluice.report.dossier import Dossier
from sluice.verdict import Finding, Verdict, decide

FURTHER_REASONS = 5  # shown beside the headline

# What a methodologist can do about a broken rule: the first line with a word of the rule's name gives the advice.
_ADVICE: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("diversity", "closeness", "sensitive"),
        "Recode the quasi-identifiers further so that their groups grow and mix, or coarsen the sensitive variable. A "
        "suppressed cell is a value of its own here: suppress with missing_matches: category, or a larger k.",
    ),
    (
        ("anonymity", "k_map", "unique", "class_size", "suda", "individual_risk", "population"),
        "Recode the quasi-identifiers further (wider age bands, larger areas) or suppress the rare values locally.",
    ),
    (
        ("copies", "copy", "match", "duplicate", "tail", "verbatim"),
        "Some records came through almost unchanged, often those that have few values: treat the variables that are "
        "shown below as hardly changed, perturb more, and recode categories further (spectral_swapping takes them).",
    ),
    (
        ("distance", "ambiguity", "uncertainty", "reference"),
        "Perturb more: a wider swapping window, larger microaggregation groups or more noise on the variables that "
        "tell people apart.",
    ),
    (
        ("link", "identif", "singling", "inference", "attack", "disclosure", "prediction"),
        "Perturb or recode the variables that the attack used; the finding's scope names them.",
    ),
    (
        ("dominance", "percent", "cell", "frequency"),
        "Merge table rows or columns until the cells are large enough, or suppress cells and their complements.",
    ),
)
_PIPELINE = "Find the step that stopped in the run's record, mend its cause and run the release again."
_AT_THE_SOURCE = "Correct the data at the source, or the contract if it is out of date"
_PROTECT_AGAIN = "Protect the tables again: suppress what the findings name, or assume stronger attackers."
_ADVICE_BY_STAGE = {
    "records": {
        "contract": f"{_AT_THE_SOURCE}; masking cannot cure this.",
        "utility": "Mask these variables more gently or with another method, then see whether the risk rules still "
        "hold.",
        "pipeline": _PIPELINE,
    },
    "tables": {
        "contract": f"{_AT_THE_SOURCE}; protection cannot cure this.",
        "original": "Look at the rules and at the table: with fewer or larger categories fewer cells are sensitive.",
        "masked": _PROTECT_AGAIN,
        "attack": _PROTECT_AGAIN,
        "utility": "Merge categories so that fewer cells are sensitive, let other cells bear the suppression, or "
        "publish intervals or rounded values.",
        "pipeline": _PIPELINE,
    },
}


def state(dossier: Dossier) -> Verdict:
    """The worse of the recorded verdict and what the findings add up to: a contradiction never opens the gate."""
    return max(dossier.verdict, decide(dossier.findings))


def reasons(dossier: Dossier) -> list[Finding]:
    """The findings that keep the release back, worst first, otherwise in the dossier's order."""
    deciding = [f for f in dossier.findings if f.binding and f.verdict is not Verdict.PASS]
    excused = [f for f in deciding if f.waiver and f.verdict is not Verdict.UNKNOWN]
    return sorted((f for f in deciding if f not in excused), key=lambda f: -f.verdict)


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
    """What the methodologist can do now: a sentence or two for each kind of reason, no sentence twice."""
    kept_back = reasons(dossier)[: 1 + FURTHER_REASONS]
    if state(dossier) is Verdict.PASS:
        return [
            "Nothing has to be changed. The approvers read this report and the description of the files, then decide."
        ]
    if not kept_back:
        return ["Check that the policy's rules were carried out, and evaluate the release again."]
    advice = [_advice(finding, dossier.view.kind) for finding in kept_back]
    if any(finding.verdict is Verdict.REVIEW for finding in kept_back):
        advice.append(
            "Where a decision is needed, the owner of the policy may also record a waiver with a reason and an end."
        )
    return list(dict.fromkeys(advice))


def _advice(finding: Finding, kind: str) -> str:
    if finding.verdict is Verdict.UNKNOWN:
        return (
            "Find out why the check could not be completed (too few records, a missing variable, a step that stopped) "
            "and evaluate again. A waiver cannot excuse what was not measured."
        )
    if finding.stage in _ADVICE_BY_STAGE[kind]:
        return _ADVICE_BY_STAGE[kind][finding.stage]
    return next(
        (text for words, text in _ADVICE if any(word in finding.rule for word in words)),
        "Read below what the rule found, change the definition and evaluate again.",
    )


def waived(dossier: Dossier) -> list[Finding]:
    return [f for f in dossier.findings if f.binding and f.waiver and f.verdict in (Verdict.REVIEW, Verdict.FAIL)]
