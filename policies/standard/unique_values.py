"""Unique values: people who are alone with a value, or a pair of values, that masking left as it was.

It belongs to the reference standard. Where it is known whose each released record is, a value counts that stands on its
owner's record. Where it is not, a value may stand anywhere (permuting and drawing leave it somewhere by design), and
what counts is whether the record that holds it tells the owner's other values.
"""

from functools import partial

from policies.standard.comparable_values import cannot_be_compared
from policies.standard.copies import TEN_THOUSAND
from policies.standard.natural_frequency import natural_frequency, reported_share
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.comparable_values import comparable_values
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.variables import NAMES
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.reference.unique_values import unique_values, values_beside_unique_ones
from sluice.utility.comparison import Comparison

_ALLOWED = ", and chance and policy allow {allowed:per_10000} more."
_FOUND = (
    "(compared {how}), and are found by it on their own released record; {expected:per_10000} would be found by chance"
    f"{_ALLOWED}"
)
_SAYS = Sentences(
    "unique_values",
    beside="{share:People_10000} are alone with their value of {name} (compared {how}), which one released record "
    "has, and have the value of {other} in the same row; {expected:per_10000} have the value that the next "
    f"person in the order of the first has{_ALLOWED}",
    alone=f"{{share:People_10000}} are alone with their value of {{name}} {_FOUND}",
    together=f"{{share:People_10000}} are alone with their {{name}} and {{other}} together {_FOUND}",
    nobody="No value of one person alone occurs in exactly one released record.",
)

ASKS = {
    "unique_values": (
        "No more people are given away by a value that they alone have than reference, chance and the policy allow."
    ),
}
ADVICE = {
    "unique_values": (
        "Values that one person alone has came through: round, group, swap or smooth the variables named, also where "
        "they are mere measurements; removing digits that nobody needs costs an analyst nothing."
    ),
}
UNMEASURED = {"unique_values": "Release at least one variable of the original, so that something can be compared."}


def judge_unique_values(standard: ReferenceStandard, files: Comparison) -> Finding:
    """Whether more people are found by a unique value than chance and the standard's `unique_values_excess` allow.

    The variable or pair with the most of them beyond that decides.

    raises : DataError when the files are paired and differ in length
    cost   : see `unique_values`
    """
    recoded, masked = files.recoded, files.masked
    if files.paired and len(recoded) != len(masked):
        raise DataError("Unique values are looked for on each person's own record; the files differ in length.")
    names = [n for n, variable in files.released.items() if n in recoded.columns and variable.role not in NAMES]
    columns = {name: partial(comparable_values, recoded[name], masked[name]) for name in names}
    if not columns or not len(recoded) or not len(masked):
        return cannot_be_compared("unique_values")
    least = standard.unique_values_excess
    found = unique_values(columns, least) if files.paired else values_beside_unique_ones(columns)
    if not found:
        return Finding(
            rule="unique_values", verdict=Verdict.PASS, stage="reference", observed=0.0, attempted=len(recoded),
            completed=len(recoded), **as_fields(_SAYS.nobody()),
        )  # fmt: skip
    worst = max(found, key=lambda each: each.count.excess)
    count, tolerated = worst.count, standard.unique_values_excess
    share, _ = reported_share(count.found, count.records, files.minimum_cell)
    said = natural_frequency(count.found / count.records, count.records, files.minimum_cell, TEN_THOUSAND)
    allowed = count.chance + tolerated
    sentence = _SAYS.beside if not files.paired else _SAYS.alone if len(worst.names) == 1 else _SAYS.together
    named = dict(zip(("name", "other"), worst.names, strict=False))
    says = sentence(share=said, how=worst.how, expected=count.expected, allowed=allowed, **named)
    return Finding(
        rule="unique_values", verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL, stage="reference",
        **as_fields(says),
        scope=", ".join(worst.names), observed=share, limit=min(1.0, count.expected + allowed), attempted=count.records,
        completed=count.records,
    )  # fmt: skip
