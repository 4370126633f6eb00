"""The page of a comparison: the map, its figures, and plans side by side. One self-contained HTML file, as a report."""

from collections.abc import Iterable, Sequence
from importlib.resources import files

from markupsafe import Markup

from sluice.ground.verdict import Verdict
from sluice.report.plan_comparison import Comparison, PlanCompared
from sluice.report.report_page import environment
from sluice.report.risk_utility_map import MapPoint
from sluice.report.risk_utility_plot import risk_utility_svg
from sluice.report.wording import PLAN_WORDS, figure, rule_words

_MOST_REASONS = 6


def render_comparison(found: Comparison) -> str:
    """The comparison as one HTML document. Pure and deterministic."""
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            css=Markup(files("sluice.report").joinpath("report.css").read_text(encoding="utf-8")),
            found=found,
            svg=risk_utility_svg(found.map),
            points=[(point, risk_in_words(point), PLAN_WORDS[Verdict[point.verdict]]) for point in found.map.points],
            losses=[loss_in_words(point) for point in found.map.points],
            plans=found.plans,
            kept=_kept(found.plans),
            keeps=_keeps(found.plans),
            analyses=[
                (name, [figure(plan.analyses.get(name)) for plan in found.plans])
                for name in _names(plan.analyses for plan in found.plans)
            ],
            tells=_tells(found.plans),
            variables=_variables(found.plans),
            most_reasons=_MOST_REASONS,
        )
    )


def risk_in_words(point: MapPoint) -> str:
    """The risk of a plan as a figure, and what is not known of it."""
    if point.beyond:
        return "beyond any limit"
    if point.risk is None:
        return "not known"
    return f"{'at least ' if point.unknown else ''}{figure(point.risk)}"


def loss_in_words(point: MapPoint) -> str:
    """The loss of a plan as a figure, or why there is none."""
    return "not told" if point.withheld else "not measured" if point.loss is None else figure(point.loss)


def _kept(plans: Sequence[PlanCompared]) -> list[tuple[str, list[str]]]:
    """Figures by which plans that release different variables can be compared."""
    if not any(plan.kept for plan in plans):
        return []
    rows = [("variables kept", [f"{plan.kept.variables} of {plan.kept.of}" if plan.kept else "–" for plan in plans])]
    for name, says, whole in (
        ("pairs", "loss of pairs of variables, all", False),
        ("pairs_released", "loss of pairs of variables, among those kept", False),
        ("k_marginal", "k-marginal score of triples, all (1,000: no loss)", True),
        ("k_marginal_released", "k-marginal score of triples, among those kept", True),
        ("propensity", "S_pMSE of those kept (1: as good as drawn anew)", False),
    ):
        values = [getattr(plan.kept, name, None) for plan in plans]
        if any(value is not None for value in values):
            rows.append((says, [figure(round(value) if whole and value is not None else value) for value in values]))
    return rows


def _keeps(plans: Sequence[PlanCompared]) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Each measure of loss with its figure of every plan, and whether that is the least."""
    rows = []
    for name in _names(plan.keeps for plan in plans):
        # A difference of rounding is none.
        values = [None if (value := plan.keeps.get(name)) is None else round(value, 12) for plan in plans]
        known = {value for value in values if value is not None}
        if not known and not any(name in plan.withheld for plan in plans):
            continue
        least = figure(min(known)) if len({figure(value) for value in known}) > 1 else ""
        rows.append(
            (
                rule_words(name),
                [
                    ("not told" if name in plan.withheld else figure(value), figure(value) == least)
                    for plan, value in zip(plans, values, strict=True)
                ],
            )
        )
    return rows


def _tells(plans: Sequence[PlanCompared]) -> list[tuple[str, bool, list[tuple[str, str, Verdict | None]]]]:
    """Each rule, whether it decides, and of every plan its figure, its limit and its verdict."""
    rows: list[tuple[str, bool, list[tuple[str, str, Verdict | None]]]] = []
    for name in _names(plan.tells for plan in plans):
        told = [plan.tells.get(name) for plan in plans]
        cells: list[tuple[str, str, Verdict | None]] = [
            ("–", "", None)
            if one is None
            else (
                figure(one.observed),
                "" if one.limit is None else f"limit {figure(one.limit)}",
                Verdict[one.verdict],
            )
            for one in told
        ]
        rows.append((rule_words(name), any(one.binding for one in told if one), cells))
    return sorted(rows, key=lambda row: not row[1])


def _variables(plans: Sequence[PlanCompared]) -> list[tuple[str, list[str]]]:
    names = _names(plan.variables for plan in plans)
    return [(name, [plan.variables.get(name, "–") for plan in plans]) for name in names]


def _names(of_plans: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in of_plans for name in names))
