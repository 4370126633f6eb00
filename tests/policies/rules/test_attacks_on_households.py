"""What holds of every attack on a file of households: members who share a value are no sign that the file tells it.

Whoever is left out of what an attack is compared with is left out with the household, and none of it is learned from
where another is attacked. A new attack is added to `ATTACKS`.
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from policies.rules.attack_rule import AttackRule
from policies.rules.rules import AttackPolicyRule
from policies.standard.copied_values import judge_unique_values
from policies.standard.learning_intruders import judge_partial_knowledge, learned_intruder
from policies.standard.reference_standard import AnyOf, Intruder, ReferenceStandard
from policies.standard.standard_checks import judge_reference_standard
from sluice.ground.variables import Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison

# A survey of households whose members share an area, a weight and two traits, as the file and people set aside.


_KEY = "quasi_identifier"
_AREAS, _HEATS, _ILLS = tuple("abcdefgh"), tuple("wxyz"), tuple("pqrst")
_WEIGHTS = np.round(np.random.default_rng(9).lognormal(4, 0.5, 40), 2)
OF_HOUSEHOLDS = ("weight", "area", "heat", "rent")
VARIABLES = {
    "house": Variable(name="house", kind="text", role="household"),
    "weight": Variable(name="weight", kind="continuous", role="weight"),
    "area": Variable(name="area", kind="nominal", role=_KEY, categories=_AREAS),
    "heat": Variable(name="heat", kind="nominal", role="sensitive", categories=_HEATS),
    "rent": Variable(name="rent", kind="integer", role="sensitive"),
    "age": Variable(name="age", kind="integer", role=_KEY),
    "sex": Variable(name="sex", kind="binary", role=_KEY, categories=("f", "m")),
    "wage": Variable(name="wage", kind="continuous", role="sensitive"),
    "ill": Variable(name="ill", kind="nominal", role="sensitive", categories=_ILLS),
}


def people(seed: int, households: int = 500) -> pd.DataFrame:
    """Members of one to four; the first two are of either sex, and the others children or grown-up."""
    rng = np.random.default_rng(seed)
    house = np.repeat(np.arange(households), rng.integers(1, 5, households))
    n = len(house)
    first = np.r_[True, house[1:] != house[:-1]]
    grown = first | (rng.random(n) < 0.4)
    sex = np.where(first, "f", np.where(np.r_[False, first[:-1]], "m", rng.choice(["f", "m"], n)))
    weight, rent = rng.choice(_WEIGHTS, households), rng.choice(np.arange(300, 2_700, 60), households)
    area, heat = rng.integers(0, 8, households), rng.integers(0, 4, households)
    frame = {
        "house": pd.Series([f"h{seed}_{at}" for at in house], dtype="str"),
        "weight": weight[house],
        "area": pd.Categorical.from_codes(area[house], list(_AREAS)),
        "heat": pd.Categorical.from_codes(heat[house], list(_HEATS)),
        "rent": pd.array(rent[house], "Int64"),
        "age": pd.array(np.where(grown, rng.integers(25, 80, n), rng.integers(0, 25, n)), "Int64"),
        "sex": pd.Categorical(sex, ["f", "m"]),
        "wage": np.round(rng.lognormal(7, 0.6, n), 1),
        "ill": pd.Categorical(rng.choice(_ILLS, n), list(_ILLS)),
    }
    return pd.DataFrame(frame)


OWN, ASIDE = people(1), people(2)


def judged(
    kept: Collection[str] = (), control: bool = False, paired: bool = False, original: pd.DataFrame = OWN
) -> Comparison:
    """The file without its households; all but the columns `kept` are shuffled, those of households by household."""
    rng, codes = np.random.default_rng(3), pd.factorize(original["house"])[0]
    masked = original.drop(columns="house")
    for name in masked:
        column = original[name]
        if name in OF_HOUSEHOLDS:
            column = column.groupby(codes).first()
        moved = column.array[rng.permutation(len(column))]
        if name not in kept:
            masked[name] = pd.Series(moved[codes] if name in OF_HOUSEHOLDS else moved)
    if not paired:
        masked = masked.iloc[rng.permutation(len(masked))].reset_index(drop=True)
    released = {name: variable for name, variable in VARIABLES.items() if name != "house"}
    aside = ASIDE if control else None
    return Comparison(
        original, original, masked, aside, VARIABLES, released, np.random.default_rng(0), aside, paired, "people"
    )  # fmt: skip


_SHARED, _KEYS = ("weight", "heat", "rent"), ("age", "sex", "area")
_APART, _TORN, _PAIRS = judged(control=True), judged(), judged(paired=True)
_TOLD, _TOLD_ALONE = judged(_SHARED, control=True), judged(_SHARED)
_TOLD_OF_PAIRS, _COPIED = judged((*_SHARED, *_KEYS), paired=True), judged((*_SHARED, *_KEYS, "wage", "ill"), True)

# Each with its settings, a file that tells nothing, and one that tells a value of households, or where that does not
# show a rule anything, all values.
ATTACKS: list[tuple[str, dict[str, Any], Comparison, Comparison]] = [
    ("subset_inference", {"limit": 0.1}, _TORN, _TOLD_ALONE),
    ("subset_inference", {"limit": 0.1}, _APART, _TOLD),
    ("participant_inference", {"limit": 0.1}, _APART, _COPIED),
    ("membership", {"limit": 0.1, "attacks": 200}, _APART, _COPIED),
    ("rare_combinations", {"limit": 0.1}, _APART, _COPIED),
    ("singling_out", {"limit": 0.15}, _APART, _COPIED),
    ("linkability", {"limit": 0.1, "known": (("weight", "heat"), ("rent", "area")), "k": 5}, _APART, _COPIED),
    ("inference", {"limit": 0.15, "known": ("weight", "heat"), "secrets": ("rent",)}, _APART, _TOLD),
    ("attribute_inference", {"excess": 0.1, "trees": 5, "known": ("weight", "rent"), "columns": ("heat",)}, _PAIRS,
     _TOLD_OF_PAIRS),
    ("distance_linkage", {"excess": 0.05}, _PAIRS, _TOLD_OF_PAIRS),
    ("probabilistic_linkage", {"excess": 0.05}, _PAIRS, _TOLD_OF_PAIRS),
]  # fmt: skip
_RULE: TypeAdapter[AttackRule] = TypeAdapter(AttackPolicyRule)


@pytest.mark.parametrize(
    ("name", "settings", "harmless", "telling"), ATTACKS, ids=[f"{name} {at}" for at, (name, *_) in enumerate(ATTACKS)]
)
def test_a_shuffled_file_is_not_stopped_and_one_that_tells_is(
    name: str, settings: dict[str, Any], harmless: Comparison, telling: Comparison
) -> None:
    rule = _RULE.validate_python({"rule": name} | settings)
    # So few households leave some figures open.
    assert [each.says for each in rule.find(harmless) if each.verdict is Verdict.FAIL] == []
    assert max(each.verdict for each in rule.find(telling)) is Verdict.FAIL


_STANDARD = ReferenceStandard(reference="leave_one_out", minimum_records=100)
_READER = Intruder(knows=AnyOf(any=2), found=0.9, claims=0.9, gain=0.1)


def _nearness(files: Comparison) -> list[Finding]:
    return [each for each in judge_reference_standard(_STANDARD, files)[0] if each.rule == "prediction_distance"]


def _gain(files: Comparison) -> list[Finding]:
    found = judge_partial_knowledge([_READER], files, learned_intruder(files, 300))
    return [each for each in found if each.rule == "attribute_gain"]


def _numbered(*kept: str) -> Comparison:
    """Wages that nobody else has, in the order of the households, and without pairs."""
    return judged(("wage", *kept), original=OWN.assign(wage=1_000.0 + np.arange(len(OWN))))


# What the household shows in the file was no news while its other members stood in what the file is compared with.
PARTS = [
    ("prediction_distance", _nearness, _PAIRS, judged((*_SHARED, "area", "age"), paired=True)),
    ("attribute_gain", _gain, _PAIRS, judged(("weight", "rent", "heat"), paired=True)),
    ("unique_values", lambda files: [judge_unique_values(_STANDARD, files)], _numbered(), _numbered("rent", "heat")),
]


@pytest.mark.chain
@pytest.mark.parametrize(("name", "find", "harmless", "telling"), PARTS, ids=[name for name, *_ in PARTS])
def test_the_standard_looks_at_files_without_the_household(
    name: str, find: Callable[[Comparison], list[Finding]], harmless: Comparison, telling: Comparison
) -> None:
    found = find(harmless)
    assert {each.rule for each in found} == {name}
    assert [each.says for each in found if each.verdict is Verdict.FAIL] == []
    assert max(each.verdict for each in find(telling)) is Verdict.FAIL
