"""Plans side by side, and the page of them."""

import pytest

from sluice.ground.errors import DataError
from sluice.report.comparison_page import render_comparison
from sluice.report.plan_comparison import Comparison, compare
from sluice.report.risk_utility_map import Plan
from sluice.utility.analyses.models import ComparedCoefficient, ComparedModel
from sluice.utility.marginal_summary import MarginalSummary, MarginalsView
from sluice.utility.utility_view import UtilityView
from tests.golden import golden
from tests.report.pages import FAIL, PASS, UNKNOWN, Page, dossier, finding, full_records, full_tables, variable
from tests.report.test_risk_utility_map import plan


def compared() -> Comparison:
    wide = plan("wide", 0.2, 0.5, variables=(variable("age"), variable("town", kind_after=None)), report="wide.html")
    fine = plan(
        "fine <b>",
        0.1,
        3.0,
        variables=(variable("age", changed=0.004, suppressed=0.0, entropy_before=4, entropy_after=3),),
    )
    return compare([wide, fine])


def test_each_plan_says_what_it_keeps_what_it_tells_and_where_it_fails() -> None:
    wide, fine = compared().plans
    assert wide.keeps == {"pair_marginals": 0.2}
    assert wide.variables == {"age": "50.0 % changed, 2.0 % suppressed", "town": "not released"}
    assert fine.variables == {"age": "75 % of its bits, under 1 % changed"}  # four records, fewer than are told
    assert fine.tells["linkability"].margin == pytest.approx(3.0)
    assert wide.fails == ()
    assert fine.fails == ("linkability says FAIL.",)


def test_the_worst_finding_of_a_rule_stands_for_it() -> None:
    found = compare([Plan("p", dossier(
        finding(PASS, "suda", observed=0.1, limit=1), finding(FAIL, "suda", observed=3, limit=1),
        finding(FAIL, "suda", observed=2, limit=1), finding(stage="utility", rule="pair_marginals", observed=0.1),
    ))])  # fmt: skip
    assert found.plans[0].tells["suda"].observed == 3


def test_analyses_have_rows_of_their_own_and_are_no_losses() -> None:
    def judged(overlap: float, moved: float) -> Plan:
        return Plan("p", dossier(
            finding(stage="utility", rule="pair_marginals", observed=0.1),
            finding(stage="utility", rule="variance", observed=moved),
            finding(stage="utility", rule="models", observed=overlap, scope="wages: overlap"),
            finding(stage="utility", rule="models", observed=2.0, scope="wages: difference"),
        ))  # fmt: skip

    found = compare([judged(0.4, 0.0), judged(0.9, 3e-16)])
    assert found.plans[0].analyses == {"models: wages: overlap": 0.4, "models: wages: difference": 2.0}
    assert set(found.plans[0].keeps) == {"pair_marginals", "variance"}
    page = Page(html := render_comparison(found))
    assert "models: wages: overlap 0.4 0.9" in page.section("keeps")
    assert "<strong>" not in html[html.index('id="keeps"') : html.index('id="tells"')]  # rounding makes no best plan


def test_what_is_only_reported_blocks_nothing() -> None:
    unknown = finding(UNKNOWN, "attribute_inference", stage="attacks", binding=False, observed=None)
    html = render_comparison(
        compare([Plan("p", dossier(unknown, finding(stage="utility", rule="pair_marginals", observed=0.1)))])
    )
    assert "could not be judged" in html
    assert "therefore blocked" not in html


def test_what_is_kept_stands_first_so_that_plans_of_different_variables_can_be_compared() -> None:
    marginals = MarginalsView(
        pairs=MarginalSummary(size=2, counted=3, of=3, mean=0.7, mean_released=0.05, removed=("town",), by_variable={},
                              worst=()),
        triples=MarginalSummary(size=3, counted=1, of=1, mean=0.8, mean_released=None, removed=("town",),
                                by_variable={}, worst=()),
    )  # fmt: skip
    variables = (
        variable("age"), variable("sex", entropy_before=1, entropy_after=0), variable("town", kind_after=None),
    )  # fmt: skip
    of = plan("p", 0.7, 0.5, variables=variables, utility=UtilityView(marginals=marginals))
    found = compare([of, plan("q", 0.1, 0.5)])
    kept = found.plans[0].kept
    assert kept is not None
    assert (kept.variables, kept.of, kept.pairs_released) == (1, 3, 0.05)
    assert (round(kept.k_marginal or 0), kept.k_marginal_released, kept.propensity) == (200, None, None)
    golden(kept.in_words())
    assert found.plans[1].kept is None
    section = Page(render_comparison(found)).section("keeps")
    assert "variables kept 1 of 3 –" in section
    assert "loss of pairs of variables, among those kept 0.05 –" in section


def test_a_figure_that_is_not_told_is_none_that_was_not_measured() -> None:
    hidden = finding(PASS, "apil", stage="utility", observed=None, withheld=True, binding=False)
    page = Page(render_comparison(compare([plan("p", 0.1, 0.5, hidden), plan("q", 0.2, 0.5)])))
    assert "not told –" in page.section("keeps")


def test_a_comparison_is_json_and_back() -> None:
    found = compared()
    assert Comparison.model_validate_json(found.model_dump_json()) == found


def test_many_plans_and_a_full_dossier_are_drawn() -> None:
    full = full_records()
    findings = (*full.findings, finding(stage="utility", rule="pair_marginals", observed=0.3))
    plans = [Plan(f"plan {n}", full.model_copy(update={"findings": findings})) for n in range(30)]
    Page(render_comparison(compare(plans)))


def test_tables_are_refused() -> None:
    with golden.raises(DataError):
        compare([Plan("tables", full_tables())])


def test_drafted_models_are_compared_by_overlap_and_by_what_turned() -> None:
    turned = ComparedCoefficient(
        term="age", before=2, before_low=1, before_high=3, after=-2, after_low=-3, after_high=-1, overlap=0,
        difference=8,
    )  # fmt: skip
    model = ComparedModel(
        name="pay", kind="linear", formula="pay ~ age", drafted=True, overlap=0.0, coefficients=(turned,)
    )
    one = Plan("p", dossier(
        finding(stage="utility", rule="pair_marginals", observed=0.1), utility=UtilityView(models=(model,))
    ))  # fmt: skip
    assert compare([one]).plans[0].analyses == {"models: pay: overlap": 0.0, "models: pay: turned": 1.0}
