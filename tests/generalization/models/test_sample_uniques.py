from dataclasses import replace

import numpy as np
import pytest

from sluice.errors import DataError, InfeasibleError
from sluice.generalization.lattice.search import search
from sluice.generalization.models.sample_uniques import SampleUniques
from sluice.generalization.objectives.loss import Loss
from tests.generalization.models.regions import REGION, regions, released
from tests.golden import golden


def test_a_worked_example():
    file = released(regions(1, 2, 1, 6))
    assert SampleUniques(0).figure(file) == 0.2
    assert not SampleUniques(0.2).file_fails(file)
    assert SampleUniques(0.19).file_fails(file)


def test_who_alone_is_suppressed_is_alone():
    file = replace(released(regions(1, 2)), kept=np.array([False, True]))
    assert SampleUniques(0).figure(file) == pytest.approx(1 / 3)
    assert SampleUniques(0).figure(replace(file, suppressed="removed")) == 0


def test_one_record_is_unique_whatever_is_done():
    with golden.raises(InfeasibleError):
        search([REGION], regions(1), [SampleUniques(0)], Loss(), suppression_limit=1)


def test_a_percentage_is_refused():
    with golden.raises(DataError):
        SampleUniques(20)
