"""The report's utility part: what is not in the example of every part, and that no small count is told."""

import pytest

from sluice.ground.errors import SluiceError
from sluice.ground.variables import Kind
from sluice.report.report_page import render
from sluice.report.utility_page import pair_map
from sluice.report.utility_tables import _variation, equivalent_in_words
from sluice.risk.linkage.linkage_score import ScoreView
from sluice.utility.analyses.clusterings import ComparedClustering, ComparedIndex
from sluice.utility.analyses.impossible_records import BrokenRule, BrokenRules
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel, ComparedSubgroup
from sluice.utility.analyses.predictions import ComparedLearner, ComparedPrediction
from sluice.utility.analyses.query_comparison import ComparedFigure, ComparedGroup, ComparedQuery
from sluice.utility.component_plane import ComponentPlane
from sluice.utility.continuous.matrix_comparisons import (
    ContinuousView,
    MatrixComparisons,
    MatrixDivergence,
    ProbabilityParts,
    VariationParts,
)
from sluice.utility.correlation_summary import CorrelationMatrices, CorrelationsView
from sluice.utility.marginal_summary import MarginalSummary, MarginalsView, TableLoss
from sluice.utility.propensity_summary import PropensityCurve, PropensityView, TablePropensities, TablePropensity
from sluice.utility.quantiles import QuantileChanges, QuantilesView
from sluice.utility.recoding.recoding_measures import Misclassified, Queries, RecodedVariable, RecodingView
from sluice.utility.subgroup_tables import Subgroup, SubgroupsView
from sluice.utility.subgroups import ChangedSubgroup, ChangedSubgroups
from sluice.utility.subsample_equivalent import SubsampleEquivalent
from sluice.utility.utility_view import CategoricalView, CategoryLoss, UnweightedFigure, UtilityView
from tests.golden import golden
from tests.report.pages import Page, dossier, finding, variable

EQUIVALENT = SubsampleEquivalent(share=0.04, interval=(0.03, 0.05), at_most=False, draws=5)
PAIRS = MarginalSummary(
    size=2, counted=3, of=3, mean=0.2, mean_released=0.1, removed=("town",), equivalent=EQUIVALENT,
    by_variable={"age": 0.1, "sex": 0.3, "town": 0.5}, worst=(TableLoss(variables=("age", "sex <b>"), loss=0.12),),
)  # fmt: skip
TRIPLES = MarginalSummary(
    size=3, counted=200, of=1140, mean=0.3, interval=(0.25, 0.35), by_variable={}, worst=(), equivalent=None
)
PLANE = ComponentPlane(
    explained=(0.5, 0.25), leading=(("age", "income"), ()), overlap=0.9, drawn=(1000, 990),
    before=((0.5, None), (None, 0.3)), after=((0.6, None), (None, 0.2)),
)  # fmt: skip
BROKEN = BrokenRules(
    rules=(
        BrokenRule(rule="child", says="A child is not married", before=0.0, after=0.02, newly=0.02),
        BrokenRule(rule="few", says="Nobody is"),
        BrokenRule(rule="other", says="Nothing is", before=0.0, unchecked="the file has no job"),
    ),
    minimum_cell=10,
)
VARIABLES = (variable("age"), variable("sex"), variable("town", kind_after=None))
TELLING = TablePropensities(
    names=("age", "sex"), pairs=((None, 40.0), (40.0, None)), mean=40.0, triples=1, triples_of=4,
    worst_triples=(TablePropensity(variables=("age", "sex", "town"), standardised=12.5),),
)  # fmt: skip
SCORES = PropensityView(
    pmse=0.01, standardised=7.0, parameters=12, masked_share=0.5, left_out=("town",),
    curve=PropensityCurve(scores=(0.4, 0.6), original=(600, 400), masked=(250, 750)),
)  # fmt: skip
DIVERGENCE = MatrixDivergence(mean_square_error=0.5, mean_absolute_error=0.25, mean_variation=None, cells=4)
NUMBERS = ContinuousView(
    names=("age", "income"), removed=("income",), eigenvalues=0.125,
    comparisons=MatrixComparisons(**dict.fromkeys(MatrixComparisons.model_fields, DIVERGENCE)),
    probabilities=ProbabilityParts(means=0.2, variances=0.3, covariances=None, correlations=0.4, quantiles=0.5),
    variations=VariationParts(values=0.1, means=0.2, variances=0.3, covariances=0.4, correlations=0.05),
)  # fmt: skip
CATEGORIES = CategoricalView(
    variables=(
        CategoryLoss(name="sex", released=True, distance=0.0, entropy=1.0, ebil=0.0, pril=0.0, matrix=False),
        CategoryLoss(name="town", released=False, distance=None, entropy=3.0, ebil=3.0, pril=None, matrix=False),
    ),
    ctbil=0.25, order=2, tables=3, counted=3,
)  # fmt: skip
CORRELATIONS = CorrelationsView(
    matrices=(
        CorrelationMatrices(
            measure="pearson", names=("age", "income"), mean=0.3, records=(5000, 4000), margin=0.02,
            original=((1.0, 0.5), (0.5, 1.0)), masked=((1.0, 0.2), (0.2, 1.0)),
        ),
    )
)  # fmt: skip
LOST = ComparedCoefficient(term="sex: f", before=-2, before_low=-3, before_high=-1, overlap=0, difference=4)
KEPT = ComparedCoefficient(
    term="age",
    before=1,
    before_low=0.5,
    before_high=1.5,
    after=1.2,
    after_low=0.7,
    after_high=1.7,
    overlap=0.9,
    difference=None,
)
MODEL = ComparedModel(
    name="wages",
    kind="linear",
    formula="income ~ age + C(sex)",
    by="sex",
    overlap=0.45,
    difference=2.5,
    lost=1,
    hidden=2,
    coefficients=(LOST, KEPT),
    subgroups=(
        ComparedSubgroup(subgroup="f", overlap=0.2, lost=3),
        ComparedSubgroup(subgroup="m", overlap=0.6, lost=0),
    ),
)
RECODING = RecodingView(
    certainty=0.35,
    variables=(RecodedVariable(name="age", removed=False, certainty=0.3, distortion=1.0, entropy=0.5, precision=0.25),),
    keys=("age", "sex"),
    classes=12,
    average_class=83.3,
    average_class_before=2.5,
    discernibility=0.1,
    misclassified=(Misclassified(variable="income", before=0.2, after=0.24),),
    queries=Queries(asked=1000, dimensions=2, median=0.08, interval=(0.07, 0.09), mean=0.2),
)
SCORE = ScoreView(
    score=0.3, information_loss=0.2, disclosure_risk=0.4, interval=(0.35, 0.45), weighting="generic",
    parts={"dld": 0.2, "pld": 0.2, "id": 0.6}, names=("age", "income"), linked=900, records=1000,
)  # fmt: skip
SUBGROUPS = SubgroupsView(
    compared=8, least=30, median=0.05, worst=(Subgroup(variable="sex", category="f <i>", loss=0.4),)
)
QUANTILES = QuantilesView(
    probabilities=(0.25, 0.5),
    variables=(QuantileChanges(name="income", changes=(0.1, None), mean=0.1, gini=(0.4, 0.3)),),
)
PREDICTIONS = (
    ComparedPrediction(
        name="rich", target="income", predicted=400,
        learners=(
            ComparedLearner(
                learner="random_forest", original=0.8, masked=0.6, guess=0.5, ratio=0.75, low=0.7, high=0.8, learnt=900
            ),
        ),
    ),
    ComparedPrediction(name="poor", target="income", says="Too few people."),
)  # fmt: skip
CLUSTERINGS = (
    ComparedClustering(
        name="types", method="k_means", clusters=3, variables=("age",), left_out=("town",),
        indices=(ComparedIndex(index="adjusted_rand", itself=0.95, masked=0.6, loss=0.35, low=0.3, high=0.4),),
    ),
)  # fmt: skip
QUERIES = (
    ComparedQuery(
        name="hours", difference=0.125, figures=(ComparedFigure(figure="mean", difference=None),),
        groups=(ComparedGroup(group=("f <b>", "missing"), difference=0.5),),
    ),
    ComparedQuery(name="other", says="It took too long."),
)  # fmt: skip
FULL = UtilityView(
    queries=QUERIES,
    subgroups=SUBGROUPS,
    subgroup_associations=ChangedSubgroups(
        compared=7, worst=(ChangedSubgroup(variable="town", category="b <i>", change=0.31),)
    ),
    quantiles=QUANTILES,
    predictions=PREDICTIONS,
    clusterings=CLUSTERINGS,
    recoding=RECODING,
    score=SCORE,
    marginals=MarginalsView(pairs=PAIRS, triples=TRIPLES),
    components=PLANE,
    impossible_records=BROKEN,
    table_propensity=TELLING,
    propensity=SCORES,
    continuous=NUMBERS,
    categorical=CATEGORIES,
    correlations=CORRELATIONS,
    unweighted=(UnweightedFigure(name="gini", weighted=0.12, unweighted=0.31, percent=False),),
    models=(MODEL, ComparedModel(name="late", kind="cox", formula="years ~ age", says="It did not converge.")),
)


def page(view: UtilityView | None = FULL, minimum: int = 10) -> Page:
    return Page(render(dossier(finding(), variables=VARIABLES, utility=view, minimum_cell=minimum)))


def test_a_variable_with_one_value_for_everybody_counts_as_no_variable() -> None:
    told = (
        variable("age", entropy_before=4.3, entropy_after=0.0),
        variable("income", kind_after=Kind.CONTINUOUS, deviation_after=0.0),
        variable("sex", entropy_before=1.0, entropy_after=0.0, deviation_before=0.0, kind_after=Kind.CONTINUOUS),
        variable("children", entropy_before=0.0, entropy_after=0.0),
        variable("town", kind_after=None, entropy_before=4.0),
    )
    golden([line for line in Page(render(dossier(finding(), variables=told, utility=FULL))).lines if "2 of 5" in line])


def test_there_is_a_picture_of_each_comparison() -> None:
    assert len(page().all("svg", role="img")) >= 5


def test_a_model_on_the_file_s_own_categories_is_drawn_where_they_differ() -> None:
    assert "Recoded original" not in page().section("analyses")
    recoded = MODEL.model_copy(update={"recoded": (KEPT,), "recoded_overlap": 0.9})
    shown = page(UtilityView(models=(recoded,)))
    golden(next(line for line in shown.lines if "90.0 %" in line))
    assert "Recoded original" in shown.section("analyses")
    same = MODEL.model_copy(update={"recoded": MODEL.coefficients, "recoded_overlap": MODEL.overlap})
    assert "Recoded original" not in page(UtilityView(models=(same,))).section("analyses")


def test_many_variables_are_drawn_as_far_as_they_can_be_read() -> None:
    names = [f"v{n}" for n in range(40)]
    matrix = [[None if i == j else float(i + j) for j in range(40)] for i in range(40)]
    drawn = pair_map("Map", names, matrix, "Meaning.", "key")
    assert drawn is not None
    golden(drawn.says)
    assert drawn.rows[0] == ("v39 × v38", "77")
    assert pair_map("Map", ["a"], [[None]], "", "key") is None


def test_weighted_figures_stand_beside_those_of_the_records() -> None:
    assert "gini 0.12 0.31" in " ".join(page().section("utility").split())


def test_a_small_group_of_scores_is_refused() -> None:
    few = SCORES.model_copy(update={"curve": PropensityCurve(scores=(0.4, 0.6), original=(9, 990), masked=(500, 500))})
    with golden.raises(SluiceError):
        page(UtilityView(propensity=few))


def test_a_small_cell_is_refused() -> None:
    with golden.raises(SluiceError):
        page(minimum=250)


@pytest.mark.parametrize("view", [None, UtilityView()])
def test_without_figures_there_are_no_empty_parts(view: UtilityView | None) -> None:
    found = page(view)
    assert not found.all("section", id="together")
    assert not found.all("section", id="analyses")
    assert len(found.texts("h3")) < len(page().texts("h3"))


def test_a_bound_is_said_to_be_one() -> None:
    bound = SubsampleEquivalent(share=0.001, interval=(0.001, 0.001), at_most=True, draws=5)
    golden(equivalent_in_words(bound))
    assert equivalent_in_words(None) == ""


TURNED = ComparedCoefficient(
    term="age", before=2, before_low=1, before_high=3, after=-2, after_low=-3, after_high=-1, overlap=0, difference=8
)


def test_an_intercept_against_other_categories_is_said_to_be_another_one() -> None:
    intercept = LOST.model_copy(update={"term": "(intercept)", "other_reference": True})
    model = MODEL.model_copy(update={"coefficients": (intercept, LOST, KEPT), "lost": 2})
    told = page(UtilityView(models=(model,)))
    golden([line for line in told.lines if "reference" in line])


def test_a_drafted_model_says_so_and_what_turned_stands_first() -> None:
    model = MODEL.model_copy(update={"drafted": True, "coefficients": (TURNED,)})
    told = page(UtilityView(models=(model,), tables=(TableLoss(variables=("sex", "age"), loss=0.25),)))
    golden([line for line in told.lines if "roles" in line])
    assert "sex × age 25.0 %" in told.section("analyses")


def test_a_change_of_what_was_near_nought_is_bounded() -> None:
    assert [_variation(value) for value in (None, 0.25, 10.0, 6890.0)] == ["–", "0.25", "10", "over 10"]
