import pytest

from sluice.errors import DataError
from sluice.generalization.lattice.search import search
from sluice.generalization.models.reidentification_risk import AverageRisk, HighestRisk
from sluice.generalization.objectives.loss import Loss
from tests.generalization.models.regions import REGION, regions, released
from tests.golden import golden


def test_risks_of_prosecutor_journalist_and_marketer():
    file = released(regions(1, 2, 5), regions(4, 2, 8))
    assert HighestRisk(0.5).failing(file).tolist() == [True, False, False]
    assert HighestRisk(0.25, "journalist").failing(file).tolist() == [False, True, False]
    assert AverageRisk(0).figure(file) == pytest.approx(3 / 8)
    assert AverageRisk(0, "journalist").figure(file) == pytest.approx((1 / 4 + 2 / 2 + 5 / 8) / 8)


def test_a_population_that_knows_fewer_people_than_the_file_is_not_believed():
    file = released(regions(2), regions(1))
    assert AverageRisk(0, "journalist").figure(file) == 0.5


def test_extremes():
    file = released(regions(1, 1, 1))
    assert not HighestRisk(1).failing(file).any()
    assert not AverageRisk(1).file_fails(file)
    assert AverageRisk(0.99).file_fails(file)


def test_a_limit_that_is_met_exactly_is_met():
    assert not HighestRisk(1 / 3).failing(released(regions(3))).any()
    assert not AverageRisk(1 / 3).file_fails(released(regions(2, 4)))


def test_the_smallest_classes_are_suppressed_until_the_average_is_met():
    records = regions(1, 1, 6, 8)
    found = search([REGION], records, [AverageRisk(0.2)], Loss(), suppression_limit=0.2)
    # Four classes of 16 records are 0.25; three, of which one is the two suppressed ones, are 0.1875.
    assert (found.levels, found.suppressed) == ((0,), 2)
    assert search([REGION], records, [AverageRisk(0.2)], Loss()).levels == (1,)


@pytest.mark.parametrize("most", [0, -0.1, 1.1, float("nan")])
def test_a_highest_risk_that_is_no_chance_is_refused(most):
    with golden.raises(DataError):
        HighestRisk(most)


def test_an_average_risk_in_percent_is_refused():
    with golden.raises(DataError):
        AverageRisk(5)


def test_a_journalist_needs_a_population():
    with golden.raises(DataError):
        search([REGION], regions(1, 2), [HighestRisk(0.5, "journalist")], Loss())
