import numpy as np
import pytest

from sluice.errors import DataError
from sluice.generalization.lattice.search import search
from sluice.generalization.models.k_map import EstimatedKMap, KMap
from sluice.generalization.objectives.loss import Loss
from tests.generalization.models.regions import REGION, regions, released
from tests.golden import golden


def test_people_of_the_population_count_not_records():
    file = released(regions(1, 2, 1), regions(3, 2, 0, 5))
    assert KMap(3).failing(file).tolist() == [False, True, True, False]  # of the last no record is in the file


def test_a_suppressed_record_fits_everybody():
    found = search([REGION], regions(20, 1), [KMap(3)], Loss(), population=regions(20, 2), suppression_limit=0.1)
    assert (found.levels, found.suppressed) == ((0,), 1)


@pytest.mark.parametrize(
    ("share", "distribution", "fewest"),
    [
        # A mean of 0.5: 2 or more with a chance of 0.0902, 3 or more of 0.0144; of those seen, 0.3935, that is 0.0366.
        (0.1, "poisson", 3),
        (0.1, "zero_truncated_poisson", 3),
        # A mean of 0.005: 1 with a chance of 0.005; 2 of those seen of 0.0025.
        (0.001, "poisson", 1),
        (0.001, "zero_truncated_poisson", 2),
        (1e-15, "zero_truncated_poisson", 2),
        (1.0, "poisson", 5),  # everybody: as many as k
    ],
)
def test_the_fewest_records_by_hand(share, distribution, fewest):
    assert EstimatedKMap(5, 100 / share, distribution=distribution).fewest(100) == fewest


def test_a_smaller_significance_asks_for_more_records():
    needed = [EstimatedKMap(50, 1000, significance).fewest(200) for significance in (0.3, 0.05, 0.001)]
    assert needed == sorted(set(needed))


def test_simulated_samples_of_small_groups_rarely_have_that_many():
    sampled = np.random.default_rng(1).poisson(20 * 0.1, 200_000)
    fewest = EstimatedKMap(20, 10_000, 0.05).fewest(1000)
    assert (sampled[sampled > 0] >= fewest).mean() < 0.05 < (sampled[sampled > 0] >= fewest - 1).mean()


def test_k_of_1_is_met_by_any_record():
    assert not KMap(1).failing(released(regions(1, 2), regions(1, 2))).any()
    assert not EstimatedKMap(1, 1000).failing(released(regions(1, 2))).any()


@pytest.mark.parametrize(
    "model",
    [
        lambda: KMap(0),
        lambda: EstimatedKMap(0, 10),
        lambda: EstimatedKMap(5, 10, 1.0),
        lambda: EstimatedKMap(5, 10).fewest(11),
        lambda: KMap(2).failing(released(regions(1))),
    ],
)
def test_refusals(model):
    with golden.raises(DataError):
        model()
