"""Transparency: what an intruder reaches who knows the masking plan and its published parameters.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": an attack is to be built on what is
known of the method. Each step of the plan declares its own.
"""

from math import inf

import numpy as np
import pandas as pd

from policies.reported_shares import disclosed_share
from policies.standard.reference_standard import TransparencyLimits
from sluice.ground.comparable_values import plain_values
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.transparency import MethodAttack, attacks_on, unexamined
from sluice.risk.measurement import if_near, verdict_within
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.transparency.attack import Leak, Pairs
from sluice.risk.transparency.masking_traces import traces
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "transparency",
    knows="An intruder who knows {knows} ",
    knows_person="An intruder who knows a person's {columns:commas} and {knows} ",
    identified="finds the own record of {share:percent} of the {unit} ({limit:percent} may be found)",
    confident="is rightly sure for {share:percent} of the {unit} ({limit:percent} may be)",
    reconstructed="computes {share:percent} of the values of {columns:commas} closely ({limit:percent} may be)",
    participation="is right {share:points} more often about those who took part than about others "
    "({limit:points} may be)",
    participation_none="is right no more often about those who took part than about others",
    claims="is more than half sure for {claimed:percent} of the {unit}, and right for {share:percent} "
    "({limit:percent} may be)",
    detail=": {detail}",
    besides="; ",
    method_not_known="Nobody said how the file was masked, so no attack that uses the method was played, but for what "
    "a guess shows.",
    no_attack="No attack is known that would use what is published of the plan's methods.",
    not_declared="The distribution that offers {methods:listed} declares no attack on it, so nobody looked for what "
    "undoes it.",
    not_played="The attack on {method} could not be played: {why}",
)

TRANSPARENCY = (
    Declaration(
        "transparency",
        about="Transparency: what an intruder reaches who knows the masking plan and its published parameters.",
        asks="Who knows the plan and its published parameters finds no more people, and reads no more values, than the "
        "policy allows.",
        helps="The finding names method and variables. Of values drawn anew, raise minimum_leaf or keep fewer of them. "
        "Else mask more strongly, or mask fewer variables by a method that treats each by itself. A method that mixes "
        "all of them is harder to undo: spectral_swapping, microaggregation of all together, sequential_trees.",
        source='Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping": an attack is to be '
        "built on what is known of the method. Each step of the plan declares its own. Where no plan is known, traces "
        "of methods that are easily undone are looked for.",
    ),
)

_CELLS = 300_000_000  # people times records that are compared at most, as long as a thousand people are attacked


def judge_transparency(limits: TransparencyLimits, files: Comparison) -> list[Finding]:
    """A finding for each method of the plan that an attack is known for, and for all of them together.

    Where there is no plan, or whoever offers a method declares no attack on it, an intruder guesses: a finding for each
    guess by which something comes back.
    """

    def says(verdict: Verdict, saying: Saying, scope: str = "", binding: bool = limits.binding) -> Finding:
        return Finding(
            rule="transparency", verdict=verdict, stage="attack", scope=scope, binding=binding, **as_fields(saying)
        )

    plan = files.carried_out
    attacks = [] if plan is None else attacks_on(plan, files.variables, files.released)
    open_findings = []
    if plan is None:
        open_findings = [says(Verdict.REVIEW, _SAYS.method_not_known(), binding=False)]
    elif methods := unexamined(plan):
        open_findings = [says(Verdict.REVIEW, _SAYS.not_declared(methods=methods), ", ".join(methods))]
    elif not attacks:
        return [says(Verdict.PASS, _SAYS.no_attack())]
    pairs = pairs_of(files, limits.people, limits.participation)
    if open_findings:
        attacks += [MethodAttack(trace.method, trace) for trace in traces(pairs)]
    return [*open_findings, *(_judged(limits, attack, pairs, files) for attack in attacks)]


def is_perturbed(files: Comparison, name: str) -> bool:
    """Whether values were changed other than by recoding: one original value became several labels, or a number another
    number."""
    if name not in files.recoded:
        return True
    before, after = (plain_values(file[name]) for file in (files.recoded, files.masked))
    left = ~pd.isna(after)
    if not (left & (before != after)).any():
        return False
    if after.dtype.kind == "f":
        return True
    became = pd.DataFrame({"value": plain_values(files.original[name])[left], "label": after[left]}).drop_duplicates()
    return bool(became["value"].duplicated().any())


def pairs_of(files: Comparison, people: int, participation: float | None = None) -> Pairs:
    """The files record by record, and at most so many people at random who are attacked."""
    n, rng = len(files.masked), files.rng
    attacked = min(n, people, max(1000, _CELLS // max(n, 1)))
    rows = np.sort(rng.choice(n, attacked, replace=False)) if attacked < n else np.arange(n)
    return Pairs(
        files.original, files.variables, files.recoded, files.masked, files.released, rows, rng, files.recoded_holdout,
        None if files.holdout is None else groups_of_people(files.holdout, files.variables),
        None if files.holdout is None else lambda: files.folds, participation,
    )  # fmt: skip


def _judged(limits: TransparencyLimits, of: MethodAttack, pairs: Pairs, files: Comparison) -> Finding:
    """The worst of the figures of one attack decides, and is said first; all of them are said."""
    scope = f"{of.method}: {', '.join(of.attack.columns)}"
    try:
        leaks = sorted(of.attack.play(pairs), key=lambda leak: _badness(limits, leak), reverse=True)
    except DataError as error:
        return Finding(
            rule="transparency", verdict=Verdict.UNKNOWN, stage="attack", scope=scope, binding=limits.binding,
            attempted=len(files.masked), completed=0, **as_fields(_SAYS.not_played(method=of.method, why=str(error))),
        )  # fmt: skip
    worst, worst_verdict = leaks[0], _verdict(limits, leaks[0])
    ends = _interval(worst, files.minimum_cell)
    says = (_SAYS.knows_person if of.attack.knows_person else _SAYS.knows)(
        columns=of.attack.columns, knows=of.attack.knows
    )
    for place, leak in enumerate(leaks):
        says += (_SAYS.besides() if place else ()) + _says(limits, leak, of.attack.columns, files)
    return Finding(
        rule="transparency", verdict=worst_verdict, stage="attack", scope=scope, binding=limits.binding,
        observed=_observed(worst, files.minimum_cell), limit=_limit(limits, worst),
        attempted=worst.measured.attempted, completed=worst.measured.completed,
        **as_fields(says + END() + if_near(worst_verdict, worst.measured.value, _limit(limits, worst), ends)),
    )  # fmt: skip


def _observed(leak: Leak, minimum_cell: int) -> float | None:
    """The figure, unless it tells of a few people."""
    share = leak.measured.value
    return None if 0 < share * leak.measured.completed < minimum_cell else share


def _interval(leak: Leak, minimum_cell: int) -> tuple[float, float] | None:
    """Its ends; None where they would tell of a few people."""
    return None if _observed(leak, minimum_cell) is None else leak.measured.interval


def _badness(limits: TransparencyLimits, leak: Leak) -> tuple[Verdict, float]:
    """The verdict, and among equal ones how much of its limit the figure reaches."""
    value, limit = leak.measured.value, _limit(limits, leak)
    return _verdict(limits, leak), value / limit if limit else inf if value > 0 else 0.0


def _limit(limits: TransparencyLimits, leak: Leak) -> float:
    allowed: float = getattr(limits, leak.kind)
    return min(1.0, allowed + (leak.measured.baseline or 0.0))


def _verdict(limits: TransparencyLimits, leak: Leak) -> Verdict:
    """PASS when the whole interval keeps the limit, FAIL when none of it does, REVIEW between."""
    measured, limit = leak.measured, _limit(limits, leak)
    if measured.completed == 0:
        return Verdict.UNKNOWN
    return verdict_within(measured.interval or (measured.value, measured.value), limit)


def _says(limits: TransparencyLimits, leak: Leak, columns: tuple[str, ...], files: Comparison) -> Saying:
    of, cell = leak.measured.completed, files.minimum_cell
    figures = {"share": disclosed_share(leak.measured.value, of, cell), "limit": _limit(limits, leak)}
    if leak.claims is None:
        none = "_none" if leak.kind == "participation" and leak.measured.value <= 0 else ""
        says: Saying = getattr(_SAYS, leak.kind + none)(unit=files.unit, columns=columns, **figures)
    else:
        says = _SAYS.claims(claimed=disclosed_share(leak.claims, of, cell), unit=files.unit, **figures)
    return says + (_SAYS.detail(detail=leak.says) if leak.says else ())
