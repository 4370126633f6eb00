import pytest

from sluice.errors import DataError, InfeasibleError
from sluice.generalization.cost_benefit import CostBenefit
from sluice.generalization.lattice.search import search
from sluice.generalization.models.profitability import NoAttack, Profitability
from sluice.generalization.objectives.loss import Loss
from tests.generalization.models.regions import REGION, regions, released
from tests.golden import golden


@pytest.mark.parametrize(("gain", "fewest"), [(0, 1), (3, 1), (9, 3), (10, 4)])
def test_no_attack_is_k_anonymity_by_what_an_attack_gains_and_costs(gain, fewest):
    file = released(regions(1, 2, 3, 4))
    failing = NoAttack(CostBenefit(benefit=1, penalty=1, gain=gain, cost=3)).failing(file)
    assert failing.tolist() == [size < fewest for size in (1, 2, 3, 4)]


def test_an_attack_that_costs_nothing_always_pays():
    with golden.raises(InfeasibleError):
        search([REGION], regions(5, 5), [NoAttack(CostBenefit(1, 1, 1, 0))], Loss())


def test_a_record_may_be_worth_its_risk():
    amounts = CostBenefit(benefit=100, penalty=150, gain=30, cost=10)
    file = released(regions(1, 2, 3))
    assert NoAttack(amounts).failing(file).tolist() == [True, True, False]
    assert Profitability(amounts).failing(file).tolist() == [True, False, False]  # 100 - 150, 100 - 75, 100


def test_a_united_class_may_pay_no_longer():
    """Which is why the model is not monotone."""
    amounts = CostBenefit(benefit=100, penalty=120, gain=100, cost=1)
    below, above = released(regions(2, 2)), released(regions(2, 2), level=2)
    assert not Profitability(amounts).failing(below).any()  # 100 - 60
    assert Profitability(amounts).failing(above).all()  # nothing - 30


def test_records_that_do_not_pay_are_suppressed():
    amounts = CostBenefit(benefit=100, penalty=150, gain=30, cost=10)
    found = search([REGION], regions(1, 2, 3), [Profitability(amounts)], Loss(), suppression_limit=0.2)
    assert (found.levels, found.suppressed) == ((0,), 1)


def test_a_journalist_picks_among_the_population():
    file = released(regions(1, 1), regions(5, 2))
    assert NoAttack(CostBenefit(1, 1, 12, 4), "journalist").failing(file).tolist() == [False, True]
    with golden.raises(DataError):
        NoAttack(CostBenefit(1, 1, 12, 4), "journalist").failing(released(regions(1)))
