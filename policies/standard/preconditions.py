"""What must hold for the comparison with a reference to tell something: enough records, comparable values, nobody who
stands twice, no key that passes for a measured number, and settings that leave anything of the standard.
"""

import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.comparable_values import comparable_values
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Sentence, Sentences, as_fields, percent
from sluice.ground.variables import GROUPS, NAMES, Role, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coding import Coding
from sluice.risk.people_of_records import number_of_people, person_variable
from sluice.risk.reference.copies import unexplained_duplicates
from sluice.risk.row_groups import row_groups
from sluice.utility.comparison import Comparison

_LENIENT = Sentences(
    "lenient_standard",
    strict="The policy's own settings do not undo the standard.",
    lenient="The policy's own settings leave little of the standard: {settings:semicolons}.",
)

LENIENCY = (
    Declaration(
        "lenient_standard",
        about="Leniency: whether the policy's own settings leave anything of the standard.",
        asks="No setting of the policy tolerates more than that with which the standard could still be said to hold.",
        helps="Bring the settings that the finding names back to their defaults, or let the owner of the policy state "
        "in a waiver why they hold for these data.",
    ),
)

_DUPLICATES = Sentences(
    "duplicate_records",
    unexplained="More original records are equal in all released variables than different people would be. Where a "
    "person stands twice, the reference holds that person too and cannot tell whether the release is safe.",
    explained="No more original records are equal in all released variables than different people can be.",
)

DUPLICATE_RECORDS = (
    Declaration(
        "duplicate_records",
        about="Duplicate records: people who stand twice in the original, so that the reference holds them, too.",
        asks="No more people stand twice in the original than their values explain.",
        needs="People stand twice in the source, or rows were repeated: find out why and remove the doubles before "
        "masking, or release more variables; no masking cures it.",
    ),
)

_STAND_FOR_NOTHING = "stand for no original value that is known, so what they tell cannot be measured."
_READ = Sentences(
    "comparable_values",
    unread=f"Released labels {_STAND_FOR_NOTHING}",
    unread_of=f"Released labels of {{names:commas}} {_STAND_FOR_NOTHING}",
    unmeasured="The risk from these released variables is not measured: {unmeasured:commas}.",
    all="All released variables can be compared with the original ones.",
)
INCOMPARABLE = Sentence("comparable_values.none", "No released variable can be compared with the original data.")

COMPARABLE_VALUES = (
    Declaration(
        "comparable_values",
        about="Whether every released variable could be compared with the original one.",
        asks="Of every released variable it is known which original values a released one stands for.",
        helps="Say in the reference standard's weights that these variables count, or take them out of the release: of "
        "a free text or a number of a group nobody can measure what it tells.",
        needs="Let every released label stand for original ones: recode by rules that the plan states or, where the "
        "file was masked elsewhere, by a hierarchy of the contract, or hand it in with its rows in the original "
        "order (paired). Release at least one variable that can be compared.",
    ),
)

_LEAST_WEIGHT = 0.01  # of the largest; a variable that counts less is not compared in earnest
_UNREAD_SHARE = 0.001  # so few values that cannot be compared hide nobody; they count as if suppressed

FEWEST_ASIDE = 100  # people: with fewer, no attack on participants can tell anything

_SAYS = Sentences(
    "reference_size",
    too_few="There are too few records to compare the release with a reference at all.",
    enough="There are enough {which} records for the comparison to tell something.",
    few="There are {records:,} {which} records, fewer than the {asked:,} below which chance decides whether a release "
    "meets the reference standard.",
    few_people="The {which} records are of {people:,} people or firms, fewer than the {asked:,} below which chance "
    "decides whether a release meets the reference standard.",
    set_more_aside=" A larger holdout_share sets more aside.",
)

SAMPLE_SIZE = (
    Declaration(
        "reference_size",
        about="Whether there are enough people for a comparison with the reference to tell something.",
        asks="Original and reference hold records of as many people as the policy's minimum_records, so that a "
        "comparison of the two tells something: of somebody with several records one counts. Where fewer were set "
        "aside, the reference also holds the original without each person.",
        helps="The reference standard needs records of more people: release a larger file, set a larger holdout aside, "
        "or let the policy say review in when_fewer, so that a person decides.",
        needs="The reference standard needs records of more people: release a larger file, set a larger holdout aside, "
        "or let the policy say review in when_fewer, so that a person decides.",
    ),
)


def reference_records(original: int, aside: int) -> int:
    """How many people stand for others: where few were set aside, the original without each person beside them."""
    return aside + original - 1 if aside >= FEWEST_ASIDE else aside


def judge_size(
    standard: ReferenceStandard, original: pd.DataFrame, masked: pd.DataFrame, held: pd.DataFrame | None,
    variables: Variables,
) -> Finding:  # fmt: skip
    """Whether both are of enough people, whom `variables` may name: intervals are of people, not of their records."""
    counts = {"original": number_of_people(original, variables)}
    if standard.reference == "holdout":
        aside = 0 if held is None else number_of_people(held, variables)
        counts["held-out"] = reference_records(counts["original"], aside)
    which, fewest = min(counts.items(), key=lambda item: item[1])
    possible = min(fewest, len(masked)) > standard.neighbours
    if not possible:
        verdict, says = Verdict.UNKNOWN, _SAYS.too_few()
    elif fewest >= standard.minimum_records:
        verdict, says = Verdict.PASS, _SAYS.enough(which=which)
    else:
        verdict = {"unknown": Verdict.UNKNOWN, "review": Verdict.REVIEW, "judge": Verdict.PASS}[standard.when_fewer]
        if person_variable(original, variables) is None:
            says = _SAYS.few(records=fewest, which=which, asked=standard.minimum_records)
        else:
            says = _SAYS.few_people(people=fewest, which=which, asked=standard.minimum_records)
        says += _SAYS.set_more_aside() if which == "held-out" else ()
    return Finding(
        rule="reference_size", verdict=verdict, **as_fields(says), stage="reference", observed=fewest,
        limit=standard.minimum_records, attempted=fewest, completed=fewest if possible else 0,
    )  # fmt: skip


_NUMBERS = Sentences(
    "numbers_alone",
    shared="The contract says that the file has no quasi-identifier, but of {names:listed} there are few different "
    "values, which many {unit} share: somebody may know such a value of another, as they know an age or a code.",
    measured="Every variable is a measured number: hardly anybody shares a value.",
)

NUMBERS_ALONE = (
    Declaration(
        "numbers_alone",
        about="Whether a file said to hold measured numbers alone does so.",
        asks="Where the contract has quasi_identifiers: none, no variable has few values that many share, as an age, a "
        "size class or a code of a region has.",
        helps="Declare these variables as quasi-identifiers, so that groups of look-alikes are asked for, or give "
        "them the role identifier; if nobody can know them of another, let the owner of the policy say so in a waiver.",
    ),
)

_FEW_VALUES = 150  # more than there are ages, size classes or regions
_SHARED_BY = 4  # records a value, of those that have not the most frequent one: an amount is often 0


def judge_numbers_alone(files: Comparison) -> Finding:
    """Whether released variables of a file without quasi-identifiers are amounts, and no codes, ages or classes."""
    shared = []
    for name, variable in files.variables.items():
        if name not in files.released or variable.role in NAMES or variable.role is Role.WEIGHT:
            continue
        others = files.original[name].value_counts().iloc[1:]
        if len(others) < _FEW_VALUES and _SHARED_BY * len(others) < others.sum():
            shared.append(name)
    says = _NUMBERS.shared(names=shared, unit=files.unit) if shared else _NUMBERS.measured()
    return Finding(
        rule="numbers_alone", verdict=Verdict.REVIEW if shared else Verdict.PASS, stage="reference",
        attempted=len(files.original), completed=len(files.original), **as_fields(says),
    )  # fmt: skip


def judge_reading(coding: Coding, masked: pd.DataFrame, unread: int, passed_over: list[str]) -> Finding:
    values = len(masked) * len(coding.names)
    if unread > _UNREAD_SHARE * values:
        verdict = Verdict.UNKNOWN
        unread_of = coding.unread(masked)
        says = _READ.unread_of(names=unread_of) if unread_of else _READ.unread()
    elif unmeasured := list(dict.fromkeys([*coding.left_out, *passed_over])):
        verdict = Verdict.REVIEW
        says = _READ.unmeasured(unmeasured=unmeasured)
    else:
        verdict, says = Verdict.PASS, _READ.all()
    return Finding(
        rule="comparable_values", verdict=verdict, stage="reference", observed=unread / values,
        limit=_UNREAD_SHARE, attempted=values, completed=values - unread,
        **as_fields(says),
    )  # fmt: skip


def cannot_be_compared(rule: str) -> Finding:
    return Finding(rule=rule, verdict=Verdict.UNKNOWN, stage="reference", completed=0, **as_fields(INCOMPARABLE()))


def incomparable() -> Finding:
    return cannot_be_compared("comparable_values")


def unmeasured(standard: ReferenceStandard, released: Variables) -> list[str]:
    """Released variables that the comparison passes over: names of groups, and those that hardly weigh."""
    largest = max((standard.weights.get(name, 1.0) for name in released), default=1.0)
    return [
        name
        for name, variable in released.items()
        if variable.role in GROUPS or standard.weights.get(name, 1.0) < _LEAST_WEIGHT * largest
    ]


def judge_duplicates(coding: Coding, records: pd.DataFrame) -> Finding:
    duplicates = unexplained_duplicates(
        row_groups(comparable_values(records[name], records[name])[0] for name in coding.names).size
    )
    return Finding(
        rule="duplicate_records", verdict=Verdict.UNKNOWN if duplicates.unexplained else Verdict.PASS,
        **as_fields(_DUPLICATES.unexplained() if duplicates.unexplained else _DUPLICATES.explained()),
        stage="reference", observed=duplicates.share, attempted=len(records), completed=len(records),
    )  # fmt: skip


def judge_leniency(standard: ReferenceStandard) -> Finding:
    """What this policy tolerates beyond all with which the standard could still be said to hold."""
    lenient = [
        says
        for is_so, says in (
            (standard.margin > 0.1, f"margin {standard.margin:g}"),
            (standard.tail_share > 0.1, f"tail_share {standard.tail_share:g}"),
            (standard.tail_quantile < 0.001, f"tail_quantile {standard.tail_quantile:g}"),
            (standard.copies_excess > 0.1, f"copies_excess {standard.copies_excess:g}"),
            (standard.unique_values_excess > 0.05, f"unique_values_excess {standard.unique_values_excess:g}"),
            (standard.minimum_records < 100, f"minimum_records {standard.minimum_records}"),
            (standard.records < standard.minimum_records, f"only {standard.records} people are attacked"),
            (standard.when_fewer == "judge", "a file of fewer records is judged all the same"),
            (
                standard.learned.found > 0.34,
                f"an intruder who learns may find {percent(standard.learned.found)} of the people",
            ),
            (standard.learned.claims > 0.1, f"and be rightly sure of {percent(standard.learned.claims)}"),
            (
                standard.transparency.identified > 0.34,
                f"an intruder who knows the method may find {percent(standard.transparency.identified)}",
            ),
            (
                standard.transparency.confident > 0.1,
                f"and be rightly sure of {percent(standard.transparency.confident)}",
            ),
            (
                standard.transparency.reconstructed > 0.5,
                f"or compute {percent(standard.transparency.reconstructed)} of the values",
            ),
            (
                standard.units.found > 0.34 or standard.units.claims > 0.1,
                f"who knows a whole household may find {percent(standard.units.found)} more, or be rightly sure of "
                f"{percent(standard.units.claims)}",
            ),
            (not standard.units.binding, "nobody who knows a whole household decides"),
            (
                not standard.learned.binding and not any(intruder.binding for intruder in standard.intruders),
                "no intruder who learns decides",
            ),
            (not standard.transparency.binding, "no intruder who knows the method decides"),
            (
                min(standard.learned.people, standard.transparency.people) < 500,
                "fewer than 500 people are looked for",
            ),
            *(
                (
                    intruder.found > 0.34 or intruder.claims > 0.1 or intruder.gain > 0.2,
                    f"an intruder who knows {intruder.name} may find {percent(intruder.found)}, be rightly sure of "
                    f"{percent(intruder.claims)} or learn {percent(intruder.gain)} more",
                )
                for intruder in standard.intruders
                if intruder.binding
            ),
            (standard.transparency.participation > 0.3, f"participation {standard.transparency.participation:g}"),
            (standard.isolated_excess > 0.5, f"isolated_excess {standard.isolated_excess:g}"),
            ("distance" not in standard.binding, "the prediction distance does not decide"),
        )
        if is_so
    ]
    verdict, says = Verdict.PASS, _LENIENT.strict()
    if lenient:
        verdict = Verdict.REVIEW
        says = _LENIENT.lenient(settings=lenient)
    return Finding(rule="lenient_standard", verdict=verdict, **as_fields(says), stage="reference")
