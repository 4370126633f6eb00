"""What a rule asks, why, and what helps."""

import pytest

from policies.advice import RULES
from policies.explanation import explain, explained, explained_by_kind
from policies.standard.checks import PARTS
from policies.utility_limits import UtilityLimits
from sluice.ground.errors import SluiceError
from tests.golden import golden


def test_a_rule_speaks_by_its_own_words() -> None:
    found = explain("k_anonymity")
    golden(found.asks)
    assert found.about == "k-anonymity: in how large a crowd each record stands."
    assert found.example == "{rule: k_anonymity, k: 5}"
    assert found.helps == RULES["k_anonymity"].advice
    assert "Sweeney (2002)" in found.source


@pytest.mark.parametrize("name", ["k-anonymity", "K anonymity", " k_anonymity "])
def test_it_is_found_as_a_report_writes_it(name: str) -> None:
    assert explain(name) == explain("k_anonymity")


def test_every_rule_part_of_the_standard_and_limit_says_what_it_is_about_and_what_helps() -> None:
    for name in (*RULES, *(part.rule for part in PARTS), *UtilityLimits.model_fields):
        found = explain(name)
        assert found.about or found.asks, name
        assert found.helps or found.needs, name
    assert all(explain(name).rule == name for name in explained())
    assert explain("contract.kind").helps


def test_no_rule_and_no_part_of_the_standard_lacks_a_part_of_its_explanation() -> None:
    for name in RULES:
        found = explain(name)
        lacking = [part for part, text in vars(found).items() if not text]
        assert not lacking, (name, lacking)
    parts = explained_by_kind()["Parts of the reference standard"]
    assert {"prediction_ambiguity", "exact_copies", "unique_values"} <= {*parts}
    said = [explain(name) for name in [*parts, "worst_subgroup"]]
    assert all(found.about and found.asks and (found.helps or found.needs) for found in said)
    assert len({found.asks for found in said}) == len(said), (
        "parts that have a document in common ask for different things"
    )
    golden.words(explain("prediction_ambiguity").asks)


@pytest.mark.parametrize("name", ["k_anonimity", "prediction_distanc", "", "\x1b[2Jk_anonymity"])
def test_an_unknown_one_is_refused_with_the_nearest_and_no_escape_reaches_the_terminal(name: str) -> None:
    with golden.raises(SluiceError) as refused:
        explain(name)
    if name.startswith(("k_", "pred")):
        assert "Did you mean 'k_anonymity'?" in str(refused.value) or "prediction_distance" in str(refused.value)
