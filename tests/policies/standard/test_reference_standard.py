"""The settings of the standard."""

import pytest
from pydantic import ValidationError

from policies.standard.reference_standard import ReferenceStandard
from tests.golden import golden
from tests.policies.standard.population_sample import HOLDOUT


@pytest.mark.parametrize(
    "setting",
    [
        {"subgroups": ("a", "a")},
        {"subgroup_records": 5},
        {"isolated_share": 0},
        {"reidentified_share": 1.5},
        {"reference": "holdout"},
        {"holdout_share": 0.2},
        {"reference": "holdout", "holdout_share": 0.5},
        {"binding": ()},
        {"binding": ("distance", "distance")},
        {"binding": ("distnce",)},
        {"neighbours": 1},
        {"margin": 5},
        {"tail_share": 0.005},
        {"weights": {"age": -1.0}},
        {"tolerance": 0.1},
    ],
)
def test_refusals(setting):
    golden.refused(ValidationError, ReferenceStandard, **setting)


def test_describe():
    golden.words(ReferenceStandard().describe())
    said = ReferenceStandard(subgroups=("sex", "age")).describe()
    golden.words(said)
    golden(ReferenceStandard(**HOLDOUT).describe())
