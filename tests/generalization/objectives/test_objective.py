"""Every objective is what its records add up to, and its bounds are below whatever lies above."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import InfeasibleError
from sluice.generalization.cost_benefit import CostBenefit
from sluice.generalization.lattice.search import search
from sluice.generalization.lattice.suppression import Requirements, suppression
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.objectives.ambiguity import Ambiguity
from sluice.generalization.objectives.average_class_size import AverageClassSize
from sluice.generalization.objectives.classification import Classification
from sluice.generalization.objectives.discernibility import Discernibility
from sluice.generalization.objectives.height import Height
from sluice.generalization.objectives.kl_divergence import KLDivergence
from sluice.generalization.objectives.loss import Loss
from sluice.generalization.objectives.non_uniform_entropy import NonUniformEntropy
from sluice.generalization.objectives.precision import Precision
from sluice.generalization.objectives.publisher_payout import PublisherPayout
from tests.generalization.objectives.record_losses import loss
from tests.generalization.small_files import above, small_files

AGGREGATES = st.sampled_from(["sum", "mean", "maximum", "geometric", "rank"])
OBJECTIVES = st.one_of(
    st.builds(Precision, AGGREGATES),
    st.builds(Classification, st.sampled_from(["a", "b"])),
    st.sampled_from([Ambiguity(), AverageClassSize(), Height(), KLDivergence()]),
    st.builds(
        PublisherPayout,
        st.builds(CostBenefit, *[st.sampled_from([0.0, 1.0, 5.0, 30.0])] * 4),
        st.sampled_from(["prosecutor", "journalist"]),
    ),
)
WITH_OTHERS = OBJECTIVES | st.builds(Loss, AGGREGATES) | st.sampled_from([Discernibility(), NonUniformEntropy()])


@given(small_files(), OBJECTIVES)
def test_the_loss_is_that_of_the_records(file, objective):
    value = objective.of(file.bottom).value(file.node, file.hidden_classes)
    assert value == pytest.approx(loss(objective, file), abs=1e-9)


@given(small_files(), WITH_OTHERS, st.data())
def test_nothing_above_loses_less_than_the_bounds_say(file, objective, data):
    measure = objective.of(file.bottom)
    higher = above(data, file)
    highest = above(data, higher)
    # Suppressed in the highest node, and so in all below it: what they lose there is the least that they lose.
    certain = measure.extra(highest.node, highest.hidden_classes)
    between = replace(higher, hidden=higher.hidden | highest.hidden)
    between = replace(between, hidden=between.hidden_classes[between.classes])
    value = measure.value(between.node, between.hidden_classes)
    node = file.node if measure.by_classes else None
    assert measure.least(file.levels, node, measure.nothing) <= value + 1e-9
    assert measure.least(file.levels, node, certain) <= value + 1e-9
    with_more = measure.extra(between.node, between.hidden_classes)
    assert all(least <= more + 1e-9 for least, more in zip(certain, with_more, strict=True))


@given(small_files(), OBJECTIVES, st.integers(1, 4), st.sampled_from([0.0, 0.3]))
def test_the_search_finds_the_transformation_that_loses_least(file, objective, k, limit):
    requirements = Requirements.of([KAnonymity(k)], file.n, limit, "released")
    losses = []
    for levels in product(*(range(key.depth + 1) for key in file.keys)):
        at = replace(file, levels=levels)
        needed = suppression(at.node, requirements)
        if needed.feasible:
            losses.append(loss(objective, replace(at, hidden=needed.hidden[at.classes])))
    arguments = {"sensitive": file.sensitive, "population": file.people, "suppression_limit": limit}
    if not losses:
        with pytest.raises(InfeasibleError):
            search(file.keys, file.codes, [KAnonymity(k)], objective, **arguments)
        return
    found = search(file.keys, file.codes, [KAnonymity(k)], objective, **arguments)
    assert found.value == pytest.approx(min(losses), abs=1e-9)
    assert found.optimal
