"""All transformations of a small file, one after the other, judged on the frame that would be released.

Shares nothing with the search: classes and figures are those of `sluice.risk`, losses are added up record by record.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import exp, log, log2
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import quad

from sluice.generalization.lattice.key import Key
from sluice.generalization.objectives.class_losses import Discernibility
from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy
from sluice.generalization.objectives.objective import Objective
from sluice.risk.classes import alpha_k, beta_likeness, delta_disclosure, l_diversity, t_closeness
from sluice.risk.classes.alpha_k import AlphaKAnonymity
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes, classes_of
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.classes.t_closeness import EqualTCloseness, HierarchicalTCloseness, OrderedTCloseness

_ROUNDING = 1e-9
Frame = pd.DataFrame


def best(
    keys: Sequence[Key],
    codes: Sequence[np.ndarray],
    models: Sequence[PrivacyModel],
    objective: Objective,
    sensitive: Mapping[str, np.ndarray],
    limit: float,
    suppressed: str,
) -> dict[tuple[int, ...], tuple[float, int]]:
    """Loss and number of suppressed records of every transformation that satisfies the models."""
    found = {}
    for levels in product(*(range(key.depth + 1) for key in keys)):
        file = released(keys, codes, levels, sensitive)
        hidden = suppressed_records(file, keys, models, suppressed)
        if hidden.sum() > int(limit * len(hidden) + _ROUNDING):
            continue
        kept = file[~hidden]
        if suppressed == "released":
            file.loc[hidden] = np.nan
        elif suppressed == "without_keys" and len(kept):
            file.loc[hidden, [key.name for key in keys]] = np.nan
        else:
            file = kept
        if not len(file):
            continue
        if suppressed != "ignored" and any(breaks(model, file, keys).any() for model in models):
            continue
        found[levels] = loss(objective, keys, codes, levels, hidden), int(hidden.sum())
    return found


def released(
    keys: Sequence[Key], codes: Sequence[np.ndarray], levels: Sequence[int], sensitive: Mapping[str, np.ndarray]
) -> Frame:
    """The file at these levels; a missing key or value is missing."""
    columns: dict[str, Any] = {}
    for key, leaf, level in zip(keys, codes, levels, strict=True):
        shown = key.levels[level][leaf].astype(float)
        columns[key.name] = np.where(leaf == (-1 if key.missing is None else key.missing), np.nan, shown)
    columns |= {name: np.where(values < 0, np.nan, values) for name, values in sensitive.items()}
    return pd.DataFrame(columns)


def suppressed_records(file: Frame, keys: Sequence[Key], models: Sequence[PrivacyModel], suppressed: str) -> np.ndarray:
    """Records of classes that break a model, then of those that do once these are gone, and so on.

    Those of models on a class alone go first.
    """
    comparing = EqualTCloseness | OrderedTCloseness | HierarchicalTCloseness | BetaLikenessModel | DeltaDisclosureModel
    alone = [model for model in models if not isinstance(model, comparing)]
    hidden = np.zeros(len(file), dtype=bool)
    if suppressed in ("ignored", "without_keys"):
        return np.any([breaks(model, file, keys) for model in models], axis=0)
    for some in (alone, models):
        while some and not hidden.all():
            failing = np.any([breaks(model, file[~hidden], keys) for model in some], axis=0)
            if not failing.any():
                break
            hidden[np.flatnonzero(~hidden)[failing]] = True
    return hidden


def breaks(model: PrivacyModel, file: Frame, keys: Sequence[Key]) -> np.ndarray:
    """For each record whether its class breaks the model."""
    classes = classes_of(file, [key.name for key in keys])
    if isinstance(model, KAnonymityModel):
        return classes.frequencies < model.k
    small = classes.frequencies < (model.k if isinstance(model, AlphaKAnonymity) else 0)
    present = np.flatnonzero(file[model.sensitive].notna())
    if not len(present):
        return small
    failing = _failing(model, classes.of_records(present), file[model.sensitive].iloc[present].astype(int))
    labels = np.unique(classes.labels[present])
    return small | np.isin(classes.labels, labels[failing])


def _failing(model: Any, classes: EquivalenceClasses, column: "pd.Series[int]") -> np.ndarray:
    values = category_codes(column)
    if isinstance(model, DistinctLDiversity):
        return l_diversity.distinct_values(class_values(classes, values)) < model.l
    if isinstance(model, EntropyLDiversity) and model.corrected:
        return np.array([_corrected(values[classes.labels == c]) for c in range(len(classes.sizes))]) < model.l - 1e-7
    if isinstance(model, EntropyLDiversity):
        return l_diversity.effective_values(class_values(classes, values)) < model.l - _ROUNDING
    if isinstance(model, RecursiveLDiversity):
        return l_diversity.recursive_ratio(class_values(classes, values), model.l) >= model.c
    if isinstance(model, EqualTCloseness):
        return t_closeness.equal_distance(class_values(classes, values)) > model.t + _ROUNDING
    if isinstance(model, OrderedTCloseness):
        return t_closeness.ordered_distance(class_values(classes, values)) > model.t + _ROUNDING
    if isinstance(model, HierarchicalTCloseness):
        return t_closeness.hierarchical_distance(class_values(classes, column.to_numpy()), np.array(model.levels)) > (
            model.t + _ROUNDING
        )
    if isinstance(model, BetaLikenessModel):
        failing = beta_likeness.largest_gain(class_values(classes, values)) > model.beta + _ROUNDING
        return (
            failing
            | (beta_likeness.largest_bounded_gain(class_values(classes, values)) > 1 + _ROUNDING) & model.enhanced
        )
    if isinstance(model, DeltaDisclosureModel):
        return delta_disclosure.log_ratios(class_values(classes, values), model.absent) >= model.delta
    if isinstance(model, AlphaKAnonymity):
        wanted = None if model.values is None else np.array(model.values)
        if wanted is not None:
            known = np.unique(column)
            wanted = np.flatnonzero(np.isin(known, wanted))
        return alpha_k.largest_share(class_values(classes, values), wanted) > model.alpha + _ROUNDING
    raise NotImplementedError(type(model).__name__)


def _corrected(values: np.ndarray) -> float:
    """exp of Grassberger's estimate, by the integral of his equation 28 and harmonic numbers."""
    counts, euler = np.unique(values, return_counts=True)[1].tolist(), 0.5772156649015329
    total = 0.0
    for n in counts:
        g = sum(1 / i for i in range(1, n)) - euler + (-1) ** n * quad(lambda x, n=n: x ** (n - 1) / (1 + x), 0, 1)[0]
        total += n * g
    return exp(log(len(values)) - total / len(values))


def loss(
    objective: Objective, keys: Sequence[Key], codes: Sequence[np.ndarray], levels: Sequence[int], hidden: np.ndarray
) -> float:
    n = len(hidden)
    if isinstance(objective, Discernibility):
        groups = [key.levels[level][leaf] for key, leaf, level in zip(keys, codes, levels, strict=True)]
        shown = list(zip(*groups, strict=True))
        return float(sum(n if gone else shown.count(row) for row, gone in zip(shown, hidden, strict=True)))
    losses = []
    for key, leaf, level in zip(keys, codes, levels, strict=True):
        held, lost, most = key.levels[level], 0.0, 0.0
        for value, gone in zip(leaf, hidden, strict=True):
            if isinstance(objective, Loss):
                lost += 1.0 if gone else ((held == held[value]).sum() - 1) / max(key.values - 1, 1)
                most += 1.0
            elif isinstance(objective, NonUniformEntropy):
                same = (leaf == value).sum()
                lost += log2((n if gone else (held[leaf] == held[value]).sum()) / same)
                most += log2(n / same)
        losses.append(lost / most if most else 0.0)
    return aggregate(losses, [key.weight for key in keys], objective.aggregate)


def aggregate(losses: Sequence[float], weights: Sequence[float], how: str) -> float:
    values, shares = np.array(losses), np.array(weights)
    if how == "sum":
        return float(values @ shares)
    if how == "maximum":
        return float((values * shares).max())
    if how == "rank":
        return float(np.sort(values * shares)[::-1] @ 1000.0 ** -np.arange(len(values)))
    if not shares.sum():
        return 0.0
    if how == "mean":
        return float(np.average(values, weights=shares))
    return float(np.exp(np.average(np.log1p(values), weights=shares)) - 1)
