"""The search finds the optimum of the whole lattice, and says what it knows when it does not."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import Discernibility
from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy
from sluice.ground.errors import DataError, InfeasibleError
from sluice.risk.classes.alpha_k import AlphaKAnonymity
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.risk.classes.t_closeness import EqualTCloseness, HierarchicalTCloseness, OrderedTCloseness
from tests.generalization.lattice.brute_force import best, breaks, released
from tests.generalization.small_files import tables
from tests.golden import golden

AGGREGATES = st.sampled_from(["sum", "mean", "maximum", "geometric", "rank"])
OBJECTIVES = st.one_of(st.builds(Loss, AGGREGATES), st.builds(NonUniformEntropy, AGGREGATES), st.just(Discernibility()))
COLUMN = st.sampled_from(["a", "b"])
TREE = ((0, 1, 2, 3), (0, 0, 1, 1))  # of four values, below the root
MODELS = st.one_of(
    st.builds(KAnonymityModel, st.integers(1, 6)),
    st.builds(DistinctLDiversity, COLUMN, st.integers(1, 3)),
    st.builds(EntropyLDiversity, COLUMN, st.sampled_from([1.2, 1.7, 2.0, 2.5]), st.booleans()),
    st.builds(RecursiveLDiversity, COLUMN, st.sampled_from([0.7, 1.5, 3.0]), st.integers(2, 3)),
    st.builds(EqualTCloseness, COLUMN, st.sampled_from([0.1, 0.25, 0.4, 0.6])),
    st.builds(OrderedTCloseness, COLUMN, st.sampled_from([0.1, 0.25, 0.4])),
    st.builds(HierarchicalTCloseness, COLUMN, st.sampled_from([0.1, 0.25, 0.4]), st.just(TREE)),
    st.builds(BetaLikenessModel, COLUMN, st.sampled_from([0.4, 1.0, 3.0]), st.booleans()),
    st.builds(DeltaDisclosureModel, COLUMN, st.sampled_from([0.4, 1.0, 2.0]), st.booleans()),
    st.builds(
        AlphaKAnonymity, COLUMN, st.sampled_from([0.3, 0.5, 0.8]), st.integers(1, 4), st.sampled_from([None, (0, 2)])
    ),
)


@pytest.mark.chain
@given(
    tables(),
    st.lists(MODELS, min_size=1, max_size=3),
    OBJECTIVES,
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from(["released", "without_keys", "removed", "ignored"]),
)
def test_the_solution_is_the_best_of_all_transformations(table, models, objective, limit, suppressed):
    keys, codes, sensitive = table
    expected = best(keys, codes, models, objective, sensitive, limit, suppressed)
    arguments = {"sensitive": sensitive, "suppression_limit": limit, "suppressed": suppressed}
    if not expected:
        with pytest.raises(InfeasibleError):
            search(keys, codes, models, objective, **arguments)
        return
    found = search(keys, codes, models, objective, **arguments)
    assert found.value == pytest.approx(min(value for value, _ in expected.values()), abs=1e-9)
    value, hidden = expected[found.levels]
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.suppressed == hidden
    assert found.optimal
    assert found.bound == found.value
    assert found.nodes == np.prod([key.depth + 1 for key in keys])


@given(tables(), st.lists(MODELS, min_size=1, max_size=3), st.sampled_from([0.0, 0.2, 1.0]))
def test_the_released_file_satisfies_the_models(table, models, limit):
    keys, codes, sensitive = table
    try:
        found = search(keys, codes, models, Loss(), sensitive=sensitive, suppression_limit=limit)
    except InfeasibleError:
        return
    file = released(keys, codes, found.levels, sensitive)
    file.loc[found.suppressed_records] = np.nan
    assert not any(breaks(model, file, keys).any() for model in models)


@given(tables(), st.integers(1, 5), st.sampled_from([0.0, 0.2, 1.0]), st.integers(0, 30))
def test_a_search_that_is_stopped_knows_how_far_off_it_may_be(table, k, limit, steps):
    keys, codes, sensitive = table
    expected = best(keys, codes, [KAnonymityModel(k)], Loss(), sensitive, limit, "released")
    asked = count()
    try:
        found = search(
            keys, codes, [KAnonymityModel(k)], Loss(), suppression_limit=limit, ended=lambda: next(asked) >= steps
        )
    except InfeasibleError:
        return
    optimum = min(value for value, _ in expected.values())
    assert found.bound <= optimum + 1e-9
    assert found.value >= optimum - 1e-9
    assert found.value <= (1 + found.excess) * optimum + 1e-9 or found.bound == 0
    if found.optimal:
        assert found.value == pytest.approx(optimum, abs=1e-9)


def two_keys():
    region = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
    sex = Key("sex", np.array([[0, 1], [0, 0]]))
    return [region, sex], [np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 0, 0, 0])]


def test_the_frontier_says_why_no_finer_transformation_will_do():
    keys, codes = two_keys()
    found = search(keys, codes, [KAnonymityModel(2)], Loss())
    assert found.levels == (1, 0)  # north and south by sex: 2, 2 and 3 records
    (finer,) = found.frontier
    assert (finer.key, finer.levels, finer.feasible, finer.value) == ("region", (0, 0), False, None)
    assert [(failure.model, failure.records) for failure in finer.failures] == [(KAnonymityModel(2), 5)]


def test_suppressed_records_are_a_class_of_the_released_file():
    keys, codes = two_keys()
    region = [keys[0]], [codes[0]]
    assert search(*region, [KAnonymityModel(2)], Loss(), suppression_limit=0.2, suppressed="removed").levels == (0,)
    # One record would be suppressed and stand alone without its keys.
    assert search(*region, [KAnonymityModel(2)], Loss(), suppression_limit=0.2).levels == (1,)


def test_who_shows_no_key_hides_among_the_suppressed():
    key = Key("region", np.array([[0, 1, 2], [0, 0, 1]]), missing=2)
    codes = [np.array([0, 0, 1, 2, 2])]
    found = search([key], codes, [KAnonymityModel(2)], Loss(), suppression_limit=0.2)
    assert (found.levels, found.suppressed) == ((0,), 1)


def test_requirements_that_no_transformation_meets_are_named():
    keys, codes = two_keys()
    with golden.raises(InfeasibleError):
        search(keys, codes, [KAnonymityModel(8)], Loss())
    values = np.array([0, 0, 0, 0, 0, 1, 1])
    with golden.raises(InfeasibleError):
        search(
            keys, codes, [KAnonymityModel(2), DistinctLDiversity("illness", 3)], Loss(), sensitive={"illness": values}
        )


@pytest.mark.parametrize(
    "change",
    [
        {"suppression_limit": 4.0},
        {"models": []},
        {"codes": [np.array([0, 9]), np.array([0, 1])]},
        {"codes": [np.array([0, 1]), np.array([0])]},
        {"models": [DistinctLDiversity("illness", 2)]},
    ],
    ids=["a_percentage", "no_model", "no_leaf", "two_lengths", "no_sensitive_column"],
)
def test_what_cannot_be_searched_is_refused(change):
    keys, codes = two_keys()
    given = {"keys": keys, "codes": codes, "models": [KAnonymityModel(2)], "objective": Loss()} | change
    golden.refused(DataError, search, **given)
