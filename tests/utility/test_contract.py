"""What holds of every measure of utility: what is unchanged has lost nothing, and nobody escapes a limit by removing.

A new measure is added to `OF_NUMBERS`, `OF_CATEGORIES` or `OF_ALL`, by what it is of; analyses have tests of their own.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import UtilityLimits
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.comparison import Comparison
from tasks.checks import advice_on
from tests.golden import golden
from tests.items.set_columns import column_of, variable
from tests.listed import all_listed
from tests.utility.files import declared, judge

OF_NUMBERS = [
    *("mean", "variance", "correlation", "rank_correlation", "il1s", "kendall", "quantiles", "gini"),
    *("apil", "eigenvalues", "mean_variations"),
]
OF_CATEGORIES = ["category_distance", "ebil", "worst_subgroup", "subgroup_cramers_v", "subgroup_propensity"]
OF_ALL = [
    *("changed_share", "suppressed_share", "entropy", "pair_marginals", "triple_marginals", "pair_propensity"),
    *("propensity", "cramers_v", "generalization", "query_error", "subgroup_quantiles"),
]
OF_SETS = ["item_penalty", "items_left_out", "top_items", "pair_counts"]
MEASURES = [*OF_NUMBERS, *OF_CATEGORIES, *OF_ALL, *OF_SETS]
OF_PAIRS = {  # of each record before and after; nothing can be told of rows that are no pairs
    *("il1s", "changed_share", "suppressed_share", "mean_variations", "category_distance", "ebil", "item_penalty"),
    "items_left_out",
}
OF_ANY = ("changed_share", "suppressed_share", "entropy", "propensity", "generalization", "query_error")
OF_CELLS = OF_ANY[:4]  # of the variables that are released
NUMBERS, CATEGORIES = ("income", "rent", "size"), ("town", "sex", "job")
each_measure = pytest.mark.parametrize("name", MEASURES)


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    town, sex = rng.choice(list("abcd"), 800), rng.choice(["m", "f"], 800)
    income = np.exp(rng.normal(size=800) + (town == "a"))
    return pd.DataFrame(
        {
            "town": town,
            "sex": sex,
            "job": np.where(rng.random(800) < 0.7, sex, "m"),
            "income": income,
            "rent": income * rng.uniform(0.2, 0.4, 800),
            "size": rng.normal(9, 2, 800),
        }
    )


def masked(share: float) -> pd.DataFrame:
    """With noise of so much of the deviation, and so many categories drawn anew and values blanked."""
    rng, frame = np.random.default_rng(1), people()
    for name in NUMBERS:
        noise = share * frame[name].std() * rng.normal(size=800) * (rng.random(800) < 0.2 + share)
        frame[name] = (frame[name] + noise).clip(lower=0)
    for name in CATEGORIES:
        drawn, where = rng.permutation(frame[name]), rng.random(800)
        frame[name] = np.where(where < share, drawn, frame[name])
        frame[name] = frame[name].where(where > share / 3)
    return frame


def sets(*lost: str) -> "pd.Series[str]":
    each = [frozenset(row.split()) - {*lost} for row in ("apple pear", "apple beer", "pear beer", "wine soap")]
    return column_of(each * 200)


ALL = (*CATEGORIES, *NUMBERS, "basket")
NOT_AT_ALL, LITTLE, MUCH = 0.0, 0.2, 0.8
LOST = {NOT_AT_ALL: (), LITTLE: ("apple",), MUCH: ("apple", "pear")}


@cache
def file(share: float = NOT_AT_ALL, held: tuple[str, ...] = ALL, kept: tuple[str, ...] = ALL) -> Comparison:
    """Masked by so much; with what the original holds, and what of it is released."""
    of, basket = declared(people(), masked(share)), {"basket": variable()}
    original, after = of.original.assign(basket=sets()), of.masked.assign(basket=sets(*LOST[share]))
    variables, released = (
        {name: {**each, **basket}[name] for name in names}
        for each, names in ((of.variables, held), (of.released, kept))
    )
    return replace(
        of, original=original[[*held]], recoded=original[[*kept]], masked=after[[*kept]], variables=variables,
        released=released,
    )  # fmt: skip


def of_each(of: Comparison, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Comparison:
    return replace(of, original=change(of.original), recoded=change(of.recoded), masked=change(of.masked))


def weighted() -> Comparison:
    of, weight = file(LITTLE), {"weight": Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)}
    of = replace(of, variables={**of.variables, **weight}, released={**of.released, **weight})
    return of_each(of, lambda frame: frame.assign(weight=3.0))


ORDER = np.random.default_rng(3).permutation(800)
FILES: dict[str, Callable[[], Comparison]] = {
    "unchanged": file,
    "little": lambda: file(LITTLE),
    "much": lambda: file(MUCH),
    "in another order": lambda: of_each(file(LITTLE), lambda f: f.iloc[ORDER].set_axis(range(800, 0, -1))),
    "of equal weights": weighted,
    "of nobody": lambda: replace(file(), masked=file().masked.head(0)),
    "of nobody before and after": lambda: of_each(file(LITTLE), lambda f: f.head(0)),
    "of nine people": lambda: of_each(file(LITTLE), lambda f: f.head(9)),
    "that held nothing": lambda: file(NOT_AT_ALL, (), ()),
    "without pairs": lambda: replace(file(LITTLE), masked=file(LITTLE).masked.head(700)),
    "of which the town is left": lambda: file(NOT_AT_ALL, ALL, ("town",)),
    "of which the numbers are left": lambda: file(NOT_AT_ALL, ALL, NUMBERS),
    "that held the town alone": lambda: file(NOT_AT_ALL, ("town",), ("town",)),
    "that held numbers alone": lambda: file(NOT_AT_ALL, NUMBERS, NUMBERS),
}


@cache
def found(of: str, at_most: float | None = 1, binding: bool = True) -> dict[str, Finding]:
    """Under limits on all measures, or on none."""
    limits = {} if at_most is None else {name: {"at_most": at_most, "binding": binding} for name in MEASURES}
    return judge(replace(FILES[of](), rng=np.random.default_rng(0)), **limits)[1]


def decided(name: str, at_most: float) -> Finding:
    """Of a little masking, by this measure alone."""
    limits = UtilityLimits.model_validate({name: {"at_most": at_most}})
    of = replace(file(LITTLE), rng=np.random.default_rng(0))
    return next(each for each in limits.decide(of) if each.rule == name)


def test_no_measure_is_left_out() -> None:
    of_their_own = {*Analyses.model_fields, "score", "impossible_records"}
    limits = UtilityLimits.model_fields.keys() - of_their_own
    lists = "OF_NUMBERS, OF_CATEGORIES, OF_ALL or OF_SETS"
    all_listed(MEASURES, limits, f"{lists} of tests/utility/test_contract.py")
    assert len({*MEASURES}) == len(MEASURES)


@each_measure
def test_an_unchanged_file_loses_nothing(name: str) -> None:
    finding = found("unchanged", 1e-6)[name]
    assert (finding.verdict, finding.binding, finding.stage) == (Verdict.PASS, True, "utility")
    assert finding.observed == pytest.approx(0, abs=1e-6)
    assert finding.completed
    golden.words(finding)


@each_measure
def test_more_masking_is_more_loss(name: str) -> None:
    little, more = (found(share)[name].observed for share in ("little", "much"))
    assert 0 < little < more


@each_measure
def test_it_passes_at_its_limit_fails_beyond_and_decides_where_it_binds(name: str) -> None:
    observed = found("little")[name].observed
    assert observed is not None
    at_it, beyond = (decided(name, limit) for limit in (observed, 0.9 * observed))
    assert (at_it.verdict, at_it.binding, at_it.limit) == (Verdict.PASS, True, observed)
    assert (beyond.verdict, beyond.binding) == (Verdict.FAIL, True)
    golden.words(beyond)
    relaxed = found("little", 0, False)[name]
    assert (relaxed.verdict, relaxed.binding) == (Verdict.FAIL, False)
    assert advice_on(relaxed).endswith(".")


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "subgroup_propensity"])  # where it is asked for
def test_without_a_limit_it_is_reported_and_does_not_decide(name: str) -> None:
    finding = found("little", None)[name]
    assert (finding.verdict, finding.binding, finding.limit) == (Verdict.PASS, False, None)
    assert finding.observed == found("little")[name].observed


@pytest.mark.parametrize("of", ["in another order", "of equal weights"])
@pytest.mark.parametrize("name", MEASURES)
def test_neither_the_order_of_the_records_nor_equal_weights_matter(of: str, name: str) -> None:
    assert found(of)[name].observed == pytest.approx(found("little")[name].observed, rel=1e-6)


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in OF_CELLS])
def test_who_removes_the_variables_does_not_escape_the_limit(name: str) -> None:
    left = "of which the numbers are left" if name in OF_CATEGORIES else "of which the town is left"
    finding = found(left, 0.01)[name]
    assert (finding.verdict, finding.binding) == (Verdict.FAIL, True)
    assert finding.observed is None or finding.observed > 0.1
    golden.words(finding)


@pytest.mark.parametrize(
    "name", [name for name in MEASURES if name not in (*OF_CELLS, "generalization", "query_error")]
)
def test_data_that_never_had_such_variables_are_not_held_to_the_limit(name: str) -> None:
    of = "that held numbers alone" if name in (*OF_CATEGORIES, "subgroup_quantiles") else "that held the town alone"
    finding = found(of, 0)[name]
    assert (finding.verdict, finding.binding, finding.observed) == (Verdict.PASS, False, None)
    golden.words(finding)


@each_measure
def test_a_file_of_nobody_is_unknown(name: str) -> None:
    finding, reported = found("of nobody")[name], found("of nobody", None).get(name)
    assert finding.binding
    assert reported is None or not reported.binding
    assert (finding.verdict, finding.observed) == (Verdict.UNKNOWN, None)
    assert reported is None or reported.verdict is Verdict.UNKNOWN
    golden.words(finding)


@each_measure
def test_where_there_are_no_records_nothing_is_known(name: str) -> None:
    finding = found("of nobody before and after")[name]
    assert (finding.verdict, finding.binding, finding.observed) == (Verdict.UNKNOWN, True, None)


@each_measure
def test_nothing_to_measure_is_no_pass_that_decides(name: str) -> None:
    finding = found("that held nothing")[name]
    assert finding.observed is None
    assert finding.verdict is Verdict.UNKNOWN or not finding.binding


@each_measure
def test_of_fewer_people_than_a_cell_nothing_is_told(name: str) -> None:
    assert found("of nine people")[name].observed is None


@each_measure
def test_of_rows_that_are_no_pairs_what_is_told_of_pairs_is_unknown(name: str) -> None:
    finding = found("without pairs")[name]
    assert (finding.verdict is Verdict.UNKNOWN) == (finding.observed is None) == (name in OF_PAIRS)
