"""The gate: what must pass it, what must not, and for which reason. Published verdicts are in tests/published."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.original_and_masked import OriginalAndMasked
from policies.standard.judgement import judge_reference_standard
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.reidentification import judge_reidentification
from sluice.errors import DataError, DocumentError
from sluice.variables import Variable
from sluice.verdict import Verdict, decide

NUMBERS = [f"x{j}" for j in range(8)]
AREAS = list("abcd")
VARIABLES = {name: Variable(name=name, kind="continuous") for name in NUMBERS} | {
    "sex": Variable(name="sex", kind="binary", categories=("f", "m")),
    "area": Variable(name="area", kind="nominal", categories=tuple(AREAS)),
    "age": Variable(name="age", kind="integer"),
}
LOADINGS = np.random.default_rng(3).normal(size=(3, 8))


def people(n, seed):
    """A sample of one population: eight correlated measurements, sex, area and age."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) @ LOADINGS + rng.normal(size=(n, 8)) * 0.5
    frame = pd.DataFrame(x, columns=NUMBERS)
    frame["sex"] = pd.Categorical(np.where(x[:, 0] + rng.normal(size=n) > 0, "f", "m"), categories=["f", "m"])
    frame["area"] = pd.Categorical.from_codes(np.clip((x[:, 1] + 2).astype(int), 0, 3), categories=AREAS)
    frame["age"] = pd.array(np.clip(40 + 10 * x[:, 2], 0, 99).astype(int), dtype="Int64")
    return frame


def judge(original, masked, *, recoded=None, holdout=None, variables=VARIABLES, released=None, cell=10, **setting):
    standard = ReferenceStandard(**setting)
    findings, curves = judge_reference_standard(
        standard,
        OriginalAndMasked(
            original,
            original if recoded is None else recoded,
            masked,
            holdout,
            variables,
            released or variables,
            np.random.default_rng(0),
            minimum_cell=cell,
        ),
    )
    assert {finding.rule for finding in findings} <= set(standard.finding_names)
    assert {finding.stage for finding in findings} == {"reference"}
    return {finding.rule: finding for finding in findings}, {curve.measure: curve for curve in curves}


def verdicts(findings):
    return {rule: finding.verdict for rule, finding in findings.items() if finding.verdict is not Verdict.PASS}


ORIGINAL = people(2000, 1)
SAFE = people(2000, 2)


@pytest.mark.parametrize("masked", [SAFE, people(2000, 3), SAFE.iloc[:1950]])
def test_other_people_pass(masked):
    findings, _ = judge(ORIGINAL, masked)
    assert decide(findings.values()) is Verdict.PASS
    assert set(findings) == set(ReferenceStandard.finding_names) - {"worst_subgroup", "reidentification"}


def test_the_original_itself_fails_in_every_way():
    findings, curves = judge(ORIGINAL, ORIGINAL.sample(frac=1, random_state=1))
    for rule in ("prediction_distance", "prediction_ambiguity", "closest_records", "near_copies", "exact_copies"):
        assert findings[rule].verdict is Verdict.FAIL
        assert findings[rule].observed == 1
    assert curves["distance"].verdict is Verdict.FAIL
    assert (curves["distance"].grid[0], curves["distance"].masked[0]) == (0, 1)
    assert "gets closer to it with this release" in findings["prediction_distance"].says


def test_weak_noise_fails():
    rng = np.random.default_rng(4)
    masked = ORIGINAL.assign(**{name: ORIGINAL[name] + rng.normal(size=2000) * 0.3 for name in NUMBERS})
    findings, _ = judge(ORIGINAL, masked)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    assert findings["prediction_ambiguity"].verdict is Verdict.FAIL
    assert findings["exact_copies"].verdict is Verdict.PASS


def planted(share, noise=0.0):
    """A safe file in which some records are those of original people, nearly."""
    count = int(share * 2000)
    copies = ORIGINAL.iloc[:count].copy()
    for name in NUMBERS:
        copies[name] += np.random.default_rng(5).normal(size=count) * noise
    return pd.concat([SAFE.iloc[count:], copies], ignore_index=True)


def test_four_per_cent_verbatim_records_pass_the_margin_and_not_the_gate():
    findings, _ = judge(ORIGINAL, planted(0.04))
    assert findings["prediction_distance"].verdict is Verdict.PASS  # the plain margin does not see them
    assert findings["prediction_ambiguity"].verdict is Verdict.PASS
    assert findings["closest_records"].verdict is Verdict.FAIL
    assert findings["exact_copies"].verdict is Verdict.FAIL
    assert findings["exact_copies"].observed == pytest.approx(0.04)


def test_one_per_cent_near_copies_are_seen_by_the_count_alone():
    findings, _ = judge(ORIGINAL, planted(0.01, noise=0.02))
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.PASS
    assert findings["closest_records"].verdict is not Verdict.FAIL
    assert findings["near_copies"].verdict is Verdict.FAIL


def test_a_moved_verbatim_tail_is_seen():
    findings, _ = judge(ORIGINAL, planted(0.04, noise=0.15), copies_excess=0.5)  # the tail alone decides
    assert findings["closest_records"].verdict is Verdict.FAIL


def test_a_doubled_file_blinds_leave_one_out_and_is_found_out():
    doubled = pd.concat([ORIGINAL, ORIGINAL], ignore_index=True)
    findings, _ = judge(doubled, doubled.sample(frac=1, random_state=1))
    assert findings["prediction_distance"].observed == 0
    assert findings["exact_copies"].verdict is Verdict.PASS  # everybody has a twin in the reference, too
    assert findings["duplicate_records"].verdict is Verdict.UNKNOWN
    assert decide(findings.values()) is Verdict.UNKNOWN


def test_persons_on_both_sides_of_a_holdout_are_found_out():
    both = pd.concat([ORIGINAL, ORIGINAL.iloc[:1500]], ignore_index=True)
    findings, _ = judge(
        both.iloc[:2000], both.iloc[:2000], holdout=both.iloc[2000:], reference="holdout", holdout_share=0.4
    )
    assert findings["duplicate_records"].verdict is Verdict.UNKNOWN


def test_copies_within_groups_are_no_pass_for_uncertainty():
    order = ORIGINAL.sort_values(NUMBERS[0]).index.to_numpy()
    group = np.empty(2000, int)
    group[order] = np.arange(2000) // 10
    means = ORIGINAL.groupby(group)[NUMBERS].transform("mean")
    masked = ORIGINAL.assign(**{name: means[name] for name in NUMBERS}, sex="f", area="a", age=40)
    masked = masked.astype({"sex": ORIGINAL["sex"].dtype, "area": ORIGINAL["area"].dtype, "age": "Int64"})
    findings, curves = judge(ORIGINAL, masked)
    assert findings["prediction_uncertainty"].verdict is Verdict.REVIEW
    assert not findings["prediction_uncertainty"].binding
    assert "by construction" in findings["prediction_uncertainty"].says
    assert findings["prediction_ambiguity"].verdict is Verdict.PASS  # identically 1: stronger than the reference
    assert curves["ambiguity"].masked[0] == 0
    findings, _ = judge(ORIGINAL, masked, binding=("uncertainty",))
    assert findings["prediction_uncertainty"].verdict is Verdict.UNKNOWN
    assert findings["prediction_distance"].binding is False


@pytest.mark.parametrize(
    ("when_fewer", "verdict"), [("unknown", Verdict.UNKNOWN), ("review", Verdict.REVIEW), ("judge", Verdict.PASS)]
)
def test_few_records_prove_nothing(when_fewer, verdict):
    findings, curves = judge(people(200, 6), people(200, 8), when_fewer=when_fewer)
    assert findings["reference_size"].verdict is verdict
    assert findings["prediction_distance"].verdict is verdict
    assert curves["distance"].verdict is verdict
    assert findings["prediction_distance"].says.endswith("proves nothing.") == (verdict is not Verdict.PASS)


def test_few_records_can_still_fail():
    few = people(200, 6)
    assert judge(few, few)[0]["prediction_distance"].verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("original", "masked"),
    [(ORIGINAL.iloc[:0], SAFE), (ORIGINAL, SAFE.iloc[:0]), (ORIGINAL, SAFE.iloc[:5]), (ORIGINAL.iloc[:5], SAFE)],
)
def test_nothing_to_compare_is_unknown(original, masked):
    findings, curves = judge(original, masked, when_fewer="judge")
    assert verdicts(findings) == {"reference_size": Verdict.UNKNOWN}
    assert curves == {}


HOLDOUT = {"reference": "holdout", "holdout_share": 0.3}


def test_a_holdout_smaller_than_the_file_is_matched_in_size():
    findings, _ = judge(people(3000, 10), people(3000, 11), holdout=people(1200, 12), **HOLDOUT)
    assert decide(findings.values()) is Verdict.PASS  # unmatched, all 3,000 would lie nearer than 1,200 can
    findings, _ = judge(ORIGINAL, ORIGINAL, holdout=people(1200, 12), **HOLDOUT)
    assert findings["prediction_distance"].verdict is Verdict.FAIL


def test_copies_do_not_hide_in_the_part_of_the_file_left_out():
    original, other = people(3000, 10), people(3000, 11)
    masked = pd.concat([original.iloc[:60], other.iloc[60:]])  # 2 %; in a part of 1,200 records only 24 would be seen
    findings, _ = judge(original, masked, holdout=people(1200, 12), **HOLDOUT)
    assert findings["near_copies"].verdict is Verdict.FAIL
    assert findings["near_copies"].observed == pytest.approx(0.02, abs=0.001)
    assert findings["exact_copies"].verdict is Verdict.FAIL


@pytest.mark.parametrize("holdout", [None, people(1200, 12).iloc[:0]])
def test_without_its_holdout_the_standard_is_unknown(holdout):
    findings, _ = judge(ORIGINAL, SAFE, holdout=holdout, **HOLDOUT)
    assert verdicts(findings) == {"reference_size": Verdict.UNKNOWN}


def test_a_small_holdout_is_unknown():
    findings, _ = judge(ORIGINAL, SAFE, holdout=people(500, 12), **HOLDOUT)
    assert findings["reference_size"].verdict is Verdict.UNKNOWN
    assert findings["reference_size"].observed == 500


def test_a_small_share_of_the_people_is_held_to_a_small_margin():
    sample = ORIGINAL.sample(frac=0.02, random_state=1)  # 40 verbatim records: an excess of 2 % of 2,000
    findings, _ = judge(ORIGINAL, sample)
    assert findings["prediction_distance"].limit == pytest.approx(0.001)
    assert findings["prediction_distance"].verdict > Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.FAIL
    assert decide(judge(ORIGINAL, people(1000, 3))[0].values()) is Verdict.PASS


def test_a_larger_file_is_not_closer_by_its_size():
    findings, _ = judge(ORIGINAL, people(8000, 3))
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["near_copies"].verdict is Verdict.PASS


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_order_and_index_do_not_show(seed):
    rng = np.random.default_rng(seed)
    original, masked = ORIGINAL.iloc[:1000], planted(0.02, noise=0.1).iloc[1000:]
    order = rng.permutation(1000)
    base, _ = judge(original, masked)
    moved, _ = judge(
        original.iloc[order].set_axis(rng.permutation(5000)[:1000]),
        masked.iloc[rng.permutation(1000)].set_axis(order),
    )
    for rule, finding in base.items():
        assert (finding.verdict, finding.observed) == (moved[rule].verdict, pytest.approx(moved[rule].observed))


def test_files_with_many_natural_twins(reference_data):
    frame = pd.read_csv(reference_data / "adult" / "adult.data.gz", header=None, skipinitialspace=True)
    frame = frame[[1, 3, 5, 8, 9, 14]].astype(str).astype("category")
    frame.columns = list("abcdef")
    variables = {name: Variable(name=name, kind="nominal") for name in frame}
    drawn = np.random.default_rng(1).permutation(len(frame))
    one, other = (frame.iloc[drawn[i : i + 3000]].reset_index(drop=True) for i in (0, 3000))
    findings, _ = judge(one, other, variables=variables)
    assert decide(findings.values()) is Verdict.PASS
    assert findings["exact_copies"].observed > 0.5  # natural: the reference finds as many
    # The people themselves are in the file: those without a twin are found out.
    assert judge(one, one, variables=variables)[0]["exact_copies"].verdict is Verdict.FAIL
    doubled = pd.concat([one, one], ignore_index=True)
    assert judge(doubled, doubled, variables=variables)[0]["duplicate_records"].verdict is Verdict.UNKNOWN


def recode(frame):
    """Age in bands of 10 years, areas in two halves: a published, deterministic recoding."""
    bands = [f"{10 * band}s" for band in range(10)]
    return frame.assign(
        age=pd.Categorical.from_codes((frame["age"] // 10).astype(int), categories=bands),
        area=pd.Categorical(np.where(frame["area"].isin(["a", "b"]), "ab", "cd"), categories=["ab", "cd"]),
    )


RECODED = VARIABLES | {
    "age": Variable(name="age", kind="ordinal", categories=tuple(f"{10 * band}s" for band in range(10))),
    "area": Variable(name="area", kind="nominal", categories=("ab", "cd")),
}


def test_recoded_variables():
    recoded = recode(ORIGINAL)
    findings, _ = judge(ORIGINAL, recode(SAFE), recoded=recoded, released=RECODED)
    assert decide(findings.values()) is Verdict.PASS
    assert findings["comparable_values"].observed == 0
    # Wider groups on two columns do not hide eight verbatim measurements: after the recoding the records are copies.
    findings, _ = judge(ORIGINAL, recoded, recoded=recoded, released=RECODED)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    assert findings["exact_copies"].verdict is Verdict.FAIL


def test_few_recoded_copies_are_counted_on_the_recoded_values():
    recoded = recode(ORIGINAL)
    masked = pd.concat([recoded.iloc[:20], recode(SAFE).iloc[20:]])
    findings, _ = judge(ORIGINAL, masked, recoded=recoded, released=RECODED)
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.FAIL


def test_labels_that_nobody_carries_cannot_be_measured():
    recoded = recode(ORIGINAL)
    strange = recode(SAFE)
    strange["area"] = pd.Categorical(["ef"] * 2000, categories=["ab", "cd", "ef"])
    findings, _ = judge(ORIGINAL, strange, recoded=recoded, released=RECODED)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN
    assert findings["comparable_values"].attempted - findings["comparable_values"].completed == 2000


def test_blanked_cells_do_not_make_a_verbatim_file_safe():
    gaps = np.random.default_rng(7).random((2000, 8)) < 0.25
    masked = ORIGINAL.assign(**{name: ORIGINAL[name].mask(gaps[:, j]) for j, name in enumerate(NUMBERS)})
    findings, _ = judge(ORIGINAL, masked)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    # Neither where the original has a few gaps of its own.
    original = ORIGINAL.assign(**{name: ORIGINAL[name].mask(ORIGINAL.index % 100 == 0) for name in NUMBERS})
    findings, _ = judge(original, masked)
    assert findings["prediction_distance"].verdict is Verdict.FAIL


def test_missing_values_on_both_sides():
    def gaps(frame, seed):
        holes = np.random.default_rng(seed).random((2000, 2)) < 0.2
        return frame.assign(x0=frame["x0"].mask(holes[:, 0]), sex=frame["sex"].mask(holes[:, 1]))

    assert decide(judge(gaps(ORIGINAL, 1), gaps(SAFE, 2))[0].values()) is Verdict.PASS
    original = gaps(ORIGINAL, 1)
    findings, _ = judge(original, original)
    assert findings["prediction_distance"].observed == 1
    assert findings["exact_copies"].observed == 1


def test_only_some_records_are_attacked_and_copies_are_counted_over_all():
    findings, _ = judge(ORIGINAL, planted(0.04), records=500)
    assert (findings["prediction_distance"].attempted, findings["prediction_distance"].completed) == (2000, 500)
    assert (findings["exact_copies"].attempted, findings["exact_copies"].completed) == (2000, 2000)
    assert findings["exact_copies"].observed == pytest.approx(0.04)


def test_a_count_of_few_people_is_not_told():
    findings, curves = judge(ORIGINAL, planted(0.002), cell=10)  # 4 people
    assert findings["exact_copies"].observed is None
    assert findings["exact_copies"].says.startswith("Fewer than 10 of the people")
    for curve in curves.values():
        counts = np.diff(np.round(np.array([0, *curve.masked, 1]) * 2000))
        assert ((counts == 0) | (counts >= 10)).all()


def test_variables_that_nobody_can_compare():
    released = VARIABLES | {"remark": Variable(name="remark", kind="text")}
    findings, _ = judge(ORIGINAL, SAFE.assign(remark="x"), released=released)
    assert findings["comparable_values"].verdict is Verdict.REVIEW
    assert "remark" in findings["comparable_values"].says
    only = {"remark": Variable(name="remark", kind="text")}
    findings, _ = judge(ORIGINAL, SAFE.assign(remark="x"), released=only)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN


def test_a_file_too_large_to_check_is_unknown(monkeypatch):
    monkeypatch.setattr("policies.standard.judgement._MOST_COORDINATES", 1000)
    findings, curves = judge(ORIGINAL, SAFE)
    assert findings["comparable_values"].verdict is Verdict.UNKNOWN
    assert decide(findings.values()) is Verdict.UNKNOWN
    assert curves == {}


def test_weights_change_what_counts():
    # Only x0 is copied. Weighted alone, its verbatim values are as near as in the reference's plenty or nearer.
    masked = SAFE.assign(x0=ORIGINAL["x0"])
    others = dict.fromkeys([name for name in VARIABLES if name != "x0"], 0.0)
    assert judge(ORIGINAL, masked)[0]["exact_copies"].verdict is Verdict.PASS
    assert judge(ORIGINAL, masked, weights=others)[0]["exact_copies"].verdict is Verdict.FAIL
    with pytest.raises(DocumentError, match="weights: the data have no variable 'x99'"):
        judge(ORIGINAL, SAFE, weights={"x99": 2.0})


def test_binding_decides_which_measures_count():
    findings, _ = judge(ORIGINAL, SAFE, binding=("distance",))
    assert [findings[f"prediction_{m}"].binding for m in ("distance", "ambiguity", "uncertainty")] == [
        True,
        False,
        False,
    ]


AMOUNTS = {f"amount{j}": Variable(name=f"amount{j}", kind="continuous") for j in range(8)}


def amounts(n, seed):
    """Eight amounts that rise together, with a few very large ones."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 2)) @ np.random.default_rng(1).normal(size=(2, 8))
    return pd.DataFrame(np.exp(1.4 * common + 0.8 * rng.normal(size=(n, 8))), columns=list(AMOUNTS))


@pytest.mark.parametrize("reference", [{}, HOLDOUT], ids=["leave one out", "holdout"])
def test_noise_that_hides_the_many_and_not_the_isolated_fails(reference):
    original, held = amounts(4000, 1), amounts(4000, 2)
    noise = np.random.default_rng(3).normal(size=original.shape) * original.std().to_numpy() * 0.3
    findings, _ = judge(original, original + noise, holdout=held, variables=AMOUNTS, **reference)
    assert verdicts(findings) == {"isolated_records": Verdict.FAIL}  # all else lets the file through
    assert findings["isolated_records"].completed == 100
    assert findings["isolated_records"].observed > 0.3
    findings, _ = judge(original, amounts(4000, 4), holdout=held, variables=AMOUNTS, **reference)
    assert findings["isolated_records"].verdict is Verdict.PASS


def test_few_isolated_people_are_not_counted_aloud():
    original = amounts(4000, 1)
    noise = np.random.default_rng(3).normal(size=original.shape) * original.std().to_numpy() * 0.3
    findings, _ = judge(original, original + noise, variables=AMOUNTS, cell=90)
    assert findings["isolated_records"].observed is None
    assert "fewer than 90 have" in findings["isolated_records"].says


def test_nobody_stands_apart_where_all_have_twins():
    twins = pd.concat([SAFE.iloc[:20]] * 100, ignore_index=True)
    findings, _ = judge(twins, twins)
    assert findings["isolated_records"].says == "No person stands apart from all others."


# -- subgroups


def with_region(frame, minority=0.04):
    """The same people with the region they live in: a small share of them in the north."""
    north = np.arange(len(frame)) < minority * len(frame)
    return frame.assign(region=pd.Categorical(np.where(north, "north", "south"), categories=["north", "south"]))


REGION = VARIABLES | {"region": Variable(name="region", kind="binary", categories=("north", "south"))}
MANY = with_region(people(5000, 21))
NORTH = {"subgroups": ("region",), "subgroup_records": 150}


def perturbed_minority():
    """Other people in the south; in the north the same ones, with noise that leaves them nearer than strangers."""
    masked, north = with_region(people(5000, 22)), MANY["region"] == "north"
    noise = np.random.default_rng(23).normal(size=(5000, 8)) * 0.28
    for j, name in enumerate(NUMBERS):
        masked.loc[north, name] = MANY.loc[north, name] + noise[north, j]
    masked.loc[north, "age"] = MANY.loc[north, "age"]
    return masked


def test_a_file_that_is_safe_on_average_and_not_for_a_minority_fails():
    masked = perturbed_minority()
    assert verdicts(judge(MANY, masked, variables=REGION)[0]) == {}
    findings, _ = judge(MANY, masked, variables=REGION, **NORTH)
    assert verdicts(findings) == {"worst_subgroup": Verdict.FAIL}
    worst = findings["worst_subgroup"]
    assert (worst.binding, worst.scope, worst.attempted, worst.completed) == (True, "region", 2, 2)
    assert worst.says.startswith("'north' is the group by region that fares worst")
    findings, _ = judge(MANY, masked, variables=REGION, subgroups_bind=False, **NORTH)
    assert decide(findings.values()) is Verdict.PASS
    assert findings["worst_subgroup"].verdict is Verdict.FAIL


def test_other_people_pass_in_every_subgroup():
    findings, _ = judge(
        MANY, people(5000, 24).assign(region=MANY["region"]), variables=REGION, subgroups=("sex", "age")
    )
    assert decide(findings.values()) is Verdict.PASS
    assert findings["worst_subgroup"].completed == findings["worst_subgroup"].attempted == 4  # quarters by age
    assert "quarter is the group by age" in findings["worst_subgroup"].says


def test_a_category_that_only_the_data_tell_is_not_named():
    variables = REGION | {"region": Variable(name="region", kind="nominal")}
    findings, _ = judge(MANY, perturbed_minority(), variables=variables, **NORTH)
    assert findings["worst_subgroup"].says.startswith("One category is the group by region")
    findings, _ = judge(MANY, perturbed_minority(), variables=REGION, cell=300, **NORTH)
    assert "north" not in findings["worst_subgroup"].says


def test_subgroups_that_cannot_be_judged_are_unknown():
    findings, _ = judge(
        MANY, SAFE.assign(region="south"), variables=REGION, subgroups=("region",), subgroup_records=4900
    )
    assert findings["worst_subgroup"].verdict is Verdict.UNKNOWN
    assert "No group by region has the 4,900 records" in findings["worst_subgroup"].says
    findings, _ = judge(MANY, with_region(people(5000, 25)), variables=REGION, records=2000, **NORTH)
    assert findings["worst_subgroup"].verdict is Verdict.UNKNOWN  # 200 live in the north, 80 of them were attacked


def test_people_without_a_value_are_a_subgroup():
    north = MANY["region"] == "north"
    original = MANY.assign(region=MANY["region"].mask(north))
    findings, _ = judge(original, perturbed_minority().assign(region=original["region"]), variables=REGION, **NORTH)
    assert findings["worst_subgroup"].verdict is Verdict.FAIL
    assert findings["worst_subgroup"].says.startswith("Those without a value")


@pytest.mark.parametrize(("name", "says"), [("regon", "no variable 'regon'.*region"), ("remark", "is a text")])
def test_subgroups_by_what_makes_no_groups(name, says):
    variables = REGION | {"remark": Variable(name="remark", kind="text")}
    original = MANY.assign(remark="x")
    with pytest.raises(DocumentError, match=says):
        judge(original, original, variables=variables, subgroups=(name,))


# -- reidentification


def reidentified(masked, seed=0, variables=VARIABLES, cell=10, **setting):
    rng = np.random.default_rng(seed)
    standard = ReferenceStandard(**setting)
    files = OriginalAndMasked(ORIGINAL, ORIGINAL, masked, None, variables, variables, rng, minimum_cell=cell)
    return judge_reidentification(standard, files)


def test_reidentification_is_reported_and_binds_where_the_policy_says_so():
    rng = np.random.default_rng(4)
    noisy = ORIGINAL.assign(**{name: ORIGINAL[name] + rng.normal(size=2000) * 0.5 for name in NUMBERS})
    finding = reidentified(noisy)
    assert (finding.verdict, finding.binding, finding.completed) == (Verdict.PASS, False, 2000)
    assert finding.observed > 0.3
    assert "can tell which of these matches are correct" in finding.says
    assert reidentified(noisy, reidentified_share=0.1).verdict is Verdict.FAIL
    near = reidentified(noisy, reidentified_share=round(finding.observed, 2), records=500)
    assert (near.verdict, near.binding, near.completed) == (Verdict.REVIEW, True, 500)
    other = reidentified(people(2000, 30), reidentified_share=0.1)
    assert (other.verdict, other.observed) == (Verdict.PASS, None)
    assert other.says.startswith("Fewer than 10 of the people")


def test_reidentification_of_what_cannot_be_matched():
    text = {"remark": Variable(name="remark", kind="text")}
    frame = ORIGINAL.assign(remark="x")[["remark"]]
    rng = np.random.default_rng(0)
    finding = judge_reidentification(ReferenceStandard(), OriginalAndMasked(frame, frame, frame, None, text, text, rng))
    assert (finding.verdict, finding.completed) == (Verdict.UNKNOWN, 0)
    with pytest.raises(DataError, match="differ in length"):
        reidentified(SAFE.iloc[:1999])


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
