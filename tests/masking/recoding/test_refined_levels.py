"""Refined levels: true values at several levels, in groups that keep the models; ambiguous ones and others refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import InfeasibleError, PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind
from sluice.masking.plan import apply_plan, apply_recodings, released_variables
from sluice.masking.recoding.generalized_levels import GeneralizedLevels, level_groups
from sluice.masking.recoding.refined_levels import RefinedLevels
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import category_codes, classes_of
from sluice.risk.classes.l_diversity import distinct_values
from tests.golden import golden
from tests.masking.recoding.test_generalization import ADULT, KEYS, VARIABLES, adult, masked, people, step

MODELS = [{"model": "k_anonymity", "k": 4}, {"model": "distinct_l_diversity", "sensitive": "illness", "l": 2}]


def members(name: str, lowest: int, highest: int) -> dict[str, set[str]]:
    """The values that each released name stands for."""
    found: dict[str, set[str]] = {}
    for level in range(lowest, highest + 1):
        for leaf, group in level_groups(VARIABLES[name], level).items():
            found.setdefault(group, set()).add(leaf)
    return found


@pytest.mark.chain
@given(
    n=st.integers(10, 50),
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.1]),
    limit=st.sampled_from([0.0, 0.1, 0.5]),
    suppressed=st.sampled_from(["released", "removed"]),
)
def test_released_file_keeps_the_models_and_every_value_is_true(
    n: int, seed: int, missing: float, limit: float, suppressed: str
) -> None:
    frame = people(n, seed, missing)
    fields = {"models": MODELS, "suppression_limit": limit, "suppressed": suppressed}
    try:
        done, levels = masked(frame, step(**fields, refine=True))
    except PlanError:
        with pytest.raises(PlanError) as refused:
            masked(frame, step(**fields))
        assert isinstance(refused.value.__context__, InfeasibleError)
        return
    plain, unrefined = masked(frame, step(**fields))
    assert done.index.equals(plain.index)
    if len(done):
        classes = classes_of(done, KEYS)
        assert classes.sizes.min() >= 4
        assert distinct_values(class_values(classes, category_codes(done["illness"]))).min() >= 2
    for name in KEYS:
        held = members(name, *levels.allowed[name])
        both = zip(frame[name].astype("string").loc[done.index], done[name].astype("string"), strict=True)
        assert all(pd.isna(after) or before in held[after] for before, after in both)
        assert done[name].isna().equals(plain[name].isna())
    assert levels.found is not None
    assert levels.found.suppressed is not None
    assert unrefined.found is not None
    assert levels.found.before is not None
    assert levels.found.before == pytest.approx(unrefined.found.value)
    lost = []
    for name in KEYS:
        held = members(name, *levels.allowed[name])
        most = len(level_groups(VARIABLES[name], 0)) - 1
        widths = [(len(held[group]) - 1) / most for group in done[name].astype("string").dropna()]
        lost.append((sum(widths) + levels.found.suppressed) / n)
    assert levels.found.value == pytest.approx(np.mean(lost))
    assert [key.loss for key in levels.found.keys] == pytest.approx(lost)
    assert levels.found.value <= levels.found.before + 1e-9
    for key in levels.found.keys:
        assert sum(key.shares) == pytest.approx(1 if levels.found.suppressed < n else 0)
        assert len(key.shares) == key.level + 1


@pytest.mark.chain
@given(seed=st.integers(0, 10**6), limit=st.sampled_from([0.0, 0.1]))
def test_equal_originals_are_equal_after_it_and_the_recoding_alone_gives_the_same(seed: int, limit: float) -> None:
    frame = people(60, seed, 0.05 if limit else 0.0)
    by = step(suppression_limit=limit, refine=True)
    try:
        done, carried_out = apply_plan([by], frame, VARIABLES, np.random.SeedSequence(1))
    except PlanError:  # fewer than five would have to be suppressed
        assert limit
        return
    # Any other file: equal combinations at equal levels, whoever else is in it, and none that the first file lacked
    # gets a value that is not true.
    everybody = pd.concat([frame, people(60, seed + 1, 0.05)], ignore_index=True)
    shown = apply_recodings(carried_out, everybody, VARIABLES)
    recoded = shown.loc[frame.index]
    kept = ~done[list(KEYS)].isna().all(axis=1)
    for name in KEYS:
        assert recoded[name].dtype == done[name].dtype
        assert recoded.loc[kept, name].astype("string").equals(done.loc[kept, name].astype("string"))
    alone = apply_recodings(carried_out, everybody.iloc[[60 + seed % 60]], VARIABLES)
    for name in KEYS:
        assert alone[name].astype("string").tolist() == shown[name].iloc[[60 + seed % 60]].astype("string").tolist()
    before = classes_of(everybody, KEYS).labels
    assert pd.Series(classes_of(shown, KEYS).labels).groupby(before).nunique().eq(1).all()
    for name in KEYS:
        held = members(name, 0, 3 if name == "age" else 2 if name == "town" else 1)
        both = zip(everybody[name].astype("string"), shown[name].astype("string"), strict=True)
        assert all(pd.isna(after) if pd.isna(before) else before in held[after] for before, after in both)


def test_one_group_of_few_no_longer_costs_all_others_their_detail() -> None:
    # 5 of each age from 20 to 39, and one of 40, 41, ... 44: for all together ages are told in halves.
    ages = [age for age in range(20, 40) for _ in range(5)] + list(range(40, 45))
    frame = people(len(ages), 1).assign(age=pd.array(ages, dtype="Int64"))
    by = {"columns": ("age",), "models": [{"model": "k_anonymity", "k": 5}]}
    _, plain = masked(frame, step(**by))
    done, refined = masked(frame, step(**by, refine=True))
    assert isinstance(refined, RefinedLevels)
    assert plain.levels == refined.levels == {"age": 1}
    assert done["age"].astype(str).tolist() == [str(age) for age in ages[:100]] + ["40s"] * 5
    assert done["age"].cat.ordered
    assert refined.found is not None
    assert refined.found.keys[0].shares == pytest.approx((100 / 105, 5 / 105))
    assert refined.found.value == pytest.approx(5 / 105 * 9 / 39)
    assert refined.parameters() == {"levels": {"age": 1}, "refined": True}
    assert "finer" in refined.describe()


def test_levels_stay_within_those_allowed() -> None:
    frame = people(400, 7)
    done, found = masked(frame, step(levels={"town": 0, "age": {"from": 1, "to": 2}}, refine=True))
    assert done["town"].equals(frame["town"])
    assert set(done["age"].astype(str)) <= {"20s", "30s", "40s", "50s", "young", "old"}
    assert found.found is not None
    assert found.found.keys[0].lowest == 1


def test_same_variables_come_out_as_without() -> None:
    assert released_variables([step(refine=True)], VARIABLES) == released_variables([step()], VARIABLES)
    assert released_variables([step(refine=True)], VARIABLES)["age"].kind is Kind.ORDINAL


def test_one_name_for_different_groups_is_refused() -> None:
    towns = Hierarchy(rows={"a": ("a", "west"), "b": ("a", "west"), "c": ("c", "east"), "d": ("d", "east")})
    ambiguous = {**VARIABLES, "town": VARIABLES["town"].model_copy(update={"hierarchy": towns})}
    with golden.raises(PlanError):
        step(refine=True).released(ambiguous)
    step(refine=True, levels={"town": {"from": 1}}).released(ambiguous)
    step().released(ambiguous)


def test_adult(reference_data: Path) -> None:
    """Loss at k = 5 of the seven categorical keys, before and after: consistency with docs/generalisation.md."""
    typed, variables = adult(reference_data)
    by = step(columns=ADULT, suppression_limit=0.04, refine=True)
    done, (levels, *_) = apply_plan([by], typed, variables, np.random.SeedSequence(1))
    assert classes_of(done, ADULT).sizes.min() >= 5
    assert isinstance(levels, GeneralizedLevels)
    assert levels.found is not None
    assert (levels.found.before, levels.found.value) == pytest.approx((0.1914, 0.1041), abs=5e-5)
    assert levels.found.suppressed == done["sex"].isna().sum() <= 0.04 * len(typed)
