"""The attacks on a plan: those that its steps declare, method by method, and all methods together."""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.ground.variables import Variables
from sluice.masking.plan import ByStratum
from sluice.masking.step import MaskingStep
from sluice.risk.transparency.attack import Attack, NoAttack
from sluice.risk.transparency.learned_closeness import LearnedCloseness
from sluice.risk.transparency.linear_change import LinearChange
from sluice.risk.transparency.linkage import Linkage, Strongest, Together
from sluice.risk.transparency.pairs import RANKED
from sluice.risk.transparency.strata import WithinStrata


@dataclass(frozen=True)
class MethodAttack:
    """An attack and the method, or methods, that it is played on."""

    method: str
    attack: Attack


def attacks_on(
    carried_out: "Sequence[MaskingStep | ByStratum]", variables: Variables, released: Variables
) -> list[MethodAttack]:
    """The attacks to be played on a file that these steps masked.

    Linkages on the steps of one method are played as one, whatever their windows; where several methods masked the
    file, all linkages are also played together. A variable that several steps perturbed, or whose kind the method's
    own attack cannot compare after a recoding, is compared by what true pairs show.

    variables, released : before and after the plan
    """
    steps = [entry.step if isinstance(entry, ByStratum) else entry for entry in carried_out]
    common = [name for name in variables if name in released]
    linkages: dict[str, list[Linkage]] = {}
    learned: dict[str, list[str]] = {}  # by the methods that perturbed them
    others: list[MethodAttack] = []
    for at, entry in enumerate(carried_out):
        step = steps[at]
        for attack in _declared(entry):
            if not isinstance(attack, Linkage):
                others.append(MethodAttack(step.method, attack))
                continue
            own = [name for name in attack.columns if name in common]
            beside = {name: _perturbing(steps, at, name) for name in own}
            kept = [name for name in own if not beside[name] and released[name].kind in attack.kinds]
            if step.unit == "household" and not step.keeps_households:
                kept = []  # one record of each was masked, and ranks and groups are theirs
            for name in own:
                if name not in kept:
                    methods = " and ".join(sorted({step.method, *beside[name]}))
                    learned.setdefault(methods, []).append(name)
            if kept:
                linkages.setdefault(step.method, []).append(attack.restricted(tuple(kept)))
    for methods, names in learned.items():
        linkages.setdefault(methods, []).append(_by_pairs(tuple(dict.fromkeys(names)), variables, released))
    by_method = [MethodAttack(method, Together.of(parts)) for method, parts in linkages.items()]
    if len(linkages) > 1:
        every = Together.of([part for parts in linkages.values() for part in parts])
        by_method.append(MethodAttack(" and ".join(linkages), every))
    return [*by_method, *others]


def _declared(entry: "MaskingStep | ByStratum") -> list[Attack]:
    """The attacks of a step; linkages of a step done by strata look within them."""
    if not isinstance(entry, ByStratum):
        return [attack for attack in entry.attacks() if not isinstance(attack, NoAttack)]
    whole = [attack for attack in entry.step.attacks() if not isinstance(attack, (NoAttack, Linkage))]
    within = {}
    for stratum, fitted in entry.fitted.items():
        parts = [attack for step in fitted for attack in step.attacks() if isinstance(attack, Linkage)]
        if parts:
            within[stratum] = Together.of(parts)
    if not within:
        return whole
    columns = tuple(dict.fromkeys(name for part in within.values() for name in part.columns))
    return [*whole, WithinStrata(columns, entry.step.strata, within)]


def _perturbing(steps: Sequence[MaskingStep], at: int, name: str) -> set[str]:
    """The other steps' methods that changed this variable by more than a recoding, or took a sample afterwards."""
    return {
        step.method
        for number, step in enumerate(steps)
        if number != at and not step.is_recoding and step.concerns(name) and not (step.is_sampling and number < at)
    }


def _by_pairs(names: tuple[str, ...], variables: Variables, released: Variables) -> Linkage:
    """Compare values by what true pairs show: numbers also along the directions in which they vary together."""
    numbers = tuple(name for name in names if {variables[name].kind, released[name].kind} <= set(RANKED))
    closeness, others = LearnedCloseness(names), tuple(name for name in names if name not in numbers)
    if not numbers:
        return closeness
    linear: Linkage = LinearChange(numbers, closeness.knows)
    return Strongest(names, (closeness, Together.of([linear, LearnedCloseness(others)] if others else [linear])))
