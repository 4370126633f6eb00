"""All checks by their names: what each asks and why, what to do about what it found, and its source.

Each declares this beside the code that makes its findings: a rule of a policy by its class, a part of the reference
standard and a check under every policy by a `Declaration`, a measure of utility by its `Measure`. Here they are put
together, for reports, `sluice explain`, and whoever masks the data, protects the tables or submits them.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from policies.utility_limits import FAMILIES, UTILITY, UtilityLimits
from sluice.ground.declaration import Declaration, as_written, first_paragraph
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.ground.parameter_list import source_of
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.analysis_findings import KINDS
from sluice.utility.utility_measures import measures

RULES = rules(PolicyRule) | rules(AttackPolicyRule)

REASSESSMENT = (
    Declaration(
        "reassessment",
        helps="Find out what keeps the release from being judged again; where its data are gone, decide whether it "
        "stays public.",
    ),
)
_CANNOT_BE_EXCUSED = "A waiver cannot excuse what was not measured."
_INCOMPLETE = (
    "Find out why the check could not be completed (too few records, a missing variable, a step that stopped) and "
    "evaluate again."
)


def _of_rules() -> Iterator[Declaration]:
    for rule, model in RULES.items():
        yield Declaration(
            rule,
            model.about or first_paragraph(sys.modules[model.__module__].__doc__),
            first_paragraph(inspect.getdoc(model)),
            model.advice,
            model.needs,
            model.example,
            source_of(model),
        )


def _of_limits() -> Iterator[Declaration]:
    advice = {each.name: each.advice for each in measures(FAMILIES)} | {each.name: each.advice for each in KINDS}
    for name, helps in advice.items():
        limit = UtilityLimits.model_fields[name].description
        yield Declaration(name, asks=f"Loss of information stays within its limit: {limit}.", helps=helps)


def _of_standard() -> Iterable[Declaration]:
    from policies.standard.standard_checks import PARTS

    return PARTS


def _of_every_policy() -> Iterator[Declaration]:
    from policies.formula_cells import FORMULA_CELLS
    from policies.policy import OVERLOOKED_KEYS
    from policies.power import POWER
    from policies.pruned_publications import PRUNED
    from policies.several_publications import PUBLICATIONS
    from policies.standard.standard_checks import DECLARED
    from policies.waivers import WAIVER
    from schemas.checks.expectations import EXPECTATIONS
    from schemas.checks.expectations_run import EXPECTATIONS_RUN
    from schemas.checks.frame_check import CONTRACT
    from schemas.checks.profile import DRIFT
    from schemas.checks.sentinels import SENTINELS
    from sluice.tabular.suppression.manual_status import A_PRIORI
    from tasks.release.tables.table_findings import TABLE_AUDIT
    from tasks.workbench.masked_file import MASKED_FILE

    for declared in (
        CONTRACT, SENTINELS, EXPECTATIONS, EXPECTATIONS_RUN, DRIFT, DECLARED, UTILITY, OVERLOOKED_KEYS, POWER,
        FORMULA_CELLS, PUBLICATIONS, PRUNED, REASSESSMENT, TABLE_AUDIT, A_PRIORI, WAIVER, MASKED_FILE,
    ):  # fmt: skip
        yield from declared


_BY_KIND: Mapping[str, Callable[[], Iterable[Declaration]]] = {
    "Rules of a policy": _of_rules,
    "Limits on the loss of information": _of_limits,
    "Parts of the reference standard": _of_standard,
    "Checks under every policy": _of_every_policy,  # last: it loads what judges tables, which nobody needs for records
}


@cache
def _declared(kind: str) -> Mapping[str, Declaration]:
    return {each.rule: each for each in _BY_KIND[kind]()}


def declaration(name: str, stage: str = "") -> Declaration | None:
    """Of a rule by its name in a policy or a finding, or of what its name begins with, such as 'contract.kind'.

    stage : of the finding: a limit on utility and a part of the reference standard may have one name
    """
    kinds = list(_BY_KIND)
    if stage != "utility":
        kinds.insert(2, kinds.pop(1))
    for known in (name, name.partition(".")[0]):
        for kind in kinds:
            if found := _declared(kind).get(known):
                return found
    return None


def advice_on(finding: Finding) -> str:
    """What to do about a finding that did not pass; empty for a rule that nobody wrote advice for."""
    found = declaration(finding.rule, finding.stage)
    if finding.verdict is Verdict.UNKNOWN:
        return f"{(found and found.needs) or _INCOMPLETE} {_CANNOT_BE_EXCUSED}"
    return found.helps if found else ""


def with_advice(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each that did not pass with what to do about it."""
    return [
        finding if finding.verdict is Verdict.PASS else finding.model_copy(update={"advice": advice_on(finding)})
        for finding in findings
    ]


def explain(rule: str) -> Declaration:
    """Of a rule by its name in a policy, a finding or a report, such as 'k_anonymity', 'k-anonymity', 'contract.kind'.

    raises : SluiceError for a name that nothing has, with the nearest
    """
    name = as_written(rule)
    alike = {kind: _declared(kind)[name] for kind in _BY_KIND if name in _declared(kind)}
    found = _of_several(alike) if len(alike) > 1 else declaration(name)
    if found is None:
        raise SluiceError(
            f"RULE: no rule, measure or check is called '{rule}'.{did_you_mean(name, explained())} `sluice rules` "
            "lists those of a policy."
        )
    return found


def _of_several(alike: Mapping[str, Declaration]) -> Declaration:
    """What rules of one name are about and ask for, each after the kind that it is of."""

    def said(part: str) -> str:
        texts = {kind: getattr(each, part) for kind, each in alike.items()}
        return " ".join(f"{kind}: {text}" for kind, text in texts.items() if text)

    rule, waivable = next((each.rule, each.waivable) for each in alike.values())
    return Declaration(
        rule, said("about"), said("asks"), said("helps"), said("needs"), said("example"), said("source"), waivable
    )


def declarations() -> list[Declaration]:
    """Of all checks."""
    return [each for kind in _BY_KIND for each in _declared(kind).values()]


def explained() -> list[str]:
    """All names that can be explained, in order."""
    return sorted({each.rule for each in declarations()})


def explained_by_kind() -> dict[str, list[str]]:
    """The same by what they are, each once and each kind in order."""
    kinds = dict[str, list[str]]()
    for kind in _BY_KIND:
        before = {name for names in kinds.values() for name in names}
        kinds[kind] = sorted({*_declared(kind)} - before)
    return kinds
