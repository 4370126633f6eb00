"""Impossible: a limit on the share of masked records that break a rule across fields which their originals keep."""

from math import isnan, nan

from sluice.ground.sentence import Sentences
from sluice.utility.analyses.impossible_records import (
    ImpossibleRecords,
    broken_rules,
    impossible_records,
    tells_of_few,
)
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, Measured, figure, written_percent

_SAYS = Sentences(
    "impossible_records",
    no_rules="No record is looked at for impossible values: the contract has no rule across fields",
    no_variables="No record can be impossible: the file lacks a variable of each of the contract's rules across fields",
    not_known="How many records became impossible is not known: {why}",
    none="No record breaks a rule across fields that its original keeps",
    few="Some records, too few to be counted here, break a rule across fields that their originals keep ({name})",
    share="{share:percent} of the records break a rule across fields that their originals keep, most of them the rule "
    "{name}",
)


def impossible(files: Comparison) -> Found:
    """The share of newly impossible records, and for the report every rule; nothing where the contract has no rules."""
    if not files.record_rules:
        says = _SAYS.no_rules()
        return Found({"impossible_records": Measured(nan, says, "", 0, 0, written_percent, False)})
    paired = files.paired and len(files.original) == len(files.masked)
    found = impossible_records(
        files.record_rules, files.original, files.recoded, files.masked, files.variables, files.released, paired
    )
    return Found(
        {"impossible_records": _measured(found, files.minimum_cell)},
        {"impossible_records": broken_rules(found, files.minimum_cell)},
    )


def _measured(found: ImpossibleRecords, minimum_cell: int) -> Measured:
    value, few = found.share, tells_of_few(found, minimum_cell)
    worst = max((rule for rule in found.rules if not rule.unchecked), key=lambda rule: rule.newly, default=None)
    name = worst.rule.name if worst is not None and worst.newly else ""
    if not found.attempted:
        says = _SAYS.no_variables()
    elif isnan(value):
        why = next((each.unchecked for each in found.rules if each.unchecked and not each.left_out), "it has no record")
        says = _SAYS.not_known(why=why)
    elif not found.newly:
        says = _SAYS.none()
    elif few:
        says = _SAYS.few(name=name)
    else:
        says = _SAYS.share(share=figure(value), name=name)
    attempted, completed = found.attempted, found.completed
    return Measured(value, says, name, attempted, completed, written_percent, attempted > 0, few and found.newly > 0)
