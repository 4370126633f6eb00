"""Copies and near copies of single records, in a file that is safe on average.

People whom nobody resembles, and whose values came through.

People found by values that they alone have, as a finding of the reference standard.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.standard.copied_values import judge_closest, judge_lone_copies, judge_unique_values
from policies.standard.preconditions import judge_leniency
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import judge_reference_standard
from sluice.ground.errors import DataError
from sluice.ground.variables import Variable
from sluice.ground.verdict import Verdict, decide
from sluice.risk.reference.copies import count_copies, lone_copies
from tests.golden import golden
from tests.policies.standard.population_sample import ORIGINAL, RECODED, SAFE, attacked, judge, planted, recode
from tests.policies.standard.wealth_sample import paired, wealthy

FRAME, VARIABLES = wealthy()
STANDARD = ReferenceStandard()


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


@pytest.mark.parametrize(
    ("close", "verdict"), [(40, Verdict.PASS), (41, Verdict.REVIEW), (50, Verdict.REVIEW), (60, Verdict.FAIL)]
)
def test_more_close_records_than_allowed_are_for_a_person_where_it_may_be_chance(close, verdict):
    """Of 2,000 two in a hundred may be close; the released records are the people's own, in their order."""
    found, files, points = attacked(2000, close)
    finding = judge_closest(ReferenceStandard(), None, points, points, found, files)
    assert finding.verdict is verdict
    golden.words(finding.says)


def test_a_moved_verbatim_tail_is_seen():
    findings, _ = judge(ORIGINAL, planted(0.04, noise=0.15), copies_excess=0.5)  # the tail alone decides
    assert findings["closest_records"].verdict is Verdict.FAIL


@pytest.mark.chain
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


def test_few_recoded_copies_are_counted_on_the_recoded_values():
    recoded = recode(ORIGINAL)
    masked = pd.concat([recoded.iloc[:20], recode(SAFE).iloc[20:]])
    findings, _ = judge(ORIGINAL, masked, recoded=recoded, released=RECODED)
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.FAIL


def test_only_some_records_are_attacked_and_copies_are_counted_over_all():
    findings, _ = judge(ORIGINAL, planted(0.04), records=500)
    assert (findings["prediction_distance"].attempted, findings["prediction_distance"].completed) == (2000, 500)
    assert (findings["exact_copies"].attempted, findings["exact_copies"].completed) == (2000, 2000)
    assert findings["exact_copies"].observed == pytest.approx(0.04)


def test_a_count_of_few_people_is_not_given():
    findings, curves = judge(ORIGINAL, planted(0.002), cell=10)  # 4 people
    assert findings["exact_copies"].observed is None
    assert findings["exact_copies"].says.startswith("Fewer than ")
    golden(findings["exact_copies"].says)
    for curve in curves.values():
        counts = np.diff(np.round(np.array([0, *curve.masked, 1]) * 2000))
        assert ((counts == 0) | (counts >= 10)).all()


def test_a_hair_of_noise_makes_no_copy_another_record() -> None:
    frame, variables = wealthy()
    hair = frame.assign(**{name: frame[name] + 1e-6 for name in frame if name != "age"})
    findings, _ = judge_reference_standard(ReferenceStandard(), paired(frame, hair, variables))
    assert next(finding for finding in findings if finding.rule == "exact_copies").verdict is Verdict.FAIL


@pytest.mark.parametrize("hair", [0.0, 1e-3, 0.02], ids=lambda share: f"noise {share}")
def test_one_variable_blown_to_pieces_does_not_hide_that_all_others_are_verbatim(hair: float) -> None:
    frame, variables = wealthy()
    rng = np.random.default_rng(1)
    noise = {f"amount{i}": (hair if i < 3 else 100) * rng.normal(size=len(frame)) for i in range(4)}
    blown = frame.assign(**{name: frame[name] + frame[name].std() * added for name, added in noise.items()})
    finding = judge_lone_copies(ReferenceStandard(), paired(frame, blown, variables))
    assert finding.verdict is Verdict.FAIL
    assert finding.observed > (0.2 if hair else 0.95)
    golden(finding.says)


def test_records_that_lose_their_twins_do_not_make_up_for_lone_ones_that_are_verbatim() -> None:
    # 600 people in pairs, moved apart by masking, and 400 lone ones as they were: fewer copies than in the reference.
    pairs, lone = np.repeat(np.arange(300.0), 2), np.arange(1000.0, 1400.0)
    original, released = np.append(pairs, lone), np.append(np.arange(-600.0, 0), lone)
    in_reference = np.append(np.ones(600, dtype=bool), np.zeros(400, dtype=bool))
    assert count_copies(~in_reference, in_reference).excess < 0
    count, *_ = lone_copies([(np.append(pairs[:60], lone), np.append(np.arange(-60.0, 0), lone))], 460, 460)
    assert (count.found, count.excess > 0.5) == (400, True)
    # With so many pairs that the lone could as well be found by chance, nothing is held against the file.
    assert lone_copies([(original, released)], 1000, 1000)[0].excess < 0


@pytest.mark.parametrize("values", [2, 10, 30, 60, 90])
def test_other_people_of_the_same_kind_are_no_lone_copies(values: int) -> None:
    """Chance passes three standard errors in three of a thousand files with sixty values, and in none with fewer."""
    beyond = 0
    for seed in range(150):
        one, other = np.random.default_rng(seed).integers(0, values, (2, 2, 400)) ** 2
        beyond += lone_copies(zip(one, other, strict=True), 400, 400)[0].excess > 0
    assert beyond <= 1


def test_variables_that_cannot_be_compared_leave_lone_copies_unknown() -> None:
    frame, variables = wealthy(20)
    finding = judge_lone_copies(ReferenceStandard(), paired(frame[[]], frame, variables))
    assert finding.verdict is Verdict.UNKNOWN


WORKERS = {"weight": 1.0, "hours": 0.4, "gain": 0.1, "loss": 0.05}  # a share of the people differs from the rest


def workers(n: int, seed: int) -> pd.DataFrame:
    """A number of their own each, and some that are the same for most."""
    rng = np.random.default_rng(seed)
    numbers = {"weight": rng.permutation(40 * n)[:n].astype(float)}
    for name, share in list(WORKERS.items())[1:]:
        values = rng.integers(1, 60, n) * 5.0 + rng.integers(0, 40) * (numbers["weight"] > 20 * n)
        numbers[name] = np.where(rng.uniform(size=n) < share, values, 40.0)
    return pd.DataFrame(numbers)


def each_moved(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame({name: rng.permutation(frame[name].to_numpy()) for name in frame})


def on_copies(frame: pd.DataFrame, masked: pd.DataFrame) -> dict[str, Verdict]:
    """What is said of a file of these numbers, by rule."""
    variables = {name: Variable(name=name, kind="continuous") for name in frame}
    files = paired(frame, masked, variables)
    findings, _ = judge_reference_standard(STANDARD, files)
    rules = {"closest_records", "near_copies", "exact_copies"}
    told = {each.rule: each.verdict for each in findings if each.rule in rules}
    return told | {"lone_copies": judge_lone_copies(STANDARD, files).verdict}


@pytest.mark.parametrize("n", [300, 1000, 3000])
def test_a_number_of_ones_own_beside_what_most_have_is_no_copy_of_its_owner(n: int) -> None:
    frame = workers(n, n)
    masked = each_moved(frame, np.random.default_rng(1))
    together = frame.merge(masked.drop_duplicates(), how="inner")
    assert len(together) > 0.1 * n  # as they stand there: the number of one person, and what is common
    assert set(on_copies(frame, masked).values()) == {Verdict.PASS}


@pytest.mark.parametrize("moved", [False, True], ids=["own record", "anybody's record"])
@pytest.mark.parametrize(("n", "share"), [(300, 0.06), (1000, 0.03), (3000, 0.02)])
def test_real_copies_among_records_whose_numbers_were_moved(n: int, share: float, moved: bool) -> None:
    frame, rng = workers(n, n), np.random.default_rng(2)
    masked = each_moved(frame, rng)
    rows = rng.permutation(n)[: round(share * n)]
    masked.iloc[rows] = frame.iloc[rows].to_numpy()
    if moved:
        masked = masked.iloc[rng.permutation(n)].reset_index(drop=True)
    assert on_copies(frame, masked)["exact_copies"] is Verdict.FAIL
    assert on_copies(frame, masked)["lone_copies"] is Verdict.FAIL


@pytest.mark.parametrize("n", [300, 1000, 3000])
def test_real_copies_in_place_of_those_by_chance(n: int) -> None:
    # A maker who leaves a tenth of the records as they are, and sees to it that no other is a copy by chance.
    frame, rng = workers(n, n), np.random.default_rng(3)
    masked, rows = each_moved(frame, rng), rng.permutation(n)[: n // 10]
    masked.iloc[rows] = frame.iloc[rows].to_numpy()
    rest = masked.merge(frame.reset_index(), how="left")["index"].notna() & ~masked.index.isin(rows)
    masked.loc[rest, "weight"] += 0.5
    assert on_copies(frame, masked)["exact_copies"] is Verdict.FAIL


def test_a_third_of_the_records_with_hardly_any_noise() -> None:
    frame, rng = workers(1000, 5), np.random.default_rng(4)
    masked, rows = each_moved(frame, rng), rng.permutation(1000)[:300]
    masked.iloc[rows] = frame.iloc[rows].to_numpy() + 1e-3 * rng.normal(size=(300, 4))
    told = on_copies(frame, masked)
    assert (told["near_copies"], told["lone_copies"]) == (Verdict.FAIL, Verdict.FAIL)


def permuted(*kept: str) -> pd.DataFrame:
    """Every variable for itself, but those that are kept."""
    return FRAME.assign(**{
        name: FRAME[name].sample(frac=1, random_state=i).array for i, name in enumerate(FRAME) if name not in kept
    })  # fmt: skip


def test_one_variable_verbatim_fails_and_says_what_was_counted() -> None:
    finding = judge_unique_values(STANDARD, paired(FRAME, permuted("amount2"), VARIABLES))
    assert (finding.verdict, finding.scope, finding.completed) == (Verdict.FAIL, "amount2", len(FRAME))
    assert finding.observed > 0.8 > finding.limit
    golden(finding.says)


def test_values_on_other_peoples_records_pass() -> None:
    finding = judge_unique_values(STANDARD, paired(FRAME, permuted(), VARIABLES))
    assert finding.verdict is Verdict.PASS
    assert judge_unique_values(STANDARD, paired(FRAME, permuted("age"), VARIABLES)).verdict is Verdict.PASS  # two ages


def test_the_share_that_is_tolerated_is_the_policys_and_a_lenient_one_is_named() -> None:
    few = permuted()
    few.loc[:59, "amount1"] = FRAME.loc[:59, "amount1"]  # 4 % of the people
    files = paired(FRAME, few, VARIABLES)
    assert judge_unique_values(STANDARD, files).verdict is Verdict.FAIL
    lenient = ReferenceStandard(unique_values_excess=0.06)
    assert judge_unique_values(lenient, files).verdict is Verdict.PASS
    assert "unique_values_excess 0.06" in judge_leniency(lenient).says


def test_rows_in_random_order_are_judged_by_what_stands_beside_a_unique_value() -> None:
    def unpaired(masked: pd.DataFrame) -> object:
        rows = masked.sample(frac=0.8, random_state=1).reset_index(drop=True)
        return judge_unique_values(STANDARD, replace(paired(FRAME, rows, VARIABLES), paired=False))

    together = unpaired(permuted("amount0", "amount1"))
    assert together.verdict is Verdict.FAIL
    assert {"amount0", "amount1"} == set(together.scope.split(", "))
    golden.words(together.says)
    assert unpaired(permuted("amount0")).verdict is Verdict.PASS
    assert unpaired(permuted()).verdict is Verdict.PASS


def test_what_cannot_be_compared_is_unknown_or_refused() -> None:
    assert judge_unique_values(STANDARD, paired(FRAME[[]], FRAME, VARIABLES)).verdict is Verdict.UNKNOWN
    ages = {"age": VARIABLES["age"]}
    alike = replace(paired(FRAME[["age"]], FRAME[["age"]], ages), paired=False)
    assert judge_unique_values(STANDARD, alike).verdict is Verdict.PASS
    golden.refused(DataError, judge_unique_values, STANDARD, paired(FRAME, FRAME[:-1], VARIABLES))
    few = paired(FRAME, FRAME.assign(amount0=np.where(np.arange(len(FRAME)) < 5, FRAME["amount0"], -1.0)), VARIABLES)
    only = replace(
        few,
        recoded=few.recoded[["amount0"]],
        masked=few.masked[["amount0"]],
        released={"amount0": VARIABLES["amount0"]},
    )
    assert (
        judge_unique_values(STANDARD, only).observed,
        "Fewer than " in judge_unique_values(STANDARD, only).says,
    ) == (None, True)
