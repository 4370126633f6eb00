"""The attacks on a plan: those that its steps declare, method by method, and all methods together."""

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.masking.step import MaskingStep
from sluice.masking.subsets import ByStratum
from sluice.risk.transparency.attack import Attack, NoAttack
from sluice.risk.transparency.linkage import Linkage, Together


@dataclass(frozen=True)
class MethodAttack:
    """An attack and the method, or methods, that it is played on."""

    method: str
    attack: Attack


def attacks_on(carried_out: "Sequence[MaskingStep | ByStratum]") -> list[MethodAttack]:
    """The attacks to be played on a file that these steps masked.

    Linkages on the steps of one method are played as one, whatever their windows; where several methods masked the
    file, all linkages are also played together.
    """
    linkages: dict[str, list[Linkage]] = {}
    others: list[MethodAttack] = []
    for entry in carried_out:
        step = entry.step if isinstance(entry, ByStratum) else entry
        for attack in step.attacks():
            if isinstance(attack, Linkage):
                linkages.setdefault(step.method, []).append(attack)
            elif not isinstance(attack, NoAttack):
                others.append(MethodAttack(step.method, attack))
    by_method = [MethodAttack(method, Together.of(parts)) for method, parts in linkages.items()]
    if len(linkages) > 1:
        every = Together.of([part for parts in linkages.values() for part in parts])
        by_method.append(MethodAttack(" and ".join(linkages), every))
    return [*by_method, *others]
