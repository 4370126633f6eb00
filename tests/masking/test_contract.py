"""What holds for every masking method: each is read from the text of a plan, masks a survey and keeps its promises."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.ground.errors import PlanError
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Variable, Variables
from sluice.ground.verdict import Verdict
from sluice.masking.masking_step import MaskingStep, carried_out
from sluice.masking.method_catalogue import methods
from sluice.masking.plan import apply_plan, apply_recodings
from sluice.risk.transparency.attack import NoAttack
from sluice.utility.analyses.impossible_share import impossible
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.items.brute_force import crowds, read
from tests.listed import all_listed
from tests.masking.survey import (
    DTYPES,
    OF_KIND,
    ON_ONE,
    PURCHASES,
    REGIONS,
    VARIABLES,
    WRITTEN,
    drawn,
    example,
    on_one,
    step_of,
    survey,
)

METHODS = sorted(methods())
PASSAGES = ("use_when", "preserves", "known_attack", "missing_values", "in_an_analysis", "attack_measured")
# Before anything is made of them: a method that one of these lacks has no tests.
all_listed(ON_ONE, METHODS, "on_one of tests/masking/steps.yaml")
all_listed(WRITTEN["promised_by_the_example"], METHODS, "promised_by_the_example of tests/masking/steps.yaml")
Check = Callable[..., object]  # of the original, the masked survey, and what steps.yaml says


def in_groups_of(original: pd.DataFrame, masked: pd.DataFrame, k: int, *columns: str) -> None:
    assert masked.groupby(list(columns), observed=True, dropna=False).size().min() >= k


def same_values(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    for name in columns:
        assert sorted(masked[name]) == sorted(original[name])


def same_moments(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    pd.testing.assert_series_equal(masked[list(columns)].mean(), original[list(columns)].mean())
    pd.testing.assert_frame_equal(masked[list(columns)].cov(), original[list(columns)].cov())


def same_means(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    for name in columns:
        assert masked[name].mean() == pytest.approx(original[name].mean(), rel=1e-9)


def near(original: pd.DataFrame, masked: pd.DataFrame, share: float, *columns: str) -> None:
    """Means and deviations stay, but for this share of the standard deviation."""
    for name in columns:
        before, after = original[name].astype(float), masked[name].astype(float)
        assert abs(before.mean() - after.mean()) < share * before.std()
        assert abs(before.std() - after.std()) < share * before.std()


def within_range(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    for name in columns:
        assert masked[name].dropna().between(original[name].min(), original[name].max()).all()


def in_order_of(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    """Whoever had more has not less."""
    for name in columns:
        before, after = original[name].rank(), masked[name].rank()
        order = before.argsort()
        rises = before.iloc[order].diff() > 0
        assert (after.iloc[order].diff()[rises] >= 0).all()


def settled(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    """Equal values became equal values."""
    for name in columns:
        assert masked[name].groupby(original[name], observed=True).nunique().eq(1).all()


def recoded(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    """Of fewer kinds, too."""
    settled(original, masked, *columns)
    assert all(masked[name].nunique() < original[name].nunique() for name in columns)


def true_where_left(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    for name in columns:
        left = masked[name].notna()
        assert masked[name][left].equals(original[name][left])


def multiples_of(original: pd.DataFrame, masked: pd.DataFrame, base: float, column: str) -> None:
    assert (masked[column] % base == 0).all()
    assert (masked[column] - original[column]).abs().max() < base


def untouched(original: pd.DataFrame, masked: pd.DataFrame, records: int, column: str) -> None:
    assert (original[column] == masked[column]).sum() == records


def no_other_category(original: pd.DataFrame, masked: pd.DataFrame, *columns: str) -> None:
    assert all(set(masked[name].unique()) <= set(original[name].unique()) for name in columns)


def times(original: pd.DataFrame, masked: pd.DataFrame, factor: float, column: str, of: str, by: str = "abs") -> None:
    pd.testing.assert_series_equal(masked[column], factor * getattr(np, by)(masked[of]), check_names=False)


def without(original: pd.DataFrame, masked: pd.DataFrame, column: str) -> None:
    assert column not in masked


def so_many_records(original: pd.DataFrame, masked: pd.DataFrame, count: int) -> None:
    assert len(masked) == count


def anatomized(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    assert masked.groupby("group")["illness"].nunique().min() >= 3
    same_values(original, masked, "illness")


def swapped_areas(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    same_values(original, masked, "region")
    moved = masked["region"].astype(str) != original["region"].astype(str)
    assert (moved.groupby(original["region"], observed=True).mean() >= 0.1 - 1e-9).all()


def sampled(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    assert len(masked) == 0.8 * len(original)
    assert masked.groupby("household").size().eq(2).all()
    assert masked["weight"].sum() == pytest.approx(original["weight"].sum())


def coded_above(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    coded = original["income"] > original["income"].quantile(0.95)
    assert masked["income"][coded].std() == 0
    assert masked["income"].sum() == pytest.approx(original["income"].sum())


def shuffled_within_regions(original: pd.DataFrame, masked: pd.DataFrame) -> None:
    pairs = ["income", "rent"]
    for region in REGIONS:
        before, after = (frame.loc[original["region"] == region, pairs] for frame in (original, masked))
        assert sorted(before.itertuples(index=False)) == sorted(after.itertuples(index=False))


def known_by(original: pd.DataFrame, masked: pd.DataFrame, k: int, m: int) -> None:
    rows = {item: (group,) for group, items in PURCHASES.items() for item in items}
    assert min(crowds(read(original["purchases"]), m, rows)) < k <= min(crowds(read(masked["purchases"]), m, rows))


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        anatomized, coded_above, in_groups_of, in_order_of, known_by, multiples_of, near, no_other_category, recoded,
        same_means, same_moments, same_values, sampled, settled, shuffled_within_regions, so_many_records,
        swapped_areas, times, true_where_left, untouched, within_range, without,
    )
}  # fmt: skip


def flow(written: object) -> str:
    """On one line."""
    return str(yaml.safe_dump(written, default_flow_style=True, width=10**6, sort_keys=False)).strip()


Promises = dict[str, list[Any]]


PROMISES: dict[str, Promises] = WRITTEN["promised_by_the_example"]
STEPS: dict[str, tuple[MaskingStep, Promises]] = {
    method: (example(method), checks) for method, checks in sorted(PROMISES.items())
} | {
    f"{method}, {flow(fields)[1:-1]}": (step_of({"method": method, **fields}), checks)
    for method, steps in WRITTEN["promised"].items()
    for fields, checks in steps
}
every_step = pytest.mark.parametrize("text", STEPS)
every_method = pytest.mark.parametrize("method", METHODS)

BLANKS = ("local_suppression", "item_generalization", "item_suppression")  # what is rare is left out
SETTLED = {
    *BLANKS, "derived", "generalization", "global_recoding", "lossy_compression", "matrix_decomposition",
    "microaggregation", "mondrian", "projected_microaggregation", "recursive_histogram_sanitization", "removal",
    "rounding", "spectral_histogram_sanitization", "top_bottom_coding", "univariate_microaggregation",
}  # fmt: skip
"""Methods that draw nothing, but for the first of several modes, or where they begin."""


def masked_by(step: MaskingStep, frame: pd.DataFrame, variables: Variables, seed: int = 11) -> pd.DataFrame:
    return apply_plan([step], frame, variables, np.random.SeedSequence(seed))[0]


def well_typed(masked: pd.DataFrame, step: MaskingStep, original: pd.DataFrame, variables: Variables) -> None:
    """What comes out are the declared variables, and all that the step does not concern is there to the bit."""
    released = step.released(variables)
    assert list(masked) == list(released)
    assert {name: str(dtype) for name, dtype in masked.dtypes.items()} == {
        name: DTYPES[variable.kind] for name, variable in released.items()
    }
    for name, variable in released.items():
        if variable.kind.is_numeric:
            assert np.isfinite(masked[name].dropna().astype(float)).all()
            for end, beyond in (("minimum", -1), ("maximum", 1)):
                limit = getattr(variable, end)
                assert limit is None or not (beyond * (masked[name].dropna().astype(float) - limit) > 0).any()
        elif variable.kind.is_categorical and variable.kind is not Kind.ITEMS:
            assert masked[name].dtype.ordered is (variable.kind is Kind.ORDINAL)
            assert variable.categories is None or set(masked[name].dropna().unique()) <= set(variable.categories)
        assert variable.nullable or name not in step.columns or masked[name].notna().all()
    assert masked.index.isin(original.index).all() if step.is_sampling else masked.index.equals(original.index)
    others = [name for name in masked if name in original and not step.concerns(name)]
    pd.testing.assert_frame_equal(masked[others], original.loc[masked.index, others])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_what_the_catalogue_and_the_codebook_print(method: str) -> None:
    for passage in PASSAGES:
        text = getattr(methods()[method], passage)
        assert text.endswith("."), passage
        assert "  " not in text, passage


@every_step
def test_a_survey_is_masked_as_declared_and_keeps_what_the_method_promises(text: str) -> None:
    step, promises = STEPS[text]
    assert type(step) is methods()[step.method]
    original = survey()
    kept = original.copy()
    masked = masked_by(step, original, VARIABLES)
    pd.testing.assert_frame_equal(original, kept)
    well_typed(masked, step, original, VARIABLES)
    suppressed = list(step.columns) if step.method in BLANKS else []
    assert masked.drop(columns=suppressed).notna().all(axis=None)
    assert not masked.equals(original)
    for check, arguments in promises.items():
        CHECKS[check](original, masked, *arguments)


@every_step
def test_the_seed_decides_what_is_drawn_and_the_index_nothing(text: str) -> None:
    """A recoding draws nothing, and treats each record as it would alone."""
    step, _ = STEPS[text]
    original = survey(120)
    masked = masked_by(step, original, VARIABLES, 1)
    pd.testing.assert_frame_equal(masked, masked_by(step, original, VARIABLES, 1))
    elsewhere = original.set_axis(np.arange(120) % 7)
    kept = elsewhere.copy()
    (rng,) = map(np.random.default_rng, np.random.SeedSequence(1).spawn(1))
    fitted = step.fit(elsewhere, VARIABLES) if step.masks_as_fitted else (step,)
    directly = carried_out(fitted, elsewhere, VARIABLES, rng)
    pd.testing.assert_frame_equal(elsewhere, kept)
    pd.testing.assert_frame_equal(directly, masked.set_axis(masked.index % 7))
    drawn = any(not masked.equals(masked_by(step, original, VARIABLES, seed)) for seed in (2, 3))
    if drawn and step.method in SETTLED:
        ties = step.method == "microaggregation" and any(VARIABLES[name].kind is Kind.NOMINAL for name in step.columns)
        assert ties or "cuts: relaxed" in text or "factorisation: non_negative" in text
    else:
        does = "draws" if drawn else "draws nothing"
        assert drawn is (step.method not in SETTLED), (
            f"{step.method} {does}: SETTLED names the methods that draw nothing"
        )
    if step.is_recoding:
        assert not drawn
        fitted = step.fit(original, VARIABLES)
        order = np.random.default_rng(0).permutation(120)[:50]
        some = carried_out(fitted, original.iloc[order], VARIABLES, np.random.default_rng(3))
        pd.testing.assert_frame_equal(some.astype("str"), masked.iloc[order].astype("str"))


@every_step
def test_the_fitted_step_can_be_written_down_and_tells_no_value_of_a_person(text: str) -> None:
    step, _ = STEPS[text]
    original = survey(120)
    told = {f"{value:.2f}" for name in ("income", "rent") for value in original[name]} | set(original["name"])
    for fitted in step.fit(original, VARIABLES):
        said = f"{fitted.describe()} {fitted.correction()} {json.dumps(fitted.parameters())}"
        assert not told & set(re.findall(r"person \d+|\d+\.\d\d\b", said))
        assert fitted.describe().endswith(".")
        assert all(name in fitted.describe() for name in fitted.columns)
        written = fitted.model_dump(mode="json")
        assert type(fitted).model_validate(written).model_dump(mode="json") == written


def ruled(step: MaskingStep, original: pd.DataFrame) -> tuple[pd.DataFrame, Variables, RecordRule] | None:
    """The survey with a variable that tells the lower part of what the step masks, and a rule that every record keeps:
    whoever is in the lower part is not above it."""
    name = next((each for each in step.columns if VARIABLES[each].kind not in (Kind.TEXT, Kind.ITEMS)), None)
    if name is None:
        return None

    def height(frame: pd.DataFrame) -> "pd.Series[Any]":
        return frame[name].cat.codes if VARIABLES[name].kind.is_categorical else frame[name]

    highest = height(original).quantile(0.4, interpolation="lower")

    def holds(frame: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
        above = (height(frame) > highest).to_numpy(dtype=bool, na_value=False)
        return ~((frame["part"] == "low").to_numpy() & above)

    part = pd.Categorical(np.where(height(original) <= highest, "low", "high"), ["low", "high"])
    variables = {**VARIABLES, "part": Variable(name="part", kind=Kind.BINARY, categories=("low", "high"))}
    return original.assign(part=part), variables, RecordRule("a rule", "It holds", (name, "part"), holds)


@every_step
def test_no_record_breaks_a_rule_of_the_contract_or_the_plan_fails(text: str) -> None:
    """What draws each record by itself leaves none that is impossible, nor what sees to that itself; all else fails."""
    step, _ = STEPS[text]
    if (made := ruled(step, survey())) is None:
        return
    original, variables, rule = made
    assert rule.holds(original).all()
    free, by_rule = (
        apply_plan([step], original, variables, np.random.SeedSequence(11), rules=rules) for rules in ((), (rule,))
    )
    masked, carried = by_rule
    released = step.released(variables)
    before, recoded = original.loc[masked.index], apply_recodings(carried, original, variables).loc[masked.index]
    files = Comparison(
        *(frame.reset_index(drop=True) for frame in (before, recoded, masked)), None, variables, released,
        np.random.default_rng(0), carried_out=carried, record_rules=(rule,),
    )  # fmt: skip
    finding = impossible(files).measured["impossible_records"].finding("impossible_records", None)
    if step.keeps_rules:
        assert rule.holds(free[0]).sum() < rule.holds(masked).sum()
        # What is nearly a multiple is rounded to it again and again.
        mended = step.method != "random_rounding" or rule.holds(masked).all()
        assert finding.verdict is (Verdict.PASS if mended else Verdict.FAIL)
        return
    pd.testing.assert_frame_equal(free[0], masked)
    name = rule.columns[0]
    of_one_kind = name in released and (released[name].kind, released[name].categories) == (
        variables[name].kind, variables[name].categories,
    )  # fmt: skip
    if of_one_kind:  # else a group breaks the rule where none of its values can be
        kept = rule.holds(masked).all()
        assert (finding.verdict, finding.binding) == ((Verdict.PASS, False) if kept else (Verdict.FAIL, True))


EXTREMES = ("no record", "one record", "all equal", "some missing", "all missing", "huge", "beyond 2^53", "tiny")
FEW = {"no record", "one record"}
GAPS = {"some missing", "all missing"}
REFUSED = {method: set(extremes) for method, extremes in WRITTEN["extremes_refused"].items()}
IN_GROUPS = [method for method, model in methods().items() if "representative" in model.model_fields]
KEPT_VALUES = ("anatomization", "data_shuffling", "data_swapping", "permutation", "rank_swapping")  # at other places
FILLED = ("random_orthogonal_matrix", "spectral_swapping")  # with the mean, where that is asked for
MISSING: dict[str, str] = WRITTEN["missing_values"]


def extreme(name: str, kind: Kind) -> tuple[pd.DataFrame, Variables]:
    """A variable of this kind beside one that is left alone."""
    variable, n = OF_KIND[kind], 60
    frame = survey(n)[[variable.name]].assign(other=np.arange(float(n)))
    column = frame[variable.name]
    if name in FEW:
        frame = frame.iloc[: ("no record", "one record").index(name)]
    elif name == "all equal":
        frame = frame.iloc[[0] * 12].set_axis(range(12))
    elif name == "some missing":
        frame = frame.assign(**{variable.name: column.where(np.arange(n) % 4 > 0)})
    elif name == "all missing":
        frame = frame.assign(**{variable.name: column.where(np.zeros(n, dtype=bool))})
    elif name == "huge":
        frame = frame.assign(**{variable.name: np.linspace(0, 1.7e308, n)})
    elif name == "tiny":
        frame = frame.assign(**{variable.name: 5e-324 * np.arange(n)})
    elif name == "beyond 2^53":
        frame = frame.assign(**{variable.name: pd.array(2**62 + np.arange(n), dtype="Int64")})
        variable = variable.model_copy(update={"maximum": None, "hierarchy": None})
    return frame, {variable.name: variable, "other": Variable(name="other", kind=Kind.CONTINUOUS)}


def is_extreme_of(name: str, kind: Kind, method: str) -> bool:
    by_hierarchy = method in ("generalization", "global_recoding")
    if name in ("huge", "tiny"):
        return kind is Kind.CONTINUOUS
    return name != "beyond 2^53" or (kind is Kind.INTEGER and not by_hierarchy)


@pytest.mark.parametrize(
    ("method", "name"),
    [(m, e) for m in METHODS for e in EXTREMES if any(is_extreme_of(e, kind, m) for kind in ON_ONE[m][1])],
)
@pytest.mark.filterwarnings("error")
def test_extremes_of_every_kind_are_masked_or_refused(method: str, name: str) -> None:
    told: set[str] = set()
    for kind in ON_ONE[method][1]:
        if not is_extreme_of(name, kind, method):
            continue
        original, variables = extreme(name, kind)
        step = on_one(method, OF_KIND[kind].name, kind)
        variable = OF_KIND[kind].name
        if name in REFUSED.get(method, set()):
            with pytest.raises(PlanError, match="2\\^53" if name == "beyond 2^53" else method) as refused:
                masked_by(step, original, variables)
            said = str(refused.value).replace(f"'{variable}'", "'x'")
            if said not in told:
                golden(said)
            told.add(said)
            if name in GAPS and "missing" in methods()[method].model_fields:
                count = original[variable].isna().sum()
                assert str(variable) in str(refused.value)
                assert str(count) in str(refused.value)
            elif name in FEW and method in IN_GROUPS:
                assert str(len(original)) in str(refused.value)
            continue
        masked = masked_by(step, original, variables)
        well_typed(masked, step, original, variables)
        if method in KEPT_VALUES:
            assert sorted(masked[variable].dropna()) == sorted(original[variable].dropna())
        if name == "all equal" and method not in ("derived", "pram", "random_rounding", "removal"):
            number = masked[variable].to_numpy() if masked[variable].dtype == float else masked[variable].factorize()[0]
            assert np.ptp(number) <= 1e-9 * np.abs(number).max()
        if name in GAPS and method != "removal":
            gaps, blank = original[variable].isna().loc[masked.index], masked[variable].isna()
            how = MISSING.get(method, "stay")
            assert {
                "stay": blank.equals(gaps),
                "stay with their record": blank.equals(gaps),
                "stay among others": (blank | ~gaps).all(),
                "move": blank.sum() == gaps.sum(),
                "are filled": not blank.any(),
                "are drawn": blank.all() == gaps.all() and blank.any(),
            }[how]


@every_method
def test_other_kinds_and_unknown_columns_are_refused_by_name(method: str) -> None:
    assert set(REFUSED) | set(MISSING) <= set(METHODS)
    for kind in Kind:
        name = OF_KIND[kind].name
        _, variables = extreme("some missing", kind)
        if kind in ON_ONE[method][1]:
            assert list(on_one(method, name, kind).released(variables))
        else:
            with golden.raises(PlanError):
                on_one(method, name, kind).released(variables)
    if method != "sampling":
        kind = ON_ONE[method][1][0]
        name = OF_KIND[kind].name
        variables = {"other": VARIABLES["hours"], f"{name}s": OF_KIND[kind]}
        with golden.raises(PlanError):
            on_one(method, name, kind).released(variables)
        with golden.raises(ValidationError):
            step_of(step_with(method) | {"columns": []})
        with golden.raises(ValidationError):
            step_of(step_with(method) | {"columns": [name, name]})


def step_with(method: str) -> dict[str, Any]:
    return {"method": method, **ON_ONE[method][0]}


@pytest.mark.parametrize(
    ("method", "option", "filled"),
    [
        ("lossy_compression", "mean", False),
        ("matrix_decomposition", "mean", False),
        ("random_orthogonal_matrix", "mean", True),
        ("spectral_swapping", "mean", True),
        *((method, "by_pattern", False) for method in IN_GROUPS),
    ],
)
def test_missing_values_are_taken_where_it_is_asked_for(method: str, option: str, filled: bool) -> None:
    small_cells = {"small_cells": "whole"} if method == "recursive_histogram_sanitization" else {}
    for kind in ON_ONE[method][1]:
        name = OF_KIND[kind].name
        step = step_of(step_with(method) | {"columns": [name], "missing": option} | small_cells)
        for gaps in ("some missing", "all missing"):
            original, variables = extreme(gaps, kind)
            if filled and gaps == "all missing":
                with golden.raises(PlanError):
                    masked_by(step, original, variables)
                continue
            masked = masked_by(step, original, variables)
            well_typed(masked, step, original, variables)
            assert not masked[name].isna().any() if filled else masked[name].isna().equals(original[name].isna())
            if option == "by_pattern":
                assert masked[name].value_counts(dropna=False).pipe(lambda counts: counts[counts > 0]).min() >= 3


@pytest.mark.parametrize("method", IN_GROUPS)
def test_groups_are_of_two_records_at_least_and_blocks_of_one_group(method: str) -> None:
    kind = ON_ONE[method][1][0]
    name = OF_KIND[kind].name
    fields = {"method": method, "columns": [name]}
    with golden.raises(ValidationError):
        step_of(fields | {"k": 1})
    if "block_size" in methods()[method].model_fields:
        with golden.raises(ValidationError):
            step_of(fields | {"k": 5, "block_size": 4})
    few, variables = extreme("plain", kind)
    few = few.assign(**{name: few[name].where(np.arange(60) % 4 == 0)})
    step = step_of(fields | {"k": 16, "missing": "by_pattern"})
    with golden.raises(PlanError) as refused:
        masked_by(step, few, variables)
    assert "15" not in str(refused.value)  # how few share a pattern is a figure about them


@every_method
def test_strata_and_households_are_masked_by_themselves_or_refused(method: str) -> None:
    """Whatever the other stratum holds, the same comes out; the members of a household are given one value."""
    kind = ON_ONE[method][1][0]
    variable = OF_KIND[kind]
    fields = step_with(method) | {"columns": [variable.name]}
    model = methods()[method]
    if method == "sampling":
        fields.pop("columns")
    frame = survey(120)[["household", variable.name]].assign(part=pd.Categorical(["a"] * 60 + ["b"] * 60))
    frame[variable.name] = frame[variable.name].iloc[frame["household"] * 2].set_axis(frame.index)
    frame["other"] = frame["household"].astype(float)
    frame["apart"] = np.arange(120.0)  # in which members differ
    variables = {
        "household": VARIABLES["household"],
        variable.name: variable,
        "part": Variable(name="part", kind=Kind.NOMINAL, categories=("a", "b")),
        **{name: VARIABLES["hours"].model_copy(update={"name": name}) for name in ("other", "apart")},
    }
    if not model.takes_strata:
        with golden.raises(ValidationError):
            step_of(fields | {"strata": ["part"]})
    elif method != "global_recoding":
        step = step_of(fields | {"strata": ["part"]})
        masked = masked_by(step, frame, variables)
        well_typed(masked, step, frame, variables)
        if "all equal" not in REFUSED.get(method, set()):
            changed = frame.copy()
            changed.loc[60:, variable.name] = frame[variable.name].iloc[60]
            again = masked_by(step, changed, variables)
            part = [each[each["part"] == "a"].astype("str") for each in (masked, again)]
            pd.testing.assert_frame_equal(*part)
    if not (model.takes_households or model.keeps_households):
        with golden.raises(ValidationError):
            step_of(fields | {"unit": "household"})
    else:
        step = step_of(fields | {"unit": "household"})
        masked = masked_by(step, frame, variables)
        well_typed(masked, step, frame, variables)
        if variable.name in masked:
            assert masked.groupby("household")[variable.name].nunique(dropna=False).eq(1).all()


def written(section: str) -> pytest.MarkDecorator:
    """A case for each step of this section of steps.yaml."""
    cases = []
    for method, steps in WRITTEN[section].items():
        columns = {} if method == "sampling" else {"columns": ["x"]}
        for each in steps:
            fields, *variables = each if isinstance(each, list) else [each]
            cases.append(
                pytest.param(
                    {"method": method, **columns, **fields}, *variables[:1] or [{}], id=f"{method} {flow(each)}"
                )
            )
    return pytest.mark.parametrize(("fields", "others"), cases)


@written("refused_as_written")
def test_a_step_that_makes_no_sense_is_refused_as_it_is_read(fields: dict[str, Any], others: dict[str, Any]) -> None:
    with golden.raises(ValidationError):
        step_of(fields)


@written("refused_for_these_variables")
def test_a_step_that_its_variables_do_not_allow_is_refused(fields: dict[str, Any], others: dict[str, Any]) -> None:
    changed = {name: of and Variable.model_validate({"name": name, **of}) for name, of in others.items()}
    variables = {name: variable for name, variable in {**VARIABLES, **changed}.items() if variable}
    with golden.raises(PlanError):
        step_of(fields).released(variables)


@written("described")
def test_a_codebook_says_what_was_done_and_not_what_undoes_it(fields: dict[str, Any], others: dict[str, Any]) -> None:
    untold = fields.pop("untold", None)
    said = step_of(fields).describe()
    golden(said)
    assert untold is None or not re.search(untold, said)


OPTIONS: dict[str, dict[str, list[object]]] = WRITTEN["drawn"]
RANKED = ("data_distortion", "resampling", "rounding")  # whoever had more has not less
FITTED = ("data_distortion",)  # to a dozen families, which takes its time
WITHIN = ("lossy_compression", "resampling", "sequential_trees")  # no value beyond the extremes of the file


@pytest.mark.parametrize(
    "method", [pytest.param(method, marks=pytest.mark.chain if method in FITTED else ()) for method in OPTIONS]
)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), gaps=st.booleans())
def test_whatever_is_chosen_the_file_is_as_declared(method: str, data: st.DataObject, seed: int, gaps: bool) -> None:
    fields, kinds = ON_ONE[method]
    chosen: dict[str, Any] = {name: data.draw(st.sampled_from(of), label=name) for name, of in OPTIONS[method].items()}
    columns = data.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True).map(tuple))
    variables: dict[str, Variable] = {OF_KIND[kind].name: OF_KIND[kind] for kind in columns}
    step = step_of({"method": method, **fields, **chosen, "columns": list(variables)})
    original = drawn(variables, 40, seed).reset_index(drop=True).assign(other=np.arange(40.0))
    if gaps:
        name = next(iter(variables))
        original[name] = original[name].where(np.arange(40) % 4 > 0)
    variables["other"] = Variable(name="other", kind=Kind.CONTINUOUS)
    masked = masked_by(step, original, variables, seed)
    well_typed(masked, step, original, variables)
    if MISSING.get(method, "stay") == "stay" and method not in FILLED and not chosen.get("missing_as_category"):
        assert masked.isna().equals(original.isna())
    if method in IN_GROUPS:
        apart = method == "univariate_microaggregation"
        for names in [[name] for name in step.columns] if apart else [list(step.columns)]:
            assert masked.groupby(names, observed=True, dropna=False).size().min() >= chosen["k"]
    for name in step.columns:
        kind = variables[name].kind
        if name not in masked:
            continue
        if method in KEPT_VALUES:
            assert sorted(masked[name].dropna()) == sorted(original[name].dropna())
        if method in RANKED and (kind.is_numeric or kind is Kind.ORDINAL) and chosen.get("map_by_rank", True):
            in_order_of(original, masked, name)
        if method in WITHIN and kind.is_numeric:
            within_range(original, masked, name)
        if chosen.get("representative") in ("mode", "random") or chosen.get("smoothing") == "none":
            assert set(masked[name].dropna().unique()) <= set(original[name].dropna().unique())
        if "base" in chosen:
            moved = (masked[name] - original[name]).dropna().abs().astype(float)
            assert (
                (moved < chosen["base"]).all() if method == "random_rounding" else (moved <= chosen["base"] / 2).all()
            )
            multiples = masked[name].dropna().astype(float) / chosen["base"]
            assert np.allclose(multiples, multiples.round())


@every_method
def test_every_method_declares_its_attack_or_why_there_is_none(method: str) -> None:
    attacks = example(method).attacks()
    assert attacks
    assert all(len(each.reason) > 20 if isinstance(each, NoAttack) else each.knows for each in attacks)


def test_every_method_has_an_example_and_a_promise() -> None:
    assert all(type(example(name)) is model for name, model in methods().items())
