import numpy as np
import pytest

from sluice.generalization.cost_benefit import CostBenefit, information_loss
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import bottom
from sluice.ground.errors import DataError
from tests.golden import golden


def test_an_attack_that_just_breaks_even_is_not_made():
    amounts = CostBenefit(benefit=10, penalty=6, gain=12, cost=4)
    assert amounts.attacked(np.array([1, 2, 3, 4])).tolist() == [True, True, False, False]
    assert amounts.payout(np.array([0, 0.5, 0.5]), np.array([1, 2, 3])).tolist() == [4, 2, 5]


def test_information_is_lost_in_logarithms():
    region = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
    sex = Key("sex", np.array([[0, 1], [0, 0]]))
    node, _ = bottom([region, sex], [np.array([0, 3]), np.array([0, 1])], {})
    assert information_loss(node).tolist() == [0, 0]
    assert information_loss(node.at([1, 0])[0]) == pytest.approx([1 / 3, 1 / 3])
    assert information_loss(node.at([2, 1])[0]) == pytest.approx([1])


def test_keys_of_one_value_have_nothing_to_lose():
    node, _ = bottom([Key("region", np.array([[0], [0]]))], [np.array([0, 0])], {})
    assert information_loss(node).tolist() == [0]


@pytest.mark.parametrize("amount", [-1, float("inf"), float("nan")])
def test_amounts_are_refused(amount):
    with golden.raises(DataError):
        CostBenefit(1, 1, amount, 1)
