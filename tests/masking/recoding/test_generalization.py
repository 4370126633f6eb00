"""Generalization by search: levels that satisfy the models on the released file, proven best, told and refused."""

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.contract import load_contract
from sluice.documents.document_reading import named_file
from sluice.ground.errors import InfeasibleError, PlanError, SluiceError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.rule import Background
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.ground.verdict import Verdict
from sluice.masking.plan import apply_plan, apply_recodings, released_variables
from sluice.masking.recoding.generalization import Generalization
from sluice.masking.recoding.generalized_levels import GeneralizedLevels
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity
from sluice.risk.population.delta_presence import DeltaPresence
from sluice.risk.population.k_map import KMap
from sluice.risk.population.population_uniques import population_uniques
from sluice.risk.population.reidentification_risk import ReidentificationRisk
from tests.golden import golden

AGES = Hierarchy(rows={str(age): (f"{age // 10}0s", "young" if age < 40 else "old") for age in range(20, 60)})
TOWNS = Hierarchy(rows={"a": ("north",), "b": ("north",), "c": ("south",), "d": ("south",)})
VARIABLES = {
    v.name: v
    for v in (
        Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER, hierarchy=AGES, minimum=20, maximum=59),
        Variable(name="town", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=tuple("abcd"), hierarchy=TOWNS),
        Variable(name="sex", kind=Kind.BINARY, role=Role.QUASI_IDENTIFIER, categories=("f", "m")),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=("flu", "gout", "none")),
    )
}
KEYS = ("age", "town", "sex")


def people(n: int, seed: int, missing: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": pd.array(rng.integers(20, 60, n), dtype="Int64")})
    for name in ("town", "sex", "illness"):
        categories = list(VARIABLES[name].categories or ())
        frame[name] = pd.Categorical(rng.choice(categories, n), categories=categories)
    for name in KEYS:
        frame.loc[rng.random(n) < missing, name] = None
    return frame


def alone_of_her_sex() -> pd.DataFrame:
    return people(200, 11).assign(sex=pd.Categorical(["f"] + ["m"] * 199, categories=["f", "m"]))


def shown_at(frame: pd.DataFrame, levels: Mapping[str, int]) -> pd.DataFrame:
    """The keys of a file at these levels."""
    return pd.DataFrame(
        {name: released_levels(frame, name, at) if at else frame[name].astype(str) for name, at in levels.items()}
    )


AMOUNTS = {"benefit": 100, "penalty": 300, "gain": 300, "cost": 100}


def step(**fields: object) -> Generalization:
    return Generalization.model_validate({"columns": KEYS, "models": [{"model": "k_anonymity", "k": 5}]} | fields)


def masked(frame: pd.DataFrame, by: Generalization) -> tuple[pd.DataFrame, GeneralizedLevels]:
    done, carried_out = apply_plan([by], frame, VARIABLES, np.random.SeedSequence(1))
    levels = carried_out[0]
    assert isinstance(levels, GeneralizedLevels)
    return done, levels


@pytest.mark.chain
@given(
    n=st.integers(10, 40),
    seed=st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.1]),
    limit=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    suppressed=st.sampled_from(["released", "removed"]),
)
def test_released_file_satisfies_the_models(n: int, seed: int, missing: float, limit: float, suppressed: str) -> None:
    frame = people(n, seed, missing)
    models = [{"model": "k_anonymity", "k": 4}, {"model": "distinct_l_diversity", "sensitive": "illness", "l": 2}]
    by = step(models=models, suppression_limit=limit, suppressed=suppressed)
    try:
        done, levels = masked(frame, by)
    except PlanError:  # the least that can be had is one group, in which every key is missing or at its top
        with pytest.raises(PlanError) as refused:
            masked(frame, by)
        assert isinstance(refused.value.__context__, InfeasibleError)
        return
    classes = classes_of(done, KEYS)
    assert len(done) == 0 or classes.sizes.min() >= 4
    assert pd.Series(done["illness"].astype(str).to_numpy()).groupby(classes.labels).nunique().min() >= 2
    gone = n - len(done) if suppressed == "removed" else int((done[list(KEYS)].isna().all(axis=1)).sum())
    assert levels.found is not None
    assert levels.found.suppressed is not None
    lost_at_source = int(frame[list(KEYS)].isna().all(axis=1).sum())
    assert levels.found.suppressed <= gone <= levels.found.suppressed + lost_at_source
    assert levels.found.suppressed <= limit * n
    # What is kept is true: the group that holds the value.
    for name, level in levels.levels.items():
        kept = done[name].dropna()
        if level and len(kept):
            true = released_levels(frame, name, level).loc[kept.index]
            assert (kept.astype(str) == true).all()


def released_levels(frame: pd.DataFrame, name: str, level: int) -> pd.Series:
    hierarchy = VARIABLES[name].hierarchy
    if hierarchy is None or level > hierarchy.depth:
        return pd.Series("*", index=frame.index)
    return frame[name].astype("string").map(hierarchy.at_level(level)).astype(str)


def test_no_other_levels_lose_less() -> None:
    frame = people(300, 3)
    _, found = masked(frame, step())
    best = []
    for levels in product(range(4), range(3), range(2)):  # age and town have a level that tells nothing on top
        shown = shown_at(frame, dict(zip(KEYS, levels, strict=True)))
        if shown.groupby(list(KEYS)).size().min() >= 5:
            lost = [0, 9 / 39, 19 / 39, 1][levels[0]] + [0, 1 / 3, 1][levels[1]] + levels[2]
            best.append((lost / 3, levels))
    assert found.found is not None
    assert found.found.value == pytest.approx(min(best)[0])
    assert tuple(found.levels.values()) == min(best)[1]
    assert found.found.excess == 0


def test_original_on_the_released_categories_is_the_released_file_but_for_what_was_suppressed() -> None:
    frame = people(200, 5, 0.05)
    done, carried_out = apply_plan([step(suppression_limit=0.1)], frame, VARIABLES, np.random.SeedSequence(1))
    recoded = apply_recodings(carried_out, frame, VARIABLES)
    kept = ~done[list(KEYS)].isna().all(axis=1)
    for name in KEYS:
        assert recoded[name].dtype == done[name].dtype
        assert recoded.loc[kept, name].astype("string").equals(done.loc[kept, name].astype("string"))


def test_released_categories_are_known_without_the_data() -> None:
    released = released_variables([step()], VARIABLES)
    assert released["age"].kind is Kind.ORDINAL
    assert {"20", "20s", "young", "*"} <= set(released["age"].categories or ())
    assert "*" not in (released_variables([step(levels={"age": {"to": 2}})], VARIABLES)["age"].categories or ())
    assert released["town"].kind is Kind.NOMINAL
    assert released_variables([step(levels={"age": 0})], VARIABLES)["age"] == VARIABLES["age"]


def test_levels_are_bounded_and_fixed() -> None:
    frame = people(400, 7)
    _, found = masked(frame, step(levels={"town": 0, "age": {"from": 1, "to": 2}}))
    assert found.levels["town"] == 0
    assert found.levels["age"] in (1, 2)
    assert found.parameters() == {"levels": found.levels}


def test_who_would_be_the_only_suppressed_record_is_not_hidden_by_that() -> None:
    fixed = {"levels": {"sex": 0, "age": 3, "town": 2}, "suppression_limit": 0.5}
    with golden.raises(PlanError):
        masked(alone_of_her_sex(), step(**fixed))
    removed, _ = masked(alone_of_her_sex(), step(**fixed, suppressed="removed"))
    assert len(removed) == 199


def test_without_company_for_the_suppressed_nothing_is_suppressed() -> None:
    done, found = masked(alone_of_her_sex(), step(levels={"age": 3, "town": 2}, suppression_limit=0.01))
    assert found.levels["sex"] == 1
    assert found.found is not None
    assert found.found.suppressed == 0
    assert classes_of(done, KEYS).sizes.min() == 200


def test_account_says_why_no_finer() -> None:
    frame = people(300, 3)
    _, found = masked(frame, step())
    assert found.found is not None
    by_name = {key.name: key for key in found.found.keys}
    for key in by_name.values():
        assert (key.finer is None) == (key.level == 0)
        if key.finer is None:
            continue
        assert key.finer.breaks == ("k-anonymity with k = 5",)
        sizes = shown_at(frame, {**found.levels, key.name: key.level - 1}).groupby(list(KEYS)).size()
        assert key.finer.records == sizes[sizes < 5].sum()
        assert sizes[tuple(key.finer.group.values())] == key.finer.group_records == sizes[sizes < 5].max()
    reported = found.found.reported(10)
    assert all(key.finer is None or not key.finer.group for key in reported.keys)


def test_what_cannot_be_had_is_an_error_that_names_it() -> None:
    with golden.raises(PlanError):
        masked(people(100, 1), step(models=[{"model": "k_anonymity", "k": 500}]))
    rare = people(100, 1)
    rare.loc[rare.index[:2], KEYS[0]] = None
    with golden.raises(PlanError):
        masked(rare, step(models=[{"model": "k_anonymity", "k": 3}]))
    one = people(100, 1).assign(illness=pd.Categorical(["flu"] * 100, categories=["flu", "gout", "none"]))
    with golden.raises(PlanError):
        masked(one, step(models=[{"model": "distinct_l_diversity", "sensitive": "illness", "l": 2}]))


def test_value_outside_the_hierarchy_is_counted_and_not_shown() -> None:
    frame = people(50, 1)
    frame.loc[3, "age"] = 99
    with golden.raises(PlanError) as raised:
        masked(frame, step())
    assert "99" not in str(raised.value)


def test_models_and_objective_are_written_as_they_were_read() -> None:
    written = step(objective={"objective": "loss", "aggregate": "maximum"}).model_dump(mode="json")
    assert written["models"] == [{"model": "k_anonymity", "k": 5}]
    assert written["objective"] == {"objective": "loss", "aggregate": "maximum"}
    assert Generalization.model_validate(written) == step(objective={"objective": "loss", "aggregate": "maximum"})
    assert (
        step(models=[KAnonymityModel(3), DistinctLDiversity("illness", 2)]).models[1].describe().startswith("distinct")
    )


class Asked:
    """The rules of some policy."""

    def models(self, variables: object) -> tuple[KAnonymityModel]:
        return (KAnonymityModel(7),)

    def without_model(self, variables: object) -> tuple[str, ...]:
        return ("suda",)


def test_under_a_policy_its_rules_hold_and_all_quasi_identifiers_are_looked_at() -> None:
    frame = people(300, 2)
    by = step(under="policy", models=[]).under_policy(Asked())
    done, found = masked(frame, by)
    assert classes_of(done, KEYS).sizes.min() >= 7
    assert found.found is not None
    assert found.found.unsearched == ("suda",)
    with golden.raises(PlanError):
        step(columns=("age", "town"), under="policy", models=[]).under_policy(Asked()).released(VARIABLES)


def test_a_bounded_effort_takes_the_best_until_then_and_does_not_call_it_best() -> None:
    frame = people(300, 2)
    _, little = masked(frame, step(effort=1))
    _, best = masked(frame, step())
    assert little.found is not None
    assert best.found is not None
    assert best.found.value < little.found.value
    assert (little.found.excess, best.found.excess) == (None, 0)


def adult(reference_data: Path, *sensitive: str) -> tuple[pd.DataFrame, Variables]:
    """The seven categorical keys of Adult, and these sensitive variables."""
    contract = load_contract(Path(__file__).parents[3] / "schemas" / "adult.yaml")
    frame = pd.read_csv(
        reference_data / "adult" / "adult.data.gz", header=None, names=list(contract.by_name), skipinitialspace=True,
        na_values="?",
    )  # fmt: skip
    variables = {name: contract.by_name[name] for name in (*ADULT, *sensitive)}
    typed = {name: pd.Categorical(frame[name], categories=list(v.categories or ())) for name, v in variables.items()}
    return pd.DataFrame(typed), variables


ADULT = ("workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")


def test_adult(reference_data: Path) -> None:
    typed, variables = adult(reference_data, "income")
    models = [{"model": "k_anonymity", "k": 5}, {"model": "distinct_l_diversity", "sensitive": "income", "l": 2}]
    by = step(columns=ADULT, models=models, suppression_limit=0.04)
    done, _ = apply_plan([by], typed, variables, np.random.SeedSequence(1))
    classes = classes_of(done, ADULT)
    assert classes.sizes.min() >= 5
    assert done["income"].astype(str).groupby(classes.labels).nunique().min() == 2
    assert done["sex"].isna().mean() <= 0.04


@pytest.mark.parametrize(
    ("model", "holds"),
    [
        ({"model": "highest_risk", "most": 0.25}, lambda sizes: sizes.min() >= 4),
        ({"model": "average_risk", "most": 0.1}, lambda sizes: len(sizes) / sizes.sum() <= 0.1),
        ({"model": "sample_uniques", "most": 0.02}, lambda sizes: (sizes == 1).sum() <= 0.02 * sizes.sum()),
        ({"model": "no_attack", "amounts": AMOUNTS}, lambda sizes: sizes.min() >= 3),
        ({"model": "estimated_k_map", "k": 10, "population": 1000}, lambda sizes: sizes.min() >= 6),
        (
            {"model": "population_uniques", "most": 0.01, "population": 5000},
            lambda sizes: population_uniques(sizes, 5000)[0].value <= 0.01,
        ),
    ],
)
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_models_of_risk_and_population_hold_for_the_released_file(model: dict, holds: Callable, limit: float) -> None:
    frame = people(200, 8)
    assert not holds(classes_of(frame, KEYS).sizes)
    done, _ = masked(frame, step(models=[model], suppression_limit=limit))
    assert holds(classes_of(done, KEYS).sizes)


RULES_ON_A_LIST = {
    "k_map": ({"k": 12}, lambda path: KMap(k=12, population=path)),
    "delta_presence": ({"highest": 0.2}, lambda path: DeltaPresence(at_most=0.2, population=path)),
    "highest_risk": (
        {"most": 0.1, "intruder": "journalist"},
        lambda path: ReidentificationRisk(model="journalist", highest_at_most=0.1, population=path),
    ),
    "average_risk": (
        {"most": 0.04, "intruder": "journalist"},
        lambda path: ReidentificationRisk(model="marketer", average_at_most=0.04, population=path),
    ),
}


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("missing", "limit"), [(0.0, 0.0), (0.0, 0.1), (0.02, 0.2)])
@pytest.mark.parametrize("name", RULES_ON_A_LIST)
def test_models_on_a_list_hold_by_the_rules_of_their_names_and_not_one_level_finer(
    name: str, missing: float, limit: float, counted: bool, tmp_path: Path
) -> None:
    everybody = people(1_500, 21, missing)
    frame = everybody.sample(150, random_state=2).reset_index(drop=True)
    fields, rule = RULES_ON_A_LIST[name]
    given, released = tmp_path / "people.csv", tmp_path / "released.csv"
    rows = everybody[[*KEYS]].astype(object)
    (rows.groupby([*KEYS], dropna=False).size().rename("count").reset_index() if counted else rows).to_csv(
        given, index=False
    )
    by = step(models=[{"model": name, **fields}], population=str(given), suppression_limit=limit, suppressed="removed")
    done, found = masked(frame, by.reading(named_file))

    def verdict(levels: Mapping[str, int]) -> Verdict:
        recoded = GeneralizedLevels(columns=KEYS, levels=dict(levels), allowed=found.allowed)
        after = recoded.released(VARIABLES)
        rng = np.random.default_rng(0)
        recoded.mask(everybody, VARIABLES, rng)[[*KEYS]].to_csv(released, index=False)
        judged = done if levels == found.levels else recoded.mask(frame, VARIABLES, rng)
        (finding,) = rule(str(released)).find(judged, after, "masked", background=Background(file_of=named_file))
        return finding.verdict

    assert verdict(found.levels) is Verdict.PASS
    finer = [key for key, level in found.levels.items() if level]
    assert finer, "the file as it is does not pass"
    for key in finer if not limit else ():
        assert verdict(found.levels | {key: found.levels[key] - 1}) is Verdict.FAIL


@pytest.mark.parametrize(
    "fields",
    [
        {"models": [{"model": "k_map", "k": 3}]},
        {"objective": {"objective": "publisher_payout", "amounts": AMOUNTS, "intruder": "journalist"}},
        {"population": "people.csv"},
        {"population_sha256": "0" * 64},
        {"models": [{"model": "k_map", "k": 3}], "population": "people.csv", "refine": True},
    ],
)
def test_a_list_that_is_lacking_or_asked_for_by_nothing_is_refused(fields: dict) -> None:
    with golden.raises(ValidationError):
        step(**fields)


@pytest.mark.parametrize(
    ("content", "sha256"),
    [
        ("age,town\n30,a\n", None),
        ("age,town,sex\n30,a,f\n", "0" * 64),
        ("age,town,sex\n99,a,f\n", None),
        ("age,town,sex\n30,far,f\n", None),
        ("age,town,sex\n30.5,a,f\n", None),
    ],
)
def test_a_wrong_list_is_refused(content: str, sha256: str | None, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(content)
    by = step(models=[{"model": "k_map", "k": 3}], population="people.csv", population_sha256=sha256)
    with golden.raises(SluiceError):
        masked(people(20, 1), by.reading(lambda _, path, where: tmp_path / path))


def test_no_list_is_read_where_nobody_says_that_it_may_be() -> None:
    with golden.raises(SluiceError):
        masked(people(20, 1), step(models=[{"model": "k_map", "k": 3}], population="people.csv"))


def test_what_pays_is_released_and_the_payout_is_told() -> None:
    by = step(
        models=[{"model": "profitability", "amounts": AMOUNTS}],
        objective={"objective": "publisher_payout", "amounts": AMOUNTS},
        suppression_limit=1,
    )
    assert Generalization.model_validate_json(by.model_dump_json()) == by
    _, levels = masked(people(100, 2), by)
    assert levels.found is not None
    golden(levels.found.objective)
    assert 0 < levels.found.value <= 100 * AMOUNTS["benefit"]


def test_a_classifier_keeps_the_key_that_predicts() -> None:
    frame = people(200, 4)
    frame["illness"] = pd.Categorical(frame["sex"].map({"f": "flu", "m": "none"}), categories=["flu", "gout", "none"])
    _, levels = masked(frame, step(objective={"objective": "classification", "column": "illness"}))
    assert levels.levels["sex"] == 0
    assert levels.found is not None
    assert levels.found.value == 0


def test_several_records_of_a_person_are_one_in_a_crowd() -> None:
    variables = VARIABLES | {"who": Variable(name="who", kind=Kind.INTEGER, role=Role.PERSON)}
    frame = people(60, 2).assign(who=pd.array([*range(50), *[50] * 10], dtype="Int64"))
    frame.loc[50:, "town"] = "d"
    frame.loc[:49, "town"] = pd.Categorical(["a", "b"] * 25, categories=list("abcd"))
    by = step(levels={"age": 3, "sex": 1})
    _, carried_out = apply_plan([by], frame, variables, np.random.SeedSequence(1))
    assert carried_out[0].parameters()["levels"]["town"] == 2  # ten records in town d, of one person
    with golden.raises(PlanError):
        apply_plan([step(levels={"age": 3, "sex": 1, "town": 0})], frame, variables, np.random.SeedSequence(1))


def test_more_are_suppressed_where_few_would_be_alone_with_that() -> None:
    towns = [*"aaaabbccd", None, None]
    frame = pd.DataFrame({"town": pd.Categorical(towns, categories=list("abcd"))})
    by = Generalization.model_validate(
        {"columns": ["town"], "models": [{"model": "k_anonymity", "k": 3}], "suppression_limit": 0.7}
    )
    # North and south lose less, but suppress the two without a town alone.
    done, carried_out = apply_plan([by], frame, VARIABLES, np.random.SeedSequence(1))
    assert done["town"].astype("string").fillna("").tolist() == [*"aaaa", *[""] * 7]
    assert carried_out[0].found.excess == 0


def test_categories_that_nobody_declared_are_those_of_the_file() -> None:
    variables = {"town": Variable(name="town", kind=Kind.NOMINAL)}
    by = Generalization.model_validate({"columns": ["town"], "models": [{"model": "k_anonymity", "k": 2}]})
    for towns, shown in (("aabb", "aabb"), ("aabc", "****")):
        frame = pd.DataFrame({"town": pd.Categorical(list(towns))})
        done, _ = apply_plan([by], frame, variables, np.random.SeedSequence(1))
        assert "".join(done["town"]) == shown


def test_times_of_day_do_not_part_records_of_one_day() -> None:
    days = Hierarchy(rows={"2024-01-01": ("2024",), "2024-01-02": ("2024",)})
    variables = {"day": Variable(name="day", kind=Kind.DATE, hierarchy=days)}
    moments = ["2024-01-01 08:00:01", "2024-01-01 21:15:00", "2024-01-02 03:04:05", "2024-01-02 23:00:00"]
    frame = pd.DataFrame({"day": pd.to_datetime(moments).astype("datetime64[us]")})
    given = {"columns": ["day"], "models": [{"model": "k_anonymity", "k": 2}]}
    for levels in ({}, {"day": 0}):
        by = Generalization.model_validate(given | {"levels": levels})
        done, _ = apply_plan([by], frame, variables, np.random.SeedSequence(1))
        assert classes_of(done, ["day"]).sizes.tolist() == [2, 2]
