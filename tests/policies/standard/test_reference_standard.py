"""The settings of the standard."""

import pytest
from pydantic import ValidationError

from policies.standard.reference_standard import ReferenceStandard
from tests.policies.standard.population_sample import HOLDOUT


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"subgroups": ("a", "a")}, "subgroups names a variable twice"),
        ({"subgroup_records": 5}, "greater than or equal to 30"),
        ({"isolated_share": 0}, "greater than 0"),
        ({"reidentified_share": 1.5}, "less than 1"),
        ({"reference": "holdout"}, "holdout_share and .* belong together"),
        ({"holdout_share": 0.2}, "holdout_share and .* belong together"),
        ({"reference": "holdout", "holdout_share": 0.5}, "less than 0.5"),
        ({"binding": ()}, "at least 1 item"),
        ({"binding": ("distance", "distance")}, "twice"),
        ({"binding": ("distnce",)}, "'distance', 'ambiguity' or 'uncertainty'"),
        ({"neighbours": 1}, "greater than or equal to 2"),
        ({"margin": 5}, "less than 1"),
        ({"tail_share": 0.005}, "tail_share must be at least tail_quantile"),
        ({"weights": {"age": -1.0}}, "greater than or equal to 0"),
        ({"tolerance": 0.1}, "Extra inputs"),
    ],
)
def test_refusals(setting, says):
    with pytest.raises(ValidationError, match=says):
        ReferenceStandard(**setting)


def test_describe():
    assert "the same data without that person" in ReferenceStandard().describe()
    said = ReferenceStandard(subgroups=("sex", "age")).describe()
    assert said.endswith("This also holds for each larger group by sex, age.")
    assert "30% of the records, set aside" in ReferenceStandard(**HOLDOUT).describe()
