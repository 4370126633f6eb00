"""Unique values: people who are alone with a value, or a pair of values, that masking left as it was.

It belongs to the reference standard. Where it is known whose each released record is, a value counts that stands on its
owner's record. Where it is not, a value may stand anywhere (permuting and drawing leave it somewhere by design), and
what counts is whether the record that holds it tells the owner's other values.
"""

from functools import partial

from policies.original_and_masked import OriginalAndMasked
from policies.standard.copies import TEN_THOUSAND
from policies.standard.natural_frequency import natural_frequency, per
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.reported_share import reported_share
from sluice.errors import DataError
from sluice.risk.comparable_values import comparable_values
from sluice.risk.reference.unique_values import UniqueValues, unique_values, values_beside_unique_ones
from sluice.variables import NAMES
from sluice.verdict import Finding, Verdict

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


def judge_unique_values(standard: ReferenceStandard, files: OriginalAndMasked) -> Finding:
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
        says = "No released variable can be compared with the original data."
        return Finding(rule="unique_values", verdict=Verdict.UNKNOWN, says=says, stage="reference", completed=0)
    least = standard.unique_values_excess
    found = unique_values(columns, least) if files.paired else values_beside_unique_ones(columns)
    if not found:
        return Finding(
            rule="unique_values", verdict=Verdict.PASS, stage="reference", observed=0.0, attempted=len(recoded),
            completed=len(recoded), says="No value that one person alone has stands on exactly one released record.",
        )  # fmt: skip
    worst = max(found, key=lambda each: each.count.excess)
    count, tolerated = worst.count, standard.unique_values_excess
    share, _ = reported_share(count.found, count.records, files.minimum_cell)
    said = natural_frequency(count.found / count.records, count.records, files.minimum_cell, TEN_THOUSAND)
    allowed = count.expected + count.chance + tolerated
    return Finding(
        rule="unique_values", verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL, stage="reference",
        says=f"{said[0].upper()}{said[1:]} {_how(worst, files.paired)}; {per(count.expected, TEN_THOUSAND)} "
        f"{_otherwise(files.paired)}, and chance and policy allow {per(count.chance + tolerated, TEN_THOUSAND)} more.",
        scope=", ".join(worst.names), observed=share, limit=min(1.0, allowed), attempted=count.records,
        completed=count.records,
    )  # fmt: skip


def _how(found: UniqueValues, paired: bool) -> str:
    if not paired:
        one, other = found.names
        return (
            f"are alone with their value of {one} (compared {found.how}), which one released record has, and have the "
            f"value of {other} that stands beside it"
        )
    what = (
        f"their value of {found.names[0]}" if len(found.names) == 1 else f"their {' and '.join(found.names)} together"
    )
    return f"are alone with {what} (compared {found.how}), and are found by it on their own released record"


def _otherwise(paired: bool) -> str:
    return "would be found by chance" if paired else "have the value that the next person in the order of the first has"
