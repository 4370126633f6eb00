"""Partial knowledge: whom an intruder finds by some variables of a person, and what they then learn of the others.

It belongs to the reference standard, and needs to know which released record is whose.
"""

from collections.abc import Sequence

from policies.rules.paired_rule import told_share
from policies.standard.learning_intruders import judge_reached
from policies.standard.reference_standard import AnyOf, Intruder
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import did_you_mean
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attribute_gain import AttributeGain, OtherVariable, attribute_gains, strongest_readings
from sluice.risk.linkage.kept_digits import with_digits
from sluice.risk.linkage.learned_intruder import LearnedIntruder, Reached
from sluice.risk.linkage.learned_linker import CandidatePosterior
from sluice.risk.linkage.worst_known import worst_known
from sluice.risk.measurement import if_near
from sluice.risk.people import groups_of_people
from sluice.utility.comparison import Comparison

_LEARNED_LINKAGE = Sentences(
    "learned_linkage",
    knowledge_not_declared="The contract does not say what '{knows}' knows; the policy asks what they find.{hint}",
    intruder_not_played="'{intruder}' could not be played: there are too few people, or no variable to compare.",
    nothing_known_released="Nothing is released of what '{intruder}' knows, so nobody is found by it.",
)
_OFF = (
    "off the records that are likeliest the person's for {share:percent} of {people:,} {unit}; in a file that they are "
    "not in, for {without:percent}. The policy allows {limit:pct} more. Among {others} other variables, "
    "this one reveals most."
)
_ATTRIBUTE_GAIN = Sentences(
    "attribute_gain",
    reads=f"{{who}} reads the right {{name}} {_OFF}",
    reads_nearly=f"{{who}} reads the right {{name}}, give or take {{within:.0%}} of the {{unit}}, {_OFF}",
    nothing_left="{who} has nothing left to learn: no other variable can be read.",
)

ASKS = {
    "attribute_gain": (
        "Who finds people by some variables learns no more of the others than from a file without them, beyond what "
        "the policy tolerates."
    ),
}
ADVICE = {
    "attribute_gain": (
        "Whoever finds a record by what they know learns the rest: coarsen the variables that the finding says are "
        "known, or mask them together with the one that is learned."
    ),
}


def judge_partial_knowledge(
    intruders: Sequence[Intruder], files: Comparison, learned: LearnedIntruder | None
) -> list[Finding]:
    """Findings on each intruder: whom they find, of whom they are sure, and what they learn of other variables.

    files   : paired
    learned : from `learned_intruder`; None where nothing could be learned
    cost    : that of LearnedIntruder.play for each; for `any` that of worst_known as well
    """
    findings = []
    for intruder in intruders:
        if isinstance(intruder.knows, str) and intruder.knows not in files.knowledge:
            hint = did_you_mean(intruder.knows, files.knowledge)
            says = _LEARNED_LINKAGE.knowledge_not_declared(knows=intruder.knows, hint=hint)
            findings.append(_plain(intruder, Verdict.UNKNOWN, says, files))
        elif learned is None:
            says = _LEARNED_LINKAGE.intruder_not_played(intruder=intruder.name)
            findings.append(_plain(intruder, Verdict.UNKNOWN, says, files))
        elif known := _known(intruder, learned, files):
            reached = learned.play(known)
            who = _who(intruder, [learned.linker.names[at] for at in known])
            findings += judge_reached(intruder, reached, who, files, intruder.name)
            findings.append(_judge_gain(intruder, who, known, reached, learned, files))
        else:
            says = _LEARNED_LINKAGE.nothing_known_released(intruder=intruder.name)
            findings.append(_plain(intruder, Verdict.PASS, says, files))
    return findings


def _known(intruder: Intruder, learned: LearnedIntruder, files: Comparison) -> Sequence[int]:
    """Positions of what is known and released."""
    if isinstance(intruder.knows, AnyOf):
        return worst_known(learned, intruder.knows.any, files.rng)
    names = {each for name in files.knowledge[intruder.knows] for each in with_digits(name)}
    return [at for at, name in enumerate(learned.linker.names) if name in names]


def _who(intruder: Intruder, known: Sequence[str]) -> str:
    *first, last = known
    listed = f"{', '.join(first)} and {last}" if first else last
    how = "the worst to know" if isinstance(intruder.knows, AnyOf) else f"as '{intruder.name}' does"
    return f"An intruder who knows a person's {listed} ({how})"


def _judge_gain(
    intruder: Intruder, who: str, known: Sequence[int], reached: Reached, learned: LearnedIntruder,
    files: Comparison,
) -> Finding:  # fmt: skip
    people, names = len(reached.rows), learned.linker.names
    # What is released as probabilities of its labels is not read.
    others = [_other(name, files) for at, name in enumerate(names) if at not in known and name in files.released]
    if not others:
        says = _ATTRIBUTE_GAIN.nothing_left(who=who)
        return _gain(intruder, Verdict.PASS, says, 0.0, people, files)
    tuned = CandidatePosterior.of(reached.tuned_rows, reached.tuned, reached.temperature)
    found = CandidatePosterior.of(reached.rows, reached.candidates, reached.temperature)
    units = groups_of_people(files.original, files.variables)[reached.rows]
    readings = strongest_readings(others, reached.tuned_rows, tuned)
    gains = attribute_gains(others, reached.rows, found, readings, units)
    worst = max(gains, key=lambda each: (_verdict(each, intruder.gain), each.gain))
    right, without = (told_share(each, people, files.minimum_cell) for each in (worst.right, worst.without))
    says = (_ATTRIBUTE_GAIN.reads_nearly if worst.within else _ATTRIBUTE_GAIN.reads)(
        who=who, name=worst.name, within=worst.within, share=right, people=people, unit=files.unit, without=without,
        limit=intruder.gain, others=len(others),
    )  # fmt: skip
    verdict = _verdict(worst, intruder.gain)
    few = 0 < worst.gain * people < files.minimum_cell
    near = if_near(verdict, worst.gain, intruder.gain, None if few else worst.interval)
    return _gain(intruder, verdict, says + near, worst.gain, people, files)


def _other(name: str, files: Comparison) -> OtherVariable:
    before, after = plain_values(files.recoded[name]), plain_values(files.masked[name])
    return OtherVariable.of(name, before, after, not files.released[name].kind.is_categorical)


def _verdict(gain: AttributeGain, limit: float) -> Verdict:
    """PASS only where the worse end of the interval keeps the limit."""
    low, high = gain.interval
    return Verdict.PASS if high <= limit else Verdict.FAIL if low > limit else Verdict.REVIEW


def _gain(intruder: Intruder, verdict: Verdict, says: Saying, gain: float, people: int, files: Comparison) -> Finding:
    few = 0 < gain * people < files.minimum_cell
    return Finding(
        rule="attribute_gain", verdict=verdict, **as_fields(says), scope=intruder.name, stage="reference",
        observed=None if few else gain, limit=intruder.gain, attempted=len(files.original), completed=people,
        binding=intruder.binding,
    )  # fmt: skip


def _plain(intruder: Intruder, verdict: Verdict, says: Saying, files: Comparison) -> Finding:
    n = len(files.original)
    return Finding(
        rule="learned_linkage", verdict=verdict, **as_fields(says), scope=intruder.name, stage="reference", attempted=n,
        completed=0 if verdict is Verdict.UNKNOWN else n, binding=intruder.binding,
    )  # fmt: skip
