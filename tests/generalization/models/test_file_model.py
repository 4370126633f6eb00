from dataclasses import replace

import numpy as np

from sluice.generalization.models.reidentification_risk import AverageRisk
from sluice.generalization.models.sample_uniques import SampleUniques
from tests.generalization.models.regions import regions, released


def test_the_smallest_classes_go_first_all_of_one_size_together():
    file = released(regions(2, 4, 2, 5))
    assert AverageRisk(0.3).relief(file).tolist() == [True, False, True, False]
    rest = replace(file, kept=np.array([False, True, False, True]), suppressed="removed")
    assert AverageRisk(0.2).relief(rest).tolist() == [False, True, False, False]
    assert not AverageRisk(0.25).relief(rest).any()


def test_a_journalist_finds_the_classes_of_fewest_people_small():
    file = released(regions(2, 1), regions(2, 9))
    assert AverageRisk(0.1, "journalist").relief(file).tolist() == [True, False]


def test_nothing_goes_where_nothing_is_left():
    file = replace(released(regions(1, 1)), kept=np.zeros(2, dtype=bool), suppressed="removed")
    assert not SampleUniques(0).relief(file).any()
    assert not SampleUniques(0).file_fails(file)
