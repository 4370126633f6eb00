from dataclasses import replace

import numpy as np
import pytest

from sluice.errors import DataError, InfeasibleError
from sluice.generalization.lattice.search import search
from sluice.generalization.models.delta_presence import DeltaPresence
from sluice.generalization.objectives.loss import Loss
from tests.generalization.models.regions import REGION, regions, released
from tests.golden import golden


def test_a_worked_example():
    file = released(regions(1, 2, 4), regions(4, 4, 5, 3))
    assert DeltaPresence(0.5).failing(file).tolist() == [False, False, True, False]
    assert DeltaPresence(1, 0.25).file_fails(file)  # of the last region nobody is in the file
    assert not DeltaPresence(1, 0.25).file_fails(released(regions(1, 2, 4), regions(4, 4, 5)))


def test_extremes():
    file = released(regions(4), regions(4))
    assert not DeltaPresence(1, 1).file_fails(file)
    assert not DeltaPresence(1).failing(file).any()
    assert DeltaPresence(0).failing(file).all()


def test_a_class_that_is_suppressed_shows_nobody():
    file = replace(released(regions(1, 1), regions(4, 4)), kept=np.array([True, False]))
    assert DeltaPresence(1, 0.1).file_fails(file)
    with pytest.raises(InfeasibleError):
        search([REGION], regions(4), [DeltaPresence(0.5, 0.1)], Loss(), population=regions(5), suppression_limit=1)


def test_united_with_a_class_that_holds_one_that_does_not_may_have_more_records_fail():
    """Which is why the model is not monotone where records are suppressed."""
    population, model = regions(10, 10), DeltaPresence(0.6)
    below, above = released(regions(5, 9), population), released(regions(5, 9), population, level=1)
    assert [int(file.node.sizes[model.failing(file)].sum()) for file in (below, above)] == [9, 14]


@pytest.mark.parametrize(("highest", "lowest"), [(0.2, 0.3), (1.1, 0), (0.5, -0.1), (50, 10)])
def test_refusals(highest, lowest):
    with golden.raises(DataError):
        DeltaPresence(highest, lowest)
    with golden.raises(DataError):
        DeltaPresence(0.5).failing(released(regions(1)))
