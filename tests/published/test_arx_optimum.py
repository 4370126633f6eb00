"""Optima of full-domain generalisation that ARX's own tests state, on the Adult file that ships with it.

Source: ARX (Prasser, Eicher, Spengler, Bild and Kuhn 2020), repository arx-deidentifier/arx, src/test/java: the classes
TestAnonymizationKAnonymity, TestAnonymizationTCloseness, TestAnonymizationLDiversity,
TestAnonymizationEntropyLDiversity, TestAnonymizationBLikeness and TestAnonymizationKMap, each with levels and loss. ARX
does not count the suppressed records as a class, hence `suppressed="ignored"`.

Not compared: losses by entropy and by discernibility with suppression, which ARX's tests compute in variants of their
own; of those by entropy the levels are compared where they agree. ARX counts entropies in bits of all records, so that
keys weigh by what they have to lose.
"""

from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import Discernibility
from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy
from sluice.ground.hierarchy import Hierarchy
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import EntropyLDiversity
from sluice.risk.classes.t_closeness import EqualTCloseness, HierarchicalTCloseness
from sluice.risk.population.k_map import EstimatedKMap

Adult = tuple[list[Key], list[np.ndarray], Hierarchy]
BITS = NonUniformEntropy("sum")


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> Adult:
    """The nine keys with their hierarchies, the leaf of each record, and the hierarchy of occupations."""
    frame = pd.read_csv(reference_data / "adult/arx/adult.csv.gz", sep=";", dtype=str)
    keys, codes, hierarchies = [], [], {}
    for name in frame:
        text = (reference_data / f"adult/hierarchies_arx/adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        rows = [line.split(";") for line in text.splitlines()]
        hierarchies[name] = Hierarchy(rows={leaf: tuple(above) for leaf, *above in rows})
        leaves = [leaf for leaf, *_ in rows]
        leaf = pd.Categorical(frame[name], categories=leaves).codes
        counts = np.unique(leaf, return_counts=True)[1].tolist()
        bits = sum(count * log2(len(frame) / count) for count in counts)
        keys.append(Key.of(str(name), leaves, hierarchies[name], weight=bits))
        codes.append(leaf)
    return keys, codes, hierarchies["occupation"]


def without_occupation(adult: Adult) -> tuple[list[Key], list[np.ndarray], np.ndarray]:
    keys, codes, _ = adult
    at = [key.name for key in keys].index("occupation")
    return keys[:at] + keys[at + 1 :], codes[:at] + codes[at + 1 :], codes[at]


@pytest.mark.parametrize(
    ("k", "limit", "levels", "bits"),
    [
        (5, 0.0, (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.5388925293),
        (100, 0.0, (0, 4, 1, 1, 3, 2, 2, 1, 1), 453196.8932458743),
        (5, 0.04, (1, 0, 1, 1, 3, 2, 2, 0, 1), None),
        (100, 0.04, (1, 1, 1, 1, 3, 2, 2, 1, 1), None),
    ],
)
def test_k_anonymity_by_entropy(
    adult: Adult, k: int, limit: float, levels: tuple[int, ...], bits: float | None
) -> None:
    keys, codes, _ = adult
    found = search(keys, codes, [KAnonymityModel(k)], BITS, suppression_limit=limit, suppressed="ignored")
    assert found.nodes == 12_960
    assert found.levels == levels
    if bits is not None:
        assert found.value == pytest.approx(bits, rel=1e-12)


@pytest.mark.parametrize(
    ("model", "levels", "bits"),
    [
        ("t", (0, 4, 1, 1, 3, 2, 2, 1), 398400.0741806447),
        (EntropyLDiversity("occupation", 5), (1, 1, 1, 1, 3, 2, 2, 1), 324620.5269918692),
    ],
)
def test_models_on_occupations_by_entropy(
    adult: Adult, model: EntropyLDiversity | str, levels: tuple[int, ...], bits: float
) -> None:
    keys, codes, occupation = without_occupation(adult)
    models = [model]
    if model == "t":
        leaves, hierarchy = list(adult[2].rows), adult[2]
        models = [KAnonymityModel(5), HierarchicalTCloseness.of("occupation", 0.2, leaves, hierarchy)]
    found = search(keys, codes, models, BITS, sensitive={"occupation": occupation}, suppressed="ignored")
    assert (found.levels, found.value) == (levels, pytest.approx(bits, rel=1e-12))


def test_t_closeness_by_discernibility(adult: Adult) -> None:
    keys, codes, occupation = without_occupation(adult)
    models = [KAnonymityModel(5), EqualTCloseness("occupation", 0.2)]
    found = search(keys, codes, models, Discernibility(), sensitive={"occupation": occupation})
    assert (found.levels, found.value) == ((1, 4, 1, 1, 3, 2, 2, 1), 4.56853172e8)


@pytest.mark.parametrize(
    ("model", "limit", "levels", "loss"),
    [
        (BetaLikenessModel("occupation", 2, enhanced=True), 0.0, (1, 4, 1, 1, 3, 2, 2, 0), 0.759176305345683),
        (BetaLikenessModel("occupation", 5), 0.4, (0, 2, 0, 0, 2, 0, 1, 0), 0.23350465152356303),
    ],
)
def test_beta_likeness_by_loss(
    adult: Adult, model: BetaLikenessModel, limit: float, levels: tuple[int, ...], loss: float
) -> None:
    """ARX takes the geometric mean of the keys, and rounds their losses."""
    keys, codes, occupation = without_occupation(adult)
    given = {"sensitive": {"occupation": occupation}, "suppression_limit": limit, "suppressed": "ignored"}
    equal = [replace(key, weight=1.0) for key in keys]
    found = search(equal, codes, [model], Loss("geometric"), **given)
    assert (found.levels, found.value) == (levels, pytest.approx(loss, rel=1e-9))


@pytest.mark.parametrize(("k", "levels"), [(3, (0, 0, 1, 1, 0, 2, 2, 0)), (1000, (0, 0, 1, 1, 1, 2, 1, 0))])
def test_estimated_k_map_by_entropy(adult: Adult, k: int, levels: tuple[int, ...]) -> None:
    """For the people of the United States, by the zero-truncated Poisson distribution; classes of 2 and 3 are needed,
    for any population from 300 to 340 million."""
    keys, codes, _ = without_occupation(adult)
    models = [EstimatedKMap(k, population, significance=0.01) for population in (300e6, 340e6)]
    assert {model.fewest(30_162) for model in models} == {2 if k == 3 else 3}
    found = search(keys, codes, models, BITS, suppression_limit=0.05, suppressed="ignored")
    assert found.levels == levels
