"""What all attacks with a control have in common: strangers' records tell nothing, one's own nearly all.

A new attack is added to `ATTACKS`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import Attacked
from sluice.risk.attacks.inference import inference
from sluice.risk.attacks.linkability import linkability
from sluice.risk.attacks.membership import learned_membership, membership, nearer_to_original
from sluice.risk.attacks.participant_inference import participant_inference
from sluice.risk.attacks.singling_out import singling_out
from sluice.risk.attacks.subset_inference import subset_inference
from sluice.risk.measurement import Measurement
from tests.golden import golden
from tests.risk.attacks.people import VARIABLES, people

N = 600
ALL = tuple(VARIABLES)
Attack = Callable[..., Measurement]

# Each of original, released file, control and a generator; with what it is of a file that tells nothing, where it has
# no baseline of its own.
ATTACKS: dict[str, tuple[Attack, float | None]] = {
    "linkability": (lambda *f, rng: linkability(*f, VARIABLES, ["age"], ["wage"], 1, N, rng).risk(), 0.0),
    "inference of a number": (lambda *f, rng: inference(*f, VARIABLES, ["age"], "wage", 0.01, N, rng).risk(), 0.0),
    "inference of a label": (lambda *f, rng: inference(*f, VARIABLES, ["age", "wage"], "job", 0, N, rng).risk(), 0.0),
    "singling out": (lambda *f, rng: singling_out(*f, VARIABLES, ALL, "multivariate", 2, 300, rng).risk(), 0.0),
    "singling out by one": (lambda *f, rng: singling_out(*f, VARIABLES, ALL, "univariate", 1, 300, rng).risk(), 0.0),
    "membership": (lambda *f, rng: membership(Attacked(*f, VARIABLES, ALL, N, rng)).advantage, 0.0),
    "area of membership": (lambda *f, rng: membership(Attacked(*f, VARIABLES, ALL, N, rng)).area, 0.5),
    "nearer records": (lambda *f, rng: nearer_to_original(Attacked(*f, VARIABLES, ALL, N, rng)), 0.5),
    "learned membership": (lambda *f, rng: learned_membership(Attacked(*f, VARIABLES, ALL, N, rng)).area, 0.5),
    "participants": (lambda *f, rng: participant_inference(Attacked(*f, VARIABLES, ALL, N, rng)).measurement, None),
    "subsets": (lambda *f, rng: subset_inference(Attacked(*f, VARIABLES, ALL, N, rng)).measurement, None),
}
each_attack = pytest.mark.parametrize("name", ATTACKS)


@cache
def files(seed: int | None = None) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The original, a file of strangers, and a control; with a seed, each in another order and under other labels."""
    drawn = (people(N, 1), people(N, 3), people(2 * N, 2))
    if seed is None:
        return drawn
    return tuple(each.sample(frac=1, random_state=np.random.default_rng(seed)) for each in drawn)  # type: ignore[return-value]


def played(name: str, *given: pd.DataFrame) -> Measurement:
    return ATTACKS[name][0](*given, rng=np.random.default_rng(0))


def beyond(name: str, found: Measurement) -> float:
    """How much more it finds than in a file that tells nothing."""
    nothing = found.baseline if ATTACKS[name][1] is None else ATTACKS[name][1]
    assert nothing is not None
    return found.value - nothing


@each_attack
def test_strangers_tell_nothing_and_the_original_nearly_all(name: str) -> None:
    original, strangers, control = files()
    nothing, everything = played(name, original, strangers, control), played(name, original, original, control)
    assert abs(beyond(name, nothing)) < 0.1
    assert beyond(name, everything) > 0.2
    for found in (nothing, everything):
        assert found.interval[0] <= found.value <= found.interval[1]
        assert 0 < found.completed <= found.attempted


@each_attack
def test_neither_the_order_of_the_rows_nor_the_index_matters(name: str) -> None:
    assert played(name, *files(1)).value == pytest.approx(played(name, *files(2)).value, abs=1e-9)


@each_attack
@pytest.mark.parametrize("missing", ["released", "control"])
def test_nobody_is_refused(name: str, missing: str) -> None:
    original, strangers, control = files()
    given: dict[str, Any] = {
        "released": (original, strangers[:0], control),
        "control": (original, strangers, control[:0]),
    }
    golden.refused(DataError, played, name, *given[missing])
