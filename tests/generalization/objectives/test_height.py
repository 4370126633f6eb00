import numpy as np

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.search import search
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.objectives.height import Height

ZIP = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
RACE = np.array([[0, 1], [0, 0]])


def test_the_lowest_node_that_satisfies_the_models():
    codes = [np.array([0, 0, 1, 2, 3]), np.array([0, 0, 0, 1, 1])]
    found = search([Key("race", RACE), Key("zip", ZIP)], [codes[1], codes[0]], [KAnonymity(2)], Height())
    assert (found.levels, found.value) == ((0, 1), 1)


def test_weights_count_levels_several_times():
    keys = [Key("race", RACE), Key("zip", ZIP, weight=3.0)]
    codes = [np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])]
    found = search(keys, codes, [KAnonymity(2)], Height())
    assert (found.levels, found.value) == ((1, 0), 1)
