import numpy as np

from sluice.errors import DataError
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.lattice.search import search
from sluice.generalization.models.population_uniques import PopulationUniques
from sluice.generalization.models.privacy_model import ReleasedFile
from sluice.generalization.objectives.loss import Loss
from tests.generalization.models.regions import REGION, regions, released
from tests.golden import golden


def test_the_whole_population_has_the_uniques_of_the_file():
    assert PopulationUniques(0, population=10).figure(released(regions(1, 2, 1, 6))) == 0.2


def test_without_a_record_that_is_alone_nobody_is():
    assert PopulationUniques(0, population=1e6).figure(released(regions(2, 3))) == 0


def test_an_estimator_that_does_not_fit_vouches_for_nothing():
    """Of all the records alone Pitman's formula knows nothing."""
    file = released(regions(1, 1, 1))
    assert PopulationUniques(1, population=100, estimator="pitman").file_fails(file)
    assert not PopulationUniques(1, population=100, estimator="zayatz").file_fails(file)


def test_united_classes_may_have_more_uniques_by_the_estimate():
    sizes = np.repeat([1, 2], [10, 20])
    groups = np.repeat(np.arange(20), [*[1] * 10, *[2] * 10])  # the pairs become fours
    classes = Key("area", np.array([np.arange(30), groups]))
    node, _ = bottom([classes], [np.repeat(np.arange(30), sizes)], {})
    above, _ = node.at([1])
    model = PopulationUniques(1, population=500, estimator="zayatz")
    figures = [
        model.figure(ReleasedFile(each, np.ones(len(each.sizes), dtype=bool), "released")) for each in (node, above)
    ]
    assert figures[0] < figures[1]


def test_a_population_smaller_than_the_file_is_refused():
    with golden.raises(DataError):
        search([REGION], regions(1, 3), [PopulationUniques(0.5, population=3)], Loss())
