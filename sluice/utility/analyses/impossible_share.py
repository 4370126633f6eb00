"""Impossible share: how many masked records break a rule across fields which their originals keep."""

from math import isnan, nan

from sluice.ground.sentence import Sentences
from sluice.utility.analyses.impossible_records import (
    ImpossibleRecords,
    broken_rules,
    impossible_records,
    tells_of_few,
)
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, figure
from sluice.utility.utility_measure import Family, Figure, Occasion, ShareMeasure

_SAYS = Sentences(
    "impossible_records",
    no_rules="No record is looked at for impossible values: the contract has no rule across fields",
    no_variables="No record can be impossible: the file lacks a variable of each of the contract's rules across fields",
    of_source="No masked record is looked at for impossible values: the contract's rules across fields are of the "
    "source alone",
    not_known="How many records became impossible is not known: {why}",
    none="No record breaks a rule across fields that its original keeps",
    few="Some records, too few to be counted here, break a rule across fields that their originals keep ({name})",
    share="{share:Percent} of the records break a rule across fields that their originals keep, most of them the rule "
    "{name}",
)


IMPOSSIBLE_RECORDS = ShareMeasure(
    "impossible_records",
    "share of records that break a rule across fields which their originals keep; without a limit any needs a "
    "decision, and more than 0.001 fail",
    "How many records became impossible",
    "Masking made records that break rules across fields: mask the variables of each rule together (swap or draw "
    "them as a group) or one of them within strata of the others, recode them instead of changing them one by one, or "
    "take one of them out. Noise, PRAM, random rounding and synthetic values keep rules by themselves where they can.",
    where_any=True,
    asks=0.001,  # more than drawing again leaves now and then: rules of the contract hold, or the plan does not pass
)


def impossible(files: Comparison) -> Found:
    """The share of newly impossible records, and for the report every rule; nothing where the contract has no rules."""
    if not files.record_rules:
        nothing = Occasion(0, _SAYS.no_rules(), ())
        return Found({"impossible_records": IMPOSSIBLE_RECORDS.judge(files, nothing, lambda: Figure(nan, ()))})
    held = any(rule.kept for rule in files.record_rules)
    paired = files.paired and len(files.original) == len(files.masked)
    found = impossible_records(
        files.record_rules, files.original, files.recoded, files.masked, files.variables, files.released, paired
    )
    unchecked = [each.unchecked for each in found.rules if each.rule.kept and each.unchecked and not each.left_out]
    why = next(iter(unchecked), "it has no record")
    not_known = _SAYS.not_known(why=why)
    occasion = Occasion(found.attempted, _SAYS.no_variables() if held else _SAYS.of_source(), not_known)
    return Found(
        {
            "impossible_records": IMPOSSIBLE_RECORDS.judge(
                files,
                occasion,
                lambda: Figure(nan, not_known) if isnan(found.share) else _figure(found, files.minimum_cell),
            )
        },
        {"impossible_records": broken_rules(found, files.minimum_cell)},
    )


def _figure(found: ImpossibleRecords, minimum_cell: int) -> Figure:
    few = tells_of_few(found, minimum_cell) and found.newly > 0
    held = (each for each in found.rules if each.rule.kept and not each.unchecked)
    worst = max(held, key=lambda each: each.newly, default=None)
    name = worst.rule.name if worst is not None and worst.newly else ""
    says = _SAYS.few(name=name) if few else _SAYS.share(share=figure(found.share), name=name)
    return Figure(found.share, says if found.newly else _SAYS.none(), found.completed, name, few)


IMPOSSIBLE = Family(impossible, (IMPOSSIBLE_RECORDS,), weighs=False)
