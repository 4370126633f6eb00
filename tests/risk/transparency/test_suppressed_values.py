from math import log

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.suppressed_values import SetsWithin, WhySuppressed
from tests.items.brute_force import read
from tests.items.set_columns import column_of, variable
from tests.risk.transparency.paired import paired

VARIABLES = {
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
    "area": Variable(name="area", kind=Kind.NOMINAL),
}


def file(original: pd.DataFrame, masked: pd.DataFrame) -> Pairs:
    return paired(original, masked, VARIABLES)


def people(sex: str, area: str) -> pd.DataFrame:
    return pd.DataFrame({"sex": pd.Categorical(list(sex), categories=["f", "m"]), "area": pd.Categorical(list(area))})


def test_of_two_values_the_rare_one_was_suppressed() -> None:
    """In area x there are five women and three without a sex: had they been women, nothing had been suppressed."""
    original = people("fffffmmmffffmmmm", "xxxxxxxxyyyyyyyy")
    masked = original.copy()
    masked.loc[5:7, "sex"] = None
    (leak,) = WhySuppressed(("sex", "area"), 4, 2).play(file(original, masked))
    assert leak.kind == "confident"
    assert leak.measured.value == pytest.approx(3 / 16)
    assert leak.measured.baseline == 0  # by the others of area x they would be women


def test_a_value_that_could_be_any_is_not_told() -> None:
    """Records of both sexes are without it in area z, and nobody else lives there."""
    original = people("ffffmmmmffmm", "xxxxyyyyzzzz")
    masked = original.copy()
    masked.loc[8:, "sex"] = None
    (leak,) = WhySuppressed(("sex", "area"), 4, 2).play(file(original, masked))
    assert leak.measured.value == 0


def test_the_step_declares_it_with_its_k() -> None:
    rng = np.random.default_rng(1)
    frame = people("".join(rng.choice(["f", "m"], 500, p=[0.98, 0.02])), "".join(rng.choice(list("uvwxyz"), 500)))
    step = LocalSuppression(columns=("sex", "area"), k=5, missing_matches="any")
    masked = frame.copy()  # as other programs do it: the rare value alone, however few lose it
    masked.loc[frame.groupby(["sex", "area"], observed=True)["sex"].transform("size") < 5, "sex"] = None
    lost = masked["sex"].isna().mean()
    assert lost > 0
    (attack,) = step.attacks()
    (leak,) = attack.play(file(frame, masked))
    assert leak.measured.value == pytest.approx(lost)
    assert leak.measured.baseline == 0


def test_nothing_suppressed_tells_nothing() -> None:
    frame = people("fmfm", "xxyy")
    assert WhySuppressed(("sex", "area"), 1, 2).play(file(frame, frame))[0].measured.value == 0
    rest = frame[[]]
    (leak,) = WhySuppressed(("sex",), 1, 1).play(
        Pairs(frame, VARIABLES, rest, rest, {}, np.arange(4), np.random.default_rng(0))
    )
    assert leak.measured.value == 0


# Who knows a whole set, and that items were taken out, finds what is left of it.


PLAIN = {"basket": variable(hierarchy=None)}


def pairs(before: list[set[str]], after: list[set[str]]) -> Pairs:
    known, released = (pd.DataFrame({"basket": column_of(sets)}) for sets in (before, after))
    return paired(known, released, PLAIN)


def test_the_rarest_set_within_is_taken() -> None:
    """c and e are left to one person each; those with b alone are three alike."""
    before = [{"a", "b", "c"}, {"b", "d"}, {"b", "d"}, {"b", "d"}, {"a", "e"}]
    file = pairs(before, [{"b", "c"}, {"b"}, {"b"}, {"b"}, {"a", "e"}])
    identified, confident = SetsWithin(("basket",)).play(file)
    assert identified.measured.value == pytest.approx((1 + 3 * 1 / 3 + 1) / 5)
    assert identified.measured.completed == 5
    assert confident.measured.value == pytest.approx(2 / 5)


def test_it_finds_whom_a_search_of_all_sets_finds() -> None:
    rng = np.random.default_rng(3)
    items = np.array(list("abcdefgh"))
    before = [set(rng.choice(items, rng.integers(1, 6), replace=False)) for _ in range(60)]
    after = [{item for item in each if rng.random() < 0.7} for each in before]
    left = sum(map(len, after)) / sum(map(len, before))
    share = {item: sum(item in each for each in after) / 60 for item in items}

    def speaks(released: set[str]) -> float:
        return sum(log(left / share[item]) - log((1 - left) / (1 - share[item])) for item in released)

    right = []
    for person, known in enumerate(before):
        fits = [row for row, each in enumerate(after) if each <= known]
        most = max(speaks(after[row]) for row in fits)
        best = [row for row in fits if speaks(after[row]) > most - 1e-9]
        right.append((person in best) / len(best))
    file = pairs(before, after)
    assert read(file.masked["basket"]) == after
    assert SetsWithin(("basket",)).play(file)[0].measured.value == pytest.approx(np.mean(right))


def test_a_set_that_does_not_lie_within_is_ruled_out() -> None:
    logs = SetsWithin(("basket",)).likelihood(pairs([{"a"}, {"b"}], [{"a"}, {"b"}]))(np.array([0]))
    assert np.isneginf(logs[0, 1])
    assert np.isfinite(logs[0, 0])
