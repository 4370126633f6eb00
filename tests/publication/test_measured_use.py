"""What a file supports is told by what was measured, and of the original by bands alone."""

from sluice.publication.measured_use import MeasuredUse, measured_use
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel, ComparedSubgroup
from sluice.utility.marginal_summary import MarginalSummary, MarginalsView, TableLoss
from sluice.utility.subsample_equivalent import SubsampleEquivalent
from sluice.utility.utility_view import UtilityView
from tests.golden import golden

LOST = TableLoss(variables=("age", "pay"), loss=0.314159)
PAIRS = MarginalSummary(
    size=2, counted=3, of=3, mean=0.123456, mean_released=0.1, removed=("town",), by_variable={"age": 0.2},
    largest={"age": LOST, "pay": LOST}, worst=(LOST,),
    equivalent=SubsampleEquivalent(share=0.002, interval=(0.001, 0.003), draws=20, at_most=False),
)  # fmt: skip


def coefficient(term: str, before: float, after: float | None, difference: float) -> ComparedCoefficient:
    there = {} if after is None else {"after": after, "after_low": after - 0.5, "after_high": after + 0.5}
    return ComparedCoefficient(
        term=term, before=before, before_low=before - 0.5, before_high=before + 0.5, overlap=0.5, difference=difference,
        **there,
    )  # fmt: skip


MODEL = ComparedModel(
    name="pay", kind="linear", formula="pay ~ age + sex + town", by="sex", drafted=True, lost=1,
    coefficients=(
        coefficient("age", 7.654321, -2.0, 30.0),
        coefficient("sex: m", 1.234567, 1.25, 0.25),
        coefficient("town: a", 3.456789, None, 9.0),
    ),
    subgroups=(ComparedSubgroup(subgroup="f", overlap=0.2, lost=0),),
)  # fmt: skip
GOOD = ComparedModel(name="ill", kind="logistic", formula="ill ~ age", coefficients=(coefficient("age", 1, 1.1, 0.3),))


def use() -> MeasuredUse:
    view = UtilityView(marginals=MarginalsView(pairs=PAIRS), models=(MODEL, GOOD), tables=(LOST,))
    return measured_use(view, ["town"])


def test_what_must_not_be_done_is_said_first_of_effects_that_turned() -> None:
    said = use().not_for
    assert "age" in said[0]
    golden(said)


def test_what_it_is_good_for_is_what_stayed_within_a_standard_error() -> None:
    golden(use().supports)
    assert not any("age" in text for text in use().supports)


def test_a_model_whose_figures_may_not_be_told_is_named_and_tables_of_what_is_not_there_are_not() -> None:
    """Who reads neither that a model was compared nor that nothing is told of it takes it for kept."""
    untold = MODEL.model_copy(update={"coefficients": (), "hidden": 5, "subgroups": ()})
    partly = GOOD.model_copy(update={"name": "well", "hidden": 2})
    gone = TableLoss(variables=("town", "pay"), loss=0.9)
    said = measured_use(UtilityView(models=(untold, partly), tables=(LOST, gone)), ["town"])
    golden([*said.not_for, *(each.says for each in said.models)])
    assert [text for text in said.not_for if "pay" in text] == [said.not_for[0], said.not_for[1]]
    assert not any("town and pay" in text for text in said.not_for)


def test_a_model_is_not_kept_of_which_an_effect_of_merged_categories_turned() -> None:
    """It stands beside the coefficients, of which each may be near."""
    merged = GOOD.model_copy(update={"recoded": (coefficient("town: a or b", 7.654321, -2.0, 30.0),)})
    said = measured_use(UtilityView(models=(merged,)), ())
    assert not any("each coefficient" in text for text in said.supports)
    golden([text for text in said.not_for if "town: a or b" in text])


def test_a_model_that_the_file_does_not_tell_is_one_sentence() -> None:
    gone = MODEL.model_copy(update={"name": "rent", "coefficients": (coefficient("age", 1, None, 9.0),)})
    used = measured_use(UtilityView(models=(gone, GOOD)), ["rent"])
    assert [each.name for each in used.models] == ["ill"]
    assert [text for text in used.not_for if "rent" in text and not text.endswith(": rent.")] == list(used.not_for[:1])
    golden(used.not_for[0])


def test_each_variable_tells_of_its_worst_table() -> None:
    assert "with pay differs most: 31 %" in use().of_variable["age"]
    assert "with age" in use().of_variable["pay"]


def test_overall_it_is_as_good_as_a_sample() -> None:
    assert "10 % of the records" in use().overall[0]
    assert "0.2 % of the original" in use().overall[1]


def test_no_estimate_of_the_original_is_told() -> None:
    rows = [row for model in use().models for row in model.rows]
    assert [row.apart for row in rows] == ["more than 5", "under 0.5", "", "under 0.5"]
    assert not any(figure in repr(use()) for figure in ("7.65", "1.23", "3.45", "0.314", "30.0"))


def test_what_is_said_of_a_small_group_does_not_tell_its_mean() -> None:
    def said(overlap: float) -> tuple[str, ...]:
        group = ComparedSubgroup(subgroup="f", overlap=overlap, lost=0)
        return measured_use(UtilityView(models=(MODEL.model_copy(update={"subgroups": (group,)}),)), []).not_for

    assert said(0.0) == said(0.2) == said(0.49) != said(0.51)


def test_of_a_file_that_was_not_measured_only_what_is_not_there_is_said() -> None:
    assert measured_use(None, []) == MeasuredUse()
    assert measured_use(UtilityView(), ["town"]).not_for
