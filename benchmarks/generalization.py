"""The best full-domain generalisation: Adult, a million records, ten million, and twenty keys with a bound.

    OMP_NUM_THREADS=1 python -m benchmarks generalization

Adult is ARX's file of 30,162 records, whose nine keys make a lattice of 12,960 transformations; the larger files are
drawn from it, and 5 % of their cells anew from their column. ARX and anjana do not count the suppressed records as a
class of the file, so neither does this where it stands beside them. Seconds are of the processor.
"""

import resource
from collections.abc import Sequence
from time import monotonic, process_time

import numpy as np
import pandas as pd

from benchmarks.peers.peer import ask, version_of
from deployments.data import REFERENCE_DATA
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node_suppression import Solution
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import Ambiguity, AverageClassSize, Discernibility, KLDivergence
from sluice.generalization.objectives.key_losses import Height, Loss, NonUniformEntropy, Precision
from sluice.ground.hierarchy import Hierarchy
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity
from sluice.risk.classes.privacy_model import PrivacyModel
from sluice.risk.classes.t_closeness import EqualTCloseness

LIMITS = (0.0, 0.04, 1.0)
BY_KEYS = (Loss(), NonUniformEntropy(), Precision(), Height())
BY_CLASSES = (Discernibility(), AverageClassSize(), Ambiguity(), KLDivergence())
ADULT = REFERENCE_DATA / "adult"
Codes = list[np.ndarray]


def main(quick: bool = False) -> None:
    if not ADULT.is_dir():
        print("Adult is not there; see SLUICE_REFERENCE_DATA.")
        return
    keys, codes = adult()
    search(keys, codes, [KAnonymityModel(5)], Loss(), suppression_limit=1.0)  # compile, or load the compiled loops
    _head()
    for limit in LIMITS:
        for objective in (*BY_KEYS, *BY_CLASSES):
            _row(f"Adult, {objective.describe()}", keys, codes, [KAnonymityModel(5)], limit, objective=objective)
    _peer()
    rest, occupation = _without(keys, codes, "occupation")
    models: list[PrivacyModel] = [
        DistinctLDiversity("occupation", 3),
        EqualTCloseness("occupation", 0.2),
        BetaLikenessModel("occupation", 2.0),
        DeltaDisclosureModel("occupation", 2.0, absent=False),
    ]
    for model in models:
        for limit in LIMITS[:1] if quick else LIMITS:
            found = _row(
                f"Adult, {model.describe()}", *rest, [KAnonymityModel(5), model], limit, {"occupation": occupation}
            )
            if limit == LIMITS[0]:
                _confirm(*rest, occupation, found)
    for records in (100_000,) if quick else (1_000_000, 10_000_000):
        drawn = _drawn(codes, records)
        for limit in LIMITS:
            _row(f"{records:,} records", keys, drawn, [KAnonymityModel(5)], limit)
    _twenty(keys, codes, 10_000 if quick else 30_162, 2 if quick else 60)
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


def adult() -> tuple[list[Key], Codes]:
    """The nine keys of ARX's Adult, and the leaf of each record."""
    frame = pd.read_csv(ADULT / "arx/adult.csv.gz", sep=";", dtype=str)
    keys, codes = [], []
    for name in frame:
        text = (ADULT / f"hierarchies_arx/adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        rows = [line.split(";") for line in text.splitlines()]
        hierarchy = Hierarchy(rows={leaf: tuple(above) for leaf, *above in rows})
        leaves = [leaf for leaf, *_ in rows]
        keys.append(Key.of(str(name), leaves, hierarchy))
        codes.append(pd.Categorical(frame[name], categories=leaves).codes)
    return keys, codes


def _drawn(codes: Codes, records: int) -> Codes:
    rng = np.random.default_rng(20260101)
    rows = rng.integers(0, len(codes[0]), records)
    drawn = []
    for column in codes:
        cells, anew = column[rows], rng.random(records) < 0.05
        cells[anew] = rng.choice(column, int(anew.sum()))
        drawn.append(cells)
    return drawn


def _without(keys: list[Key], codes: Codes, name: str) -> tuple[tuple[list[Key], Codes], np.ndarray]:
    at = [key.name for key in keys].index(name)
    return (keys[:at] + keys[at + 1 :], codes[:at] + codes[at + 1 :]), codes[at]


def _head() -> None:
    print(f"{'':<62} {'limit':>6} {'CPU s':>8} {'checked':>8} {'suppressed':>10} {'loss':>14}  levels")


def _row(
    what: str,
    keys: Sequence[Key],
    codes: Codes,
    models: Sequence[PrivacyModel],
    limit: float,
    sensitive: dict[str, np.ndarray] | None = None,
    objective: Loss | NonUniformEntropy | Discernibility = Loss(),  # noqa: B008  it is frozen
) -> Solution:
    begun = process_time()
    found = search(keys, codes, models, objective, sensitive=sensitive, suppression_limit=limit, suppressed="ignored")
    seconds = process_time() - begun
    levels = "".join(map(str, found.levels))
    print(
        f"{what:<62} {limit:>6.0%} {seconds:>8.3f} {found.checked:>8,} {found.suppressed:>10,} {found.value:>14,.6g}  "
        f"{levels}",
        flush=True,
    )
    return found


def _twenty(keys: list[Key], codes: Codes, records: int, seconds: float) -> None:
    """Adult's keys and eleven more, drawn from these: more transformations than 32 bits can number."""
    rng = np.random.default_rng(20260102)
    more = [1, 4, 7, 3, 6, 5, 1, 4, 1, 4, 1]
    columns = [column[:records] for column in codes]
    columns += [np.where(rng.random(records) < 0.2, rng.permutation(columns[at]), columns[at]) for at in more]
    named = keys + [Key(f"{keys[at].name} {number}", keys[at].levels) for number, at in enumerate(more)]
    end = monotonic() + seconds
    found = search(
        named, columns, [KAnonymityModel(5)], Loss(), suppression_limit=0.04, ended=lambda: monotonic() >= end
    )
    print(
        f"{len(named)} keys, {found.nodes:,} transformations, {records:,} records, {seconds:g} s of the clock: "
        f"loss {found.value:.4f}, none below {found.bound:.4f} (within {found.excess:.1%}), {found.checked:,} checked"
    )


def _peer() -> None:
    """anjana's k-anonymity on the same file and hierarchies."""
    limits = (0, 4)
    if version_of("anjana"):
        for limit, run in zip(
            limits, ask("anjana", "adult", folder=str(ADULT), k=5, limits=limits)["runs"], strict=True
        ):
            lost = f"{run['suppressed']:,} suppressed, loss {run['loss']:.4f}"
            print(f"anjana, {limit} %: {run['seconds']:.1f} s, {lost}")


def _confirm(keys: list[Key], codes: Codes, sensitive: np.ndarray, found: Solution) -> None:
    """What pycanon, which judges files and makes none, finds of the file that the search made."""
    columns = {
        key.name: key.levels[level][column] for key, column, level in zip(keys, codes, found.levels, strict=True)
    }
    released = pd.DataFrame({**columns, "occupation": sensitive})[~found.suppressed_records]
    if version_of("pycanon"):
        names = ("k_anonymity", "l_diversity", "t_closeness", "basic_beta_likeness", "delta_disclosure")
        asked = {"keys": list(columns), "sensitive": "occupation", "measures": names}
        found = ask("pycanon", "measures", {"released": released}, **asked)["measures"]
        figures = ", ".join(f"{name} = {each['value']:.4g}" for name, each in found.items())
        print(f"pycanon finds {figures}, in {sum(each['seconds'] for each in found.values()):.1f} s")


if __name__ == "__main__":
    main()
