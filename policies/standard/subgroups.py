"""Subgroups: a file may be safe on average and not for a minority.

It belongs to the reference standard: the same curves, of the people of one group at a time.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from policies.standard.reference_standard import MEASURES, ReferenceStandard
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DocumentError
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.variables import Kind, Variable, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.reference.prediction import equivalence_test
from sluice.risk.reference.reference_attack import ReferenceAttack

_FARES = (
    "{group} is the group by {name} that fares worst: by prediction {measure} the release is nearer to up to "
    "{share:.1%} more of its people than a file they are not in; {margin:.1%} is tolerated"
)
_SAYS = Sentences(
    "worst_subgroup",
    worst=f"{_FARES}.",
    not_beyond_chance=f"{_FARES} and this is not beyond chance.",
    not_attacked="By {name}, not every large group was attacked often enough to be judged by itself.",
    too_small="No group by {name} has the {records:,} records that the policy asks for.",
)

ASKS = {
    "worst_subgroup": (
        "In each subgroup, too, people find no nearer record in the release than they would without being in it."
    ),
}
ADVICE = {
    "worst_subgroup": (
        "One group is protected less than the others: mask it by itself with strata, recode the categories that set "
        "it apart, or merge it with a like group."
    ),
}
UNMEASURED = {
    "worst_subgroup": (
        "Name fewer or larger subgroups, attack more records, or lower subgroup_records to what the smallest group "
        "still allows to judge."
    ),
}

BoolArray = npt.NDArray[np.bool_]

_QUARTERS = ("lowest", "second", "third", "highest")


def judge_subgroups(
    standard: ReferenceStandard, found: ReferenceAttack, original: pd.DataFrame, variables: Variables,
    minimum_cell: int,
) -> list[Finding]:  # fmt: skip
    """A finding on the worst subgroup of each variable that the standard names.

    found    : the attack, of which some records are those of the group
    original : typed by `variables`, the rows as they were attacked
    raises   : DocumentError when a subgroup names no variable, or one of free text

    The worst is the one with the gravest verdict, then with the largest difference, among the binding measures. A
    difference is held against the file only beyond chance in so many looks: alpha is shared out among all groups and
    measures. Groups of fewer than `subgroup_records` attacked records are too small to tell; when every group is, or
    one is so only because few records were attacked, the answer is UNKNOWN.
    """
    findings = []
    margin = standard.margin * found.sampled
    for name in standard.subgroups:
        groups = list(_groups(name, original, variables, minimum_cell))
        attacked = [(says, members[found.rows]) for says, members in groups]
        tested = [(says, mine) for says, mine in attacked if mine.sum() >= standard.subgroup_records]
        alpha = standard.alpha / max(1, len(tested) * len(standard.binding))
        tests = []
        for says, mine in tested:
            for measure in MEASURES:
                if measure in standard.binding:
                    release, reference = getattr(found.released, measure), getattr(found.reference, measure)
                    test = equivalence_test(release[mine], reference[mine], margin, alpha)
                    tests.append((test.verdict, test.statistic, says, measure))
        large = sum(int(members.sum()) >= standard.subgroup_records for _, members in groups)
        if not tests or large > len(tested):
            verdict, statistic = max((Verdict.UNKNOWN, *(test[0] for test in tests))), None
            sentence = _SAYS.not_attacked(name=name)
            if not tests and not large:
                sentence = _SAYS.too_small(name=name, records=standard.subgroup_records)
        else:
            verdict, statistic, says, measure = max(tests)
            figures = {"group": says, "name": name, "measure": measure, "share": statistic, "margin": margin}
            sentence = (_SAYS.not_beyond_chance if verdict is Verdict.REVIEW else _SAYS.worst)(**figures)
        findings.append(
            Finding(
                rule="worst_subgroup",
                verdict=verdict,
                **as_fields(sentence),
                scope=name,
                stage="reference",
                observed=statistic,
                limit=margin,
                attempted=len(groups),
                completed=len(tested),
                binding=standard.subgroups_bind,
            )
        )
    return findings


def _groups(
    name: str, original: pd.DataFrame, variables: Variables, minimum_cell: int
) -> Iterator[tuple[str, BoolArray]]:
    """What the report may call each group, and who belongs to it: categories, or quarters of a number or date."""
    if name not in variables:
        raise DocumentError(f"the data have no variable '{name}'.", field="subgroups", came=name, allowed=variables)
    if variables[name].kind is Kind.TEXT:
        raise DocumentError(f"'{name}' is a text; give a category, a number or a date.", field="subgroups")
    values = plain_values(original[name])
    missing = pd.isna(values)
    if missing.any():
        yield "Those without a value", missing
    if variables[name].kind.is_categorical:
        for category in pd.unique(values[~missing]):
            members = np.asarray(values == category)
            yield _called(str(category), variables[name], int(members.sum()), minimum_cell), members
    elif not missing.all():
        edges = np.quantile(values[~missing], [0.25, 0.5, 0.75])
        quarter = np.searchsorted(edges, values, side="right")
        for place, called in enumerate(_QUARTERS):
            yield f"The {called} quarter", (quarter == place) & ~missing


def _called(category: str, variable: Variable, records: int, minimum_cell: int) -> str:
    """A category's own name only where it is declared, so no value of the data, and common enough to be named."""
    if variable.categories is not None and category in variable.categories and records >= minimum_cell:
        return f"'{category}'"
    return "One category"
