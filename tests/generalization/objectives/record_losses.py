"""What a transformation loses, added up record by record."""

from collections import Counter

import numpy as np

from sluice.generalization.cost_benefit import PublisherPayout
from sluice.generalization.objectives.class_losses import Ambiguity, AverageClassSize, Classification, KLDivergence
from sluice.generalization.objectives.key_losses import Height, Precision
from sluice.generalization.objectives.objective import Objective
from tests.generalization.lattice.brute_force import aggregate
from tests.generalization.small_files import SmallFile


def loss(objective: Objective, file: SmallFile) -> float:
    records = range(file.n)
    shown = [tuple(row) for row in file.frame().fillna(-1)[file.names].to_numpy()]
    if isinstance(objective, Height):
        return sum(key.weight * level for key, level in zip(file.keys, file.levels, strict=True))
    if isinstance(objective, AverageClassSize):
        return file.n / len(set(shown))
    if isinstance(objective, Precision):
        return _precision(objective, file)
    if isinstance(objective, Classification):
        return _misclassified(file, objective.column, shown)
    combinations = [np.prod([_leaves(file, at, record) for at in range(len(file.keys))]) for record in records]
    all_values = float(np.prod([max(key.values, 1) for key in file.keys]))
    if isinstance(objective, Ambiguity):
        return float(np.mean([all_values if file.hidden[i] else combinations[i] for i in records]))
    groups = [tuple(key.levels[level][leaf[i]] for key, level, leaf in _keys(file)) for i in records]
    if isinstance(objective, KLDivergence):
        return _divergence(file, groups, combinations)
    if isinstance(objective, PublisherPayout):
        return sum(lost_payouts(objective, file))
    raise NotImplementedError(type(objective).__name__)


def lost_payouts(objective: PublisherPayout, file: SmallFile) -> list[float]:
    """Of each record."""
    combinations = [np.prod([_leaves(file, at, record) for at in range(len(file.keys))]) for record in range(file.n)]
    all_values = float(np.prod([max(key.values, 1) for key in file.keys]))
    groups = [tuple(key.levels[level][leaf[i]] for key, level, leaf in _keys(file)) for i in range(file.n)]
    return [_lost_payout(objective, file, groups, i, combinations[i], all_values) for i in range(file.n)]


def _keys(file):
    return zip(file.keys, file.levels, file.codes, strict=True)


def _leaves(file: SmallFile, at: int, record: int) -> int:
    groups = file.keys[at].levels[file.levels[at]]
    return int((groups == groups[file.codes[at][record]]).sum())


def _precision(objective: Precision, file: SmallFile) -> float:
    losses = []
    for key, level, leaf in _keys(file):
        share = level / key.depth if key.depth else 0.0
        lost = [
            1.0 if gone else 0.0 if value == key.missing else share
            for value, gone in zip(leaf, file.hidden, strict=True)
        ]
        losses.append(float(np.mean(lost)))
    return aggregate(losses, [key.weight for key in file.keys], objective.aggregate)


def _misclassified(file: SmallFile, column: str, shown: list) -> float:
    wrong, known = 0, 0
    for value, gone in zip(file.sensitive[column], file.hidden, strict=True):
        known += value >= 0
        wrong += value >= 0 and gone
    for look in set(shown):
        alike = [
            value
            for other, value, gone in zip(shown, file.sensitive[column], file.hidden, strict=True)
            if other == look and not gone and value >= 0
        ]
        wrong += len(alike) - max(Counter(alike).values(), default=0)
    return wrong / known if known else 0.0


def _divergence(file: SmallFile, groups: list, combinations: list) -> float:
    """Over the combinations of leaves that occur: the true share by the one that a reader assumes."""
    n, total = file.n, float(np.prod([key.levels.shape[1] for key in file.keys]))
    original = list(zip(*file.codes, strict=True))
    divergence = 0.0
    for leaf in set(original):
        at = original.index(leaf)
        alike, area = (file.hidden.sum(), total) if file.hidden[at] else (groups.count(groups[at]), combinations[at])
        share = original.count(leaf) / n
        divergence += share * np.log2(share / (alike / n / area))
    return divergence


def _lost_payout(objective, file, groups, record, combinations, all_values) -> float:
    amounts = objective.amounts
    if file.hidden[record]:
        return amounts.benefit
    fits = groups.count(groups[record])
    if objective.intruder == "journalist":
        unknown = all(leaf[record] == key.missing for key, _, leaf in _keys(file))
        everybody = [
            tuple(
                key.levels[level][people[i]]
                for key, level, people in zip(file.keys, file.levels, file.people, strict=True)
            )
            for i in range(len(file.people[0]))
        ]
        fits = len(everybody) if unknown else everybody.count(groups[record])
    payout = amounts.benefit * (1 - (np.log(combinations) / np.log(all_values) if all_values > 1 else 0.0))
    if amounts.gain / fits > amounts.cost:
        payout -= amounts.penalty / fits
    return amounts.benefit - payout
