"""What comes back counts for the rules on groups; what merely goes together does not."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.standard.recovered_values import judge_recovered_values, judge_steered_masking
from sluice.ground.rule import DisclosureRule
from sluice.ground.variables import Harmless, Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.classes.l_diversity import LDiversity
from sluice.risk.classes.sample_uniques import SampleUniquesShare
from sluice.risk.classes.t_closeness import TCloseness
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.red_team.cases.drawn_together import replicate_weights
from tests.red_team.cases.steered_blanks import blank_for_the_ill, examined
from tests.red_team.files import files_of, masked_by, with_roles
from tests.reference_data import reference_path
from tests.typed_frame import typed_frame

N = 900
K, L, ALONE = KAnonymity(k=5), LDiversity(l=2), SampleUniquesShare(at_most=0.0)


def people(areas: int = 30, hint: str = "weight", rare: int = 0) -> Comparison:
    """Area is removed; sex stays; the hint is a weight of the area, a number in no order, or nothing. So many people
    have no sex given."""
    rng = np.random.default_rng(3)
    area = rng.integers(0, areas, N)
    sex = np.append(rng.choice(["f", "m"], N - rare), np.full(rare, "x"))
    hints = {"weight": 10.0 + area, "noise": rng.normal(size=N), "mixed": rng.permutation(areas)[area] + 0.0}
    frame = pd.DataFrame({
        "area": pd.Categorical([f"area {code}" for code in area]),
        "sex": pd.Categorical(sex),
        "hint": hints[hint],
        "ill": pd.Categorical(np.where(area % 2 == 0, "yes", "no")),
    })  # fmt: skip
    roles = {"area": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER, "hint": Role.OTHER, "ill": Role.SENSITIVE}
    variables = {
        name: Variable(name=name, role=role, kind=Kind.CONTINUOUS)
        if name == "hint"
        else Variable(name=name, role=role, kind=Kind.NOMINAL, categories=tuple(frame[name].cat.categories))
        for name, role in roles.items()
    }
    masked = frame.drop(columns="area")
    released = {name: variable for name, variable in variables.items() if name != "area"}
    return files_of(frame, masked, variables, released, masked)


def judged(rules: Sequence[DisclosureRule], files: Comparison) -> Finding:
    (found,) = judge_recovered_values(rules, files)
    return found


@pytest.mark.parametrize(
    ("rules", "code", "verdict"),
    [
        ([KAnonymity(k=30)], "recovered_values.too_few", Verdict.FAIL),
        ([L], "recovered_values.too_alike", Verdict.FAIL),
        ([KAnonymity(k=2)], "recovered_values.kept", Verdict.PASS),
        ([ALONE], "recovered_values.kept", Verdict.PASS),
        ([KAnonymity(k=5, columns=("sex",))], "recovered_values.kept", Verdict.PASS),
        ([], "recovered_values.no_groups", Verdict.REVIEW),
    ],
)
def test_a_weight_that_gives_the_area_back(rules: list[DisclosureRule], code: str, verdict: Verdict) -> None:
    found = judged(rules, people())
    assert (found.code, found.verdict, found.scope) == (code, verdict, "area")
    assert found.data["by"] == ("hint",)
    golden(found)


def test_a_code_that_the_contract_calls_a_text_comes_back() -> None:
    files = people()
    area = files.variables["area"].model_copy(update={"kind": Kind.TEXT, "categories": None})
    as_text = replace(
        files, original=files.original.astype({"area": "str"}), variables={**files.variables, "area": area}
    )
    found = judged([KAnonymity(k=30)], as_text)
    assert (found.code, found.scope) == ("recovered_values.too_few", "area")
    own = as_text.original.assign(area=[f"lives in house {number}" for number in range(N)])
    assert judged([KAnonymity(k=30)], replace(as_text, original=own)).verdict is Verdict.PASS


@pytest.mark.parametrize(("ill_of_rare", "verdict"), [(19, Verdict.FAIL), (4, Verdict.PASS)])
def test_a_removed_illness_that_digits_tell_is_judged_as_if_released(ill_of_rare: int, verdict: Verdict) -> None:
    """Twenty are of a rare sex, and nearly all of them are ill, as one in ten is; the amounts of the ill are odd."""
    files = people(rare=20)
    ill = np.random.default_rng(1).random(N) < 0.1
    ill[N - 20 :] = np.arange(20) < ill_of_rare
    amount = 2.0 * np.random.default_rng(2).integers(0, 900, N) + ill
    frame = files.original.assign(ill=pd.Categorical(np.where(ill, "yes", "no")), hint=amount).drop(columns="area")
    variables = {name: files.variables[name] for name in ("sex", "hint", "ill")}
    masked, released = frame.drop(columns="ill"), {name: variables[name] for name in ("sex", "hint")}
    odd = masked["hint"] % 2 == 1
    assert (odd == ill).all()
    found = judged([KAnonymity(k=5), L, TCloseness(t=0.6)], files_of(frame, masked, variables, released, masked))
    assert (found.verdict, found.scope) == (verdict, "ill")
    assert found.code == ("recovered_values.too_alike" if verdict is Verdict.FAIL else "recovered_values.kept")


def test_nothing_comes_back() -> None:
    found = judged([K, L, ALONE], people(hint="noise"))
    assert (found.code, found.verdict) == ("recovered_values.nothing", Verdict.PASS)
    golden(found)


def test_a_file_that_breaks_the_rule_as_it_is_breaks_it_no_more() -> None:
    assert judged([KAnonymity(k=N)], people()).verdict is Verdict.PASS


def test_alone_with_what_came_back() -> None:
    mixed = judged([ALONE], people(areas=400, hint="mixed"))
    assert mixed.verdict is Verdict.PASS  # nobody can learn what goes with so few
    assert judged([ALONE], people(areas=400)).verdict is Verdict.FAIL  # but by a sum
    found = judged([ALONE], people(rare=20))
    assert (found.code, found.verdict) == ("recovered_values.too_many_alone", Verdict.FAIL)
    golden(found)


_KEYS = ["sex", "age", "school"]
_GONE = {"method": "removal", "columns": ["diabetes"]}
_SUPPRESSED = {"method": "local_suppression", "columns": _KEYS, "k": 60}


@pytest.mark.parametrize(
    ("rules", "others", "code", "verdict"),
    [
        ([K, L], 0.03, "recovered_values.steered", Verdict.FAIL),
        ([K, L], 0.13, "recovered_values.steered_open", Verdict.REVIEW),
        ([K], 0.0, "recovered_values.steered_unruled", Verdict.REVIEW),
        ([LDiversity(l=2, columns=("cholesterol",))], 0.0, "recovered_values.steered_unruled", Verdict.REVIEW),
    ],
)
def test_blanks_of_those_with_a_removed_value(
    rules: list[DisclosureRule], others: float, code: str, verdict: Verdict
) -> None:
    found = judged(rules, blank_for_the_ill("school", others))
    assert (found.code, found.verdict, found.scope) == (code, verdict, "diabetes")
    assert found.data["by"] == ("school",)
    golden(found)


def test_a_harmless_value_may_be_told() -> None:
    files = blank_for_the_ill("school")
    told = files.variables["diabetes"].model_copy(update={"harmless": Harmless(values=("yes",), why="All know it.")})
    assert not judge_steered_masking([K, L], replace(files, variables={**files.variables, "diabetes": told}))


@pytest.mark.parametrize(
    "plan",
    [
        [_GONE, _SUPPRESSED],
        [_GONE, _SUPPRESSED | {"missing_matches": "any"}],
        [_SUPPRESSED],  # released as it is: nothing is hidden
        [_SUPPRESSED, {"method": "permutation", "columns": ["diabetes"]}],
        [_GONE, {"method": "pram", "columns": ["school"], "retention": 0.8}],
        [_GONE, {
            "method": "generalization", "columns": _KEYS, "suppression_limit": 0.3,
            "models": [{"model": "k_anonymity", "k": 200}],
        }],
    ],
)  # fmt: skip
def test_masking_that_looks_at_keys_alone_tells_no_more_than_they_do(plan: list[dict[str, object]]) -> None:
    assert not judge_steered_masking([K, L], masked_by(examined(), plan))


def test_who_was_drawn_together_is_told_by_the_ratios_of_replicate_weights() -> None:
    found = judged([KAnonymity(k=3)], replicate_weights())
    assert (found.code, found.verdict) == ("recovered_values.drawn_together", Verdict.REVIEW)
    assert found.data["by"][:2] == ("weight", "r0")
    golden(found)
    assert judged([L], replicate_weights()).verdict is Verdict.PASS  # no rule asks how many share their keys


_CENSUS = {1: "work", 4: "school", 12: "sex", 21: "lived in", 28: "moved"}


def records_of_others(seed: int, work: str | None = None) -> Comparison:
    """3,000 people of a census survey, each of whom gets another one's record, without whether they moved. Most lived
    in no other state a year ago, and few in each. The work of all who moved may be given as one class."""
    raw = pd.read_csv(
        reference_path("kdd_census_income", "census_income_1994_1995_test.csv.gz"), usecols=[*_CENSUS], names=range(42),
        skipinitialspace=True, dtype=str, nrows=3_000,
    ).rename(columns=_CENSUS)  # fmt: skip
    moved = raw["moved"] == "No"  # asked is whether they lived in this house
    data = typed_frame(raw.assign(moved=np.where(moved, "yes", "no")))
    roles = {"school": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER, "moved": Role.SENSITIVE}
    frame, variables = with_roles(data, roles)
    masked = frame.iloc[np.random.default_rng(seed).permutation(len(frame))].reset_index(drop=True)
    if work:
        masked["work"] = masked["work"].where(~moved, work)
    released = {name: variables[name] for name in masked if name != "moved"}
    return files_of(frame, masked.drop(columns="moved"), variables, released, frame)


@pytest.mark.parametrize("seed", range(3))
def test_the_records_of_others_tell_nothing_by_how_rare_an_original_value_was(seed: int) -> None:
    """Whose state is alone got another one of necessity, and nobody sees who they are."""
    assert not judge_steered_masking([K, L], records_of_others(seed))


def test_a_class_of_work_that_all_who_moved_are_given_tells_them() -> None:
    (found,) = judge_steered_masking([K, L], records_of_others(1, "Without pay"))
    assert (found.code, found.scope, found.data["by"]) == ("recovered_values.steered", "moved", ("work",))


def ranked(among: str, ages: int = 12) -> Comparison:
    """Age is removed, and its rank within sex stays; the ill are of any age, or all of the youngest."""
    rng = np.random.default_rng(4)
    files = people(rare=20)
    age = np.append(rng.integers(0, ages, N - 20), rng.integers(0, 3, 20)) * 5.0
    ill = rng.random(N) < 0.4 if among == "all" else age == 0
    frame = files.original.drop(columns="area").assign(age=age, ill=pd.Categorical(np.where(ill, "yes", "no")))
    frame["hint"] = pd.Series(age + rng.random(N) / 100).groupby(frame["sex"], observed=True).rank()
    variables = {name: files.variables[name] for name in ("sex", "hint", "ill")}
    released = dict(variables)
    variables["age"] = Variable(name="age", role=Role.QUASI_IDENTIFIER, kind=Kind.CONTINUOUS)
    masked = frame.drop(columns="age")
    return files_of(frame, masked, variables, released, masked)


@pytest.mark.parametrize(
    ("rule", "among", "code", "verdict"),
    [
        (KAnonymity(k=15), "all", "recovered_values.too_few", Verdict.FAIL),
        (KAnonymity(k=2), "all", "recovered_values.kept", Verdict.PASS),
        (ALONE, "all", "recovered_values.kept", Verdict.PASS),
        (L, "youngest", "recovered_values.too_alike", Verdict.FAIL),
        (L, "all", "recovered_values.kept", Verdict.PASS),
    ],
)
def test_a_rank_within_sex_gives_the_age_back(rule: DisclosureRule, among: str, code: str, verdict: Verdict) -> None:
    """Who stands between two ages may be of either, and of no other: that is the crowd in which they stand."""
    found = judged([rule], ranked(among))
    assert (found.code, found.verdict, found.scope) == (code, verdict, "age")
    assert found.data["by"][0] == "hint"
    if code.endswith("too_few"):
        assert 0 < found.data["below"] <= 20  # of the rare sex alone
        golden(found)
