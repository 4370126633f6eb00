from sluice.publication.standard_errors import standard_errors
from tests.golden import golden


def test_of_what_a_model_drew_the_factor_and_the_rule_for_several_are_named() -> None:
    said = standard_errors(["pay", "age"], ["pay"], None, None)
    assert any("pay" in text and "1.41" in text for text in said)
    golden(said)


def test_a_weight_that_was_kept_and_one_that_was_not() -> None:
    assert "robust" in standard_errors([], [], "w", None)[0]
    assert "w was not released" in standard_errors([], [], None, "w")[0]


def test_of_a_file_that_was_not_masked_nothing_is_said() -> None:
    assert standard_errors([], [], None, None) == ()
