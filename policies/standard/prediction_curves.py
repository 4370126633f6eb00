"""Prediction distance, ambiguity and uncertainty of release and reference, compared as distributions: of all people,
and of those of one group at a time, as a file may be safe on average and not for a minority.

Source: Lasko and Vinterbo (2010), section II.A.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from policies.reported_shares import natural_frequency
from policies.standard.reference_standard import MEASURES, Measure, ReferenceStandard
from sluice.ground.comparable_values import plain_values
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DocumentError
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.variables import Kind, Variable, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.reference.prediction import EquivalenceTest, equivalence_test
from sluice.risk.reference.reference_attack import Curve, ReferenceAttack, curve_grid, shares_at

_FARES = (
    "{group} is the group by {name} that fares worst: by prediction {measure} the release is nearer to up to "
    "{share:percent} more of its people than a file they are not in; {margin:percent} is tolerated"
)
_SUBGROUP = Sentences(
    "worst_subgroup",
    worst=f"{_FARES}.",
    not_beyond_chance=f"{_FARES} and this is not beyond chance.",
    not_attacked="By {name}, not every large group was attacked often enough to be judged by itself.",
    too_small="No group by {name} has the {records:,} records that the policy asks for.",
)

SUBGROUPS = (
    Declaration(
        "worst_subgroup",
        about="Subgroups: a file may be safe on average and not for a minority.",
        asks="In each subgroup, too, people find no nearer record in the release than they would without being in it.",
        helps="One group is protected less than the others: mask it by itself with strata, recode the categories that "
        "set it apart, or merge it with a like group.",
        needs="Name fewer or larger subgroups, attack more records, or lower subgroup_records to what the smallest "
        "group still allows to judge.",
    ),
)

BoolArray = npt.NDArray[np.bool_]

_QUARTERS = ("lowest", "second", "third", "highest")

_SAYS = Sentences(
    "prediction",
    few_records=" With so few records this proves nothing.",
    copies_of_one_another="The released records nearest to a person are copies of one another, by construction of the "
    "masking. This measure then says nothing of whether the person's values are safe: who finds the right group reads "
    "its values without any doubt.",
    not_computed="The prediction {measure} could not be computed for every record, so the release cannot be compared.",
)

_PREDICTION = "Prediction distance, ambiguity and uncertainty of release and reference, compared as distributions."
PREDICTION = (
    Declaration(
        "prediction_distance",
        about=_PREDICTION,
        asks="People find no nearer record to their own in the release than they would without being in it; of the "
        "share who do, no more than the margin beyond chance. Distance is how near the best match is.",
        helps="Released records lie nearer to the people than others' records would: swap over a wider window, "
        "microaggregate larger groups or add more noise on the variables that tell people apart.",
        source="Source: Lasko and Vinterbo (2010), section II.A.",
    ),
    Declaration(
        "prediction_ambiguity",
        about=_PREDICTION,
        asks="People's best match stands out among the next best no more than it would without them in the file; of "
        "the share for whom it does, no more than the margin beyond chance. Ambiguity is the distance of the best "
        "match over that of the k-th best.",
        helps="The best match stands out among the next best: bring records closer to each other, by coarser "
        "categories and larger groups, rather than moving single ones farther.",
        source="Source: Lasko and Vinterbo (2010), section II.A.",
    ),
    Declaration(
        "prediction_uncertainty",
        about=_PREDICTION,
        asks="The records nearest to people agree with each other no more than they would without them in the file; of "
        "the share for whom they do, no more than the margin beyond chance. Uncertainty is how much those records "
        "differ among themselves.",
        helps="The nearest records agree on one value: mix the values within neighbourhoods by swapping or noise, or "
        "decide by the other two measures where the method makes records alike on purpose.",
        source="Source: Lasko and Vinterbo (2010), section II.A.",
    ),
)

_ADVANTAGE: dict[Measure, tuple[str, str]] = {  # what an intruder gains, and does not gain
    "distance": ("gets closer to it", "gets no closer to it"),
    "ambiguity": (
        "can tell the best match better from the next best ones",
        "can tell the best match no better from the next best ones",
    ),
    "uncertainty": (
        "finds best matches that agree more with each other",
        "finds best matches that agree no more with each other",
    ),
}
_FIND: dict[Measure, str] = {  # what is counted, of people in the plural
    "distance": "find a record as near to their own",
    "ambiguity": "find a nearest record that stands out as much from the next ones",
    "uncertainty": "find nearest records that agree as much with each other",
}
_HELD: dict[Measure, str] = {  # what is so, for people
    "distance": "{released} holds a record as near to their own as {at:.3g} (0 is a copy, 1 a typical spread of each "
    "variable)",
    "ambiguity": "the nearest record of {released} is at most {at:.3g} times as far as number {neighbours}, so that it "
    "stands out",
    "uncertainty": "the {neighbours} nearest records of {released} agree with each other to {at:.3g} (their mean "
    "variance, in spreads)",
}
_INTRUDER = "an intruder who knows a person's true record"
_THAN = "with this release than with a file the person is not in."


def _of_each(what: str, words: Callable[[Measure], str]) -> dict[Measure, Sentence]:
    return {measure: Sentence(f"prediction_{measure}.{what}", words(measure)) for measure in _FIND}


_MORE = "in {released} than in a file that they are not in; {margin:per_1000} in every 1,000 are tolerated. "
_FEWER = _of_each("fewer", lambda measure: f"{{more:People_1000}} more {_FIND[measure]} {_MORE}")
_AT_MOST = _of_each("at_most", lambda measure: f"At most {{more:people_1000}} more {_FIND[measure]} {_MORE}")
_NO_MORE = _of_each(
    "no_more", lambda measure: f"No more people {_FIND[measure]} in {{released}} than in a file that they are not in. "
)
_NO_GAIN = _of_each("no_gain", lambda measure: f"So {_INTRUDER} {_ADVANTAGE[measure][1]} {_THAN}")
_PERHAPS = _of_each(
    "perhaps",
    lambda measure: f"That is more, but not beyond chance: perhaps {_INTRUDER} {_ADVANTAGE[measure][0]} {_THAN}",
)
_HOLDS = _of_each(
    "gain",
    lambda measure: (
        f"For {{here:people_1000}} {_HELD[measure]}; in a file that they are not in that is so for "
        f"{{there:people_1000}}, and {{margin:per_1000}} in every 1,000 more are tolerated. So {_INTRUDER} "
        f"{_ADVANTAGE[measure][0]} {_THAN}"
    ),
)


def judge_measure(
    standard: ReferenceStandard, measure: Measure, found: ReferenceAttack, size: Verdict, minimum_cell: int
) -> tuple[Finding, Curve | None]:
    release, reference = getattr(found.released, measure), getattr(found.reference, measure)
    binding, margin = measure in standard.binding, standard.margin * found.sampled
    test = equivalence_test(release, reference, margin, standard.alpha, found.units_of(np.ones(len(release), np.bool_)))
    verdict, says = test.verdict, _say(standard, measure, test, found, margin, minimum_cell)
    # Few records prove no release safe; an excess that is beyond chance in spite of them counts.
    if size > verdict and verdict is not Verdict.FAIL:
        verdict, says = size, says + _SAYS.few_records()
    if measure == "uncertainty" and np.mean(release == 0) > 0.99 and np.mean(reference == 0) < 0.5:
        verdict = Verdict.UNKNOWN if binding else Verdict.REVIEW
        says = _SAYS.copies_of_one_another()
    finding = Finding(
        rule=f"prediction_{measure}", verdict=verdict, **as_fields(says), stage="reference", observed=test.statistic,
        limit=margin, attempted=found.records, completed=found.attacked, binding=binding,
    )  # fmt: skip
    grid = curve_grid(release, reference, minimum_cell)
    if not grid:
        return finding, None
    curve = Curve(
        measure=measure, grid=grid, masked=shares_at(release, grid), reference=shares_at(reference, grid),
        statistic=test.statistic, at=min(grid, key=lambda value: abs(value - test.at)), margin=margin,
        p_value=test.p_value, verdict=verdict, binding=binding,
    )  # fmt: skip
    return finding, curve


def _say(
    standard: ReferenceStandard, measure: Measure, test: EquivalenceTest, found: ReferenceAttack, margin: float,
    minimum_cell: int,
) -> Saying:  # fmt: skip
    """The shares as people in every 1,000; of a few people only that they are few."""
    if test.verdict is Verdict.UNKNOWN:
        return _SAYS.not_computed(measure=measure)
    released = "the released file" if found.size_ratio == 1 else "as large a part of the released file"
    n, told = found.attacked, {"released": released, "margin": margin}
    if test.verdict is not Verdict.FAIL:
        more = natural_frequency(test.statistic, n, minimum_cell)
        few = isinstance(more, str) and more.startswith("fewer")
        sentences = _NO_MORE if not test.statistic else _FEWER if few else _AT_MOST
        closing = _NO_GAIN if test.verdict is Verdict.PASS else _PERHAPS
        return sentences[measure](more=more, **told) + closing[measure]()
    here, there = (natural_frequency(share, n, minimum_cell) for share in (test.release_share, test.reference_share))
    return _HOLDS[measure](here=here, there=there, at=test.at, neighbours=standard.neighbours, **told)


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
                    units = found.units_of(mine)
                    test = equivalence_test(release[mine], reference[mine], margin, alpha, units)
                    tests.append((test.verdict, test.statistic, says, measure))
        large = sum(int(members.sum()) >= standard.subgroup_records for _, members in groups)
        if not tests or large > len(tested):
            verdict, statistic = max((Verdict.UNKNOWN, *(test[0] for test in tests))), None
            sentence = _SUBGROUP.not_attacked(name=name)
            if not tests and not large:
                sentence = _SUBGROUP.too_small(name=name, records=standard.subgroup_records)
        else:
            verdict, statistic, says, measure = max(tests)
            figures = {"group": says, "name": name, "measure": measure, "share": statistic, "margin": margin}
            sentence = (_SUBGROUP.not_beyond_chance if verdict is Verdict.REVIEW else _SUBGROUP.worst)(**figures)
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
