"""The settings of the standard.

Intruders in a policy: what is refused when it loads.
"""

import pytest
from pydantic import ValidationError

from policies.standard.reference_standard import Intruder, ReferenceStandard
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


def test_a_set_of_the_contract_and_any_few_variables_are_read() -> None:
    standard = ReferenceStandard.model_validate(
        {"intruders": [{"knows": {"any": 3}, "gain": 0.1}, {"knows": "register", "claims": 0.01}]}
    )
    assert [intruder.name for intruder in standard.intruders] == ["any 3", "register"]
    assert [intruder.gain for intruder in standard.intruders] == [0.1, 0.05]
    assert all(intruder.binding for intruder in standard.intruders)


@pytest.mark.parametrize(
    "intruders",
    [
        [{"knows": "everything"}],
        [{"knows": {"any": 0}}],
        [{"knows": {"any": 2}}, {"knows": {"any": 2}}],
        [{"knows": "register", "gain": 1}],
        [{"gain": 0.1}],
    ],
)
def test_what_is_refused(intruders: list[dict[str, object]]) -> None:
    golden.refused(ValidationError, ReferenceStandard.model_validate, {"intruders": intruders})


def test_what_is_wrong_with_what_an_intruder_knows_is_said_once() -> None:
    with pytest.raises(ValidationError) as refusal:
        Intruder.model_validate({"knows": {"any": 0}})
    assert [error["loc"] for error in refusal.value.errors()] == [("knows", "any", "any")]


def test_an_intruder_binds_by_default() -> None:
    assert Intruder(knows="register").binding
