import numpy as np
import pytest

from sluice.errors import DataError
from sluice.generalization.cost_benefit import CostBenefit
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.generalization.lattice.search import search
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.objectives.publisher_payout import PublisherPayout
from tests.golden import golden

REGION = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
CODES = [np.array([0, 1, 2, 2, 3])]


def test_a_worked_example():
    node, _ = bottom([REGION], CODES, {})
    measure = PublisherPayout(CostBenefit(benefit=100, penalty=60, gain=60, cost=20)).of(node)
    nobody = np.zeros(4, dtype=bool)
    # 60 for one of one and 60 for one of two pay 20, the attack; of three nobody attacks any.
    assert measure.value(node, nobody) == pytest.approx(3 * 60 + 2 * 30)
    middle, _ = node.at([1])  # two and three records, of which half the information is left: log 2 of log 4
    assert measure.value(middle, nobody[:2]) == pytest.approx(5 * 50 + 2 * 30)
    assert measure.value(node, ~nobody) == pytest.approx(500)


def test_who_would_pay_too_much_generalises():
    costs = CostBenefit(benefit=100, penalty=300, gain=300, cost=100)
    found = search([REGION], CODES, [KAnonymity(1)], PublisherPayout(costs))
    # The original costs 1,200, two groups 250 and 2 x 150, one group 500.
    assert (found.levels, found.value) == ((2,), pytest.approx(500))


def test_a_journalist_needs_a_population():
    with golden.raises(DataError):
        search([REGION], CODES, [KAnonymity(1)], PublisherPayout(CostBenefit(1, 1, 1, 1), "journalist"))
