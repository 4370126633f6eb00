"""Every model judges as the functions of `sluice.risk` judge the released frame; what it claims to be monotone is."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from sluice.generalization.cost_benefit import CostBenefit, NoAttack, Profitability, PublisherPayout
from sluice.generalization.lattice.node import Population
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import Ambiguity
from sluice.ground.errors import DataError, InfeasibleError
from sluice.risk.classes.alpha_k import AlphaKAnonymity
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.risk.classes.privacy_model import BesideHarmless, PrivacyModel
from sluice.risk.classes.sample_uniques import SampleUniques, sample_uniques_share
from sluice.risk.classes.t_closeness import EqualTCloseness, HierarchicalTCloseness, OrderedTCloseness
from sluice.risk.population.delta_presence import DeltaPresenceModel, presence
from sluice.risk.population.k_map import EstimatedKMap, KMapModel
from sluice.risk.population.population_rule import population_frequencies
from sluice.risk.population.population_uniques import PopulationUniquesModel, population_uniques
from sluice.risk.population.reidentification_risk import AverageRisk, HighestRisk, journalist_risk, prosecutor_risk
from tests.generalization.lattice import brute_force
from tests.generalization.objectives.record_losses import loss, lost_payouts
from tests.generalization.small_files import SmallFile, above, small_files

# Which records of a small file break a model, by the functions of `sluice.risk` on the released frame.


_ROUNDING = 1e-9
FILE_MODELS = (AverageRisk, SampleUniques, PopulationUniquesModel)


def breaks(model: PrivacyModel, file: SmallFile) -> np.ndarray:
    """Shape (n,), whether the class of each record does so; False for suppressed ones."""
    shown = np.flatnonzero(~file.hidden)
    broken = np.zeros(file.n, dtype=bool)
    if len(shown) and not isinstance(model, FILE_MODELS):
        broken[shown] = _class_breaks(model, file, shown)
    return broken


def _class_breaks(model: Any, file: SmallFile, shown: np.ndarray) -> np.ndarray:
    frame = file.frame("removed")
    frequencies = classes_of(frame, file.names).frequencies
    if isinstance(model, HighestRisk):
        return _risks(model, file, frame).risks > model.most + _ROUNDING
    if isinstance(model, KMapModel):
        return people(file, frame) < model.k
    if isinstance(model, EstimatedKMap):
        return frequencies < fewest(model, file.n)
    if isinstance(model, DeltaPresenceModel):
        fits = people(file, frame)
        return presence(np.minimum(frequencies, fits), fits) > model.highest + _ROUNDING
    if isinstance(model, NoAttack):
        return _risks(model, file, frame).risks * model.amounts.gain > model.amounts.cost
    if isinstance(model, Profitability):
        lost = np.array(lost_payouts(PublisherPayout(model.amounts, model.intruder), file))[shown]
        return model.amounts.benefit - lost <= _ROUNDING * model.amounts.benefit
    return brute_force.breaks(model, frame, file.keys)


def file_breaks(model: PrivacyModel, file: SmallFile, suppressed: str) -> bool:
    """Whether the file does so, with a class of the suppressed records where these are released."""
    frame = file.frame("removed")
    if suppressed == "released" and file.hidden.any():
        unknown = int(frame[file.names].isna().all(axis=1).sum())
        if _hidden_breaks(model, int(file.hidden.sum()) + unknown, len(file.people[0])):
            return True
        frame = file.frame()
    if isinstance(model, DeltaPresenceModel) and model.lowest:
        return _least_presence(file) < model.lowest - _ROUNDING
    return isinstance(model, FILE_MODELS) and figure(model, file, frame) > model.most + _ROUNDING


def figure(model: Any, file: SmallFile, frame: Any) -> float:
    classes = classes_of(frame, file.names)
    if isinstance(model, AverageRisk):
        return _risks(model, file, frame).average.value
    if isinstance(model, SampleUniques):
        return sample_uniques_share(classes.frequencies)
    try:
        return population_uniques(classes.sizes, model.population, model.estimator)[0].value
    except DataError:
        return np.inf


def relieved(model: PrivacyModel, file: SmallFile) -> np.ndarray:
    """Shape (n,), the records in the smallest classes."""
    frame = file.frame("removed")
    of_people = isinstance(model, AverageRisk) and model.intruder == "journalist"
    crowds = classes_of(frame, file.names).frequencies
    crowds = np.maximum(crowds, people(file, frame)) if of_people else crowds
    gone = np.zeros(file.n, dtype=bool)
    gone[np.flatnonzero(~file.hidden)] = crowds == crowds.min()
    return gone


def people(file: SmallFile, frame: Any) -> np.ndarray:
    """How many people fit each record of the frame; everybody fits one without any key."""
    population = file.population()
    fits = population_frequencies(frame, population, file.names)
    return np.where(frame[file.names].isna().all(axis=1), len(population), fits)


def fewest(model: EstimatedKMap, records: int) -> int:
    mean = model.k * records / model.population
    seen = poisson.sf(0, mean) if model.distribution == "zero_truncated_poisson" else 1.0
    return next(
        m for m in range(1, model.k + 1) if m == model.k or poisson.sf(m - 1, mean) / seen <= model.significance
    )


def _risks(model: Any, file: SmallFile, frame: Any) -> Any:
    frequencies = classes_of(frame, file.names).frequencies
    if model.intruder == "prosecutor":
        return prosecutor_risk(frequencies)
    return journalist_risk(frequencies, people(file, frame))


def _hidden_breaks(model: Any, hidden: int, everybody: int) -> bool:
    if isinstance(model, HighestRisk):
        return 1 / (hidden if model.intruder == "prosecutor" else max(hidden, everybody)) > model.most + _ROUNDING
    if isinstance(model, KMapModel):
        return everybody < model.k
    if isinstance(model, EstimatedKMap):
        return model.population < model.k
    if isinstance(model, DeltaPresenceModel):
        return hidden / max(hidden, everybody) > model.highest + _ROUNDING
    return hidden < getattr(model, "k", 0)


def _least_presence(file: SmallFile) -> float:
    frame = file.frame("removed").fillna(-1)
    inside = [tuple(row) for row in frame[file.names].to_numpy()]
    population = [tuple(row) for row in file.population().fillna(-1).to_numpy()]
    nobody = (-1.0,) * len(file.names)
    return min(
        min(inside.count(row) / (len(population) if row == nobody else population.count(row)), 1.0)
        for row in set(population)
    )


SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
INTRUDERS = st.sampled_from(["prosecutor", "journalist"])
AMOUNTS = st.builds(CostBenefit, *[st.sampled_from([0.0, 1.0, 4.0, 10.0])] * 4)
MODELS = st.one_of(
    st.builds(HighestRisk, st.sampled_from([0.2, 0.25, 0.5, 1.0]), INTRUDERS),
    st.builds(AverageRisk, SHARES, INTRUDERS),
    st.builds(SampleUniques, SHARES),
    st.builds(
        PopulationUniquesModel,
        SHARES,
        st.sampled_from([24.0, 100.0, 1000.0]),
        st.sampled_from(["dankar", "pitman", "zayatz", "snb"]),
    ),
    st.builds(KMapModel, st.integers(1, 8)),
    st.builds(
        EstimatedKMap,
        st.integers(1, 8),
        st.sampled_from([24.0, 60.0, 500.0]),
        st.sampled_from([0.01, 0.05, 0.3]),
        st.sampled_from(["poisson", "zero_truncated_poisson"]),
    ),
    st.builds(DeltaPresenceModel, SHARES),
    st.builds(DeltaPresenceModel, st.sampled_from([0.75, 1.0]), st.sampled_from([0.1, 0.25, 0.5])),
    st.builds(NoAttack, AMOUNTS, INTRUDERS),
    st.builds(Profitability, AMOUNTS, INTRUDERS),
)
WITH_OTHERS = MODELS | st.one_of(
    st.builds(KAnonymityModel, st.integers(1, 6)),
    st.builds(DistinctLDiversity, st.sampled_from(["a", "b"]), st.integers(1, 3)),
    st.builds(EqualTCloseness, st.sampled_from(["a", "b"]), st.sampled_from([0.1, 0.25, 0.4, 0.6])),
)


TREE = ((0, 1, 2, 3), (0, 0, 1, 1))
CLAIMING = WITH_OTHERS | st.sampled_from(
    [
        EntropyLDiversity("a", 1.8),
        RecursiveLDiversity("a", 1.5, 2),
        OrderedTCloseness("a", 0.2),
        HierarchicalTCloseness("a", 0.25, TREE),
        BetaLikenessModel("a", 1.0),
        BetaLikenessModel("a", 1.0, enhanced=True),
        DeltaDisclosureModel("a", 1.0),
        AlphaKAnonymity("a", 0.6, 2),
        BesideHarmless("a", DistinctLDiversity("a", 3), (0,)),
        BesideHarmless("a", EntropyLDiversity("a", 1.8), (0, 2)),
        BesideHarmless("a", RecursiveLDiversity("a", 1.5, 2), (0,)),
        BesideHarmless("a", RecursiveLDiversity("a", 1.5, 3), (0, 1)),
        BesideHarmless("a", EqualTCloseness("a", 0.2), (0,)),
        BesideHarmless("a", OrderedTCloseness("a", 0.1), (1,)),
        BesideHarmless("a", HierarchicalTCloseness("a", 0.15, TREE), (0, 3)),
        BesideHarmless("a", BetaLikenessModel("a", 0.7), (0,)),
        BesideHarmless("a", DeltaDisclosureModel("a", 0.5, absent=False), (0, 1)),
        BesideHarmless("a", AlphaKAnonymity("a", 0.4, 2), (0,)),
    ]
)


@given(small_files(), MODELS, st.sampled_from(["released", "removed"]))
def test_a_model_judges_as_the_measures_of_risk_do(file, model, suppressed):
    released = file.released(suppressed)
    failing = model.failing(released)[file.classes]
    assert (failing & ~file.hidden).tolist() == breaks(model, file).tolist()
    if not file.hidden.all():
        hidden_breaks = released.hidden_class > 0 and model.hidden_class_fails(released)
        assert (hidden_breaks or model.file_fails(released)) == file_breaks(model, file, suppressed)


@given(small_files(), CLAIMING, st.data())
def test_what_is_monotone_stays_satisfied_when_classes_are_united(file, model, data):
    file = replace(file, hidden=np.zeros(file.n, dtype=bool))
    higher = replace(above(data, file), hidden=file.hidden)
    below, over = file.released(), higher.released()
    fails, fails_above = model.failing(below)[file.classes], model.failing(over)[higher.classes]
    if model.monotone and not fails.any() and not model.file_fails(below):
        assert not fails_above.any()
        assert not model.file_fails(over)


@given(small_files(), CLAIMING, st.data())
def test_what_is_monotone_with_suppression_fails_only_where_all_parts_of_a_class_do(file, model, data):
    if getattr(model, "sensitive", None) == "b":
        return  # which has blanks: see test_worked_examples.py
    higher = above(data, file)
    lower = replace(file, hidden=higher.hidden)
    fails = model.failing(lower.released())[lower.classes]
    fails_above = model.failing(higher.released())[higher.classes]
    if model.monotone_with_suppression:
        assert not (fails_above & ~fails & ~higher.hidden).any()


@pytest.mark.chain
@given(
    small_files(),
    st.lists(WITH_OTHERS, min_size=1, max_size=3),
    st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    st.sampled_from(["released", "removed"]),
)
def test_the_search_finds_the_best_of_all_transformations_that_satisfy_a_conjunction(file, models, limit, suppressed):
    losses = []
    for levels in product(*(range(key.depth + 1) for key in file.keys)):
        at = hide(replace(file, levels=levels), models, suppressed)
        few = at.hidden.sum() <= int(limit * file.n + 1e-9)
        left = suppressed == "released" or not at.hidden.all()
        if few and left and not any(file_breaks(model, at, suppressed) for model in models):
            losses.append(loss(Ambiguity(), at))
    arguments = {
        "sensitive": file.sensitive,
        "population": Population(tuple(file.people)),
        "suppression_limit": limit,
        "suppressed": suppressed,
    }
    if not losses:
        with pytest.raises(InfeasibleError):
            search(file.keys, file.codes, models, Ambiguity(), **arguments)
        return
    found = search(file.keys, file.codes, models, Ambiguity(), **arguments)
    assert found.value == pytest.approx(min(losses))
    assert found.optimal


def hide(file, models, suppressed):
    """Suppress what breaks a model by itself, then what does so beside what is left, and so on; for models of the file
    then the smallest classes."""
    whole = replace(file, hidden=np.zeros(file.n, dtype=bool))
    hidden = np.any([whole.hidden, *(breaks(model, whole) for model in models if not model.compares)], axis=0)
    while not hidden.all():
        file = replace(file, hidden=hidden)
        more = np.any([breaks(model, file) for model in models], axis=0)
        if not more.any():
            for model in models:
                if isinstance(model, FILE_MODELS) and file_breaks(model, file, suppressed):
                    more |= relieved(model, file)
        if not more.any():
            break
        hidden = hidden | more
    return replace(file, hidden=hidden)
