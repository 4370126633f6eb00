"""Editions of the same people through the chain, and the intruder who subtracts one file from the other."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import yaml

from benchmarks.gate_releases import POPULATIONS, Population
from sluice.ground.verdict import Finding
from tasks.record_steps import mask
from tasks.release.records.record_editions import compare_publications
from tasks.release.records.record_variables import read_masked
from tests.flows.house import House
from tests.red_team.stages import bare, made, publish

_K = 5  # what the policy asks of a group
_ID = "who"  # which the intruder knows, and no file holds
_POLICIES = Path(__file__).parents[1] / "policies"
_SORTS = {
    "editions, a few left": False,
    "editions, birthdays": False,
    "editions, other bands": False,
    "editions, nobody moves": True,
    "editions, other people": True,
    "editions, a panel": True,
}
EDITIONS: tuple[tuple[str, int, str, int, str], ...] = tuple(
    (name, strength, data, (1_000, 3_000, 10_000)[(place + strength + at) % 3], "public-use-file")
    for place, name in enumerate(_SORTS)
    for at, data in enumerate(("adult", "census-income"))
    for strength in range(3)
)
"""Kind, strength, population, people, policy."""


@dataclass(frozen=True)
class Played:
    """What the intruder read, and what the gate found of the second edition beside the first."""

    meant_good: bool
    truth: str
    reach: tuple[float, float, float]
    findings: Sequence[Finding]


def judged_editions(sort: str, strength: int, data: str, size: int, policy: str, seed: int) -> Played:
    """Two editions: the intruder knows the keys of everybody in either, and who came and left.

    The strength is what moves for everybody: nothing, the month, or the month and a weight.
    """
    population = POPULATIONS[data]()
    rng = np.random.default_rng(seed)
    people, others = population.drawn(size, seed)
    people, others = people.assign(**{_ID: range(size)}), others.assign(**{_ID: range(size, size + len(others))})
    age = people["age"].to_numpy("int64")
    bands_asked = min(20, size // 120)
    cuts = sorted({int(each) for each in np.quantile(age, np.linspace(0, 1, bands_asked + 1)[1:-1])})
    later, bands = people.copy(), cuts
    if sort == "editions, a few left":
        later = people.drop(index=rng.choice(size, 10, replace=False))
    elif sort == "editions, birthdays":
        born = rng.uniform(size=size) < 1 / 12
        later["age"] = (later["age"] + born.astype(int)).astype("Int64")
    elif sort == "editions, other bands":
        bands = [each + 1 for each in cuts]
    elif sort == "editions, other people":
        later = others.head(size)
    elif sort == "editions, a panel":
        kept = rng.permutation(size)[: 3 * size // 4]
        later = pd.concat([people.iloc[kept], others.head(size - len(kept))])
    later = later.reset_index(drop=True)
    with TemporaryDirectory() as folder:
        house = House(Path(folder) / "house")
        files = []
        for edition, (frame, edges) in enumerate(((people, cuts), (later, bands))):
            _write(house, population, frame, edges, policy, edition, strength, rng)
            release = made(house)
            files.append(read_masked(release, bare(mask)(release)))
            if edition == 0:
                publish(release)
        findings = compare_publications(release)
    right, tried, few = _subtracted(population, (people, later), (cuts, bands), files)
    low = right / size
    truth = "bad" if right >= 3 and right > 0.9 * tried else "good" if right == few == 0 else "unclear"
    return Played(_SORTS[sort], truth, (low, low, low), findings)


def _write(
    house: House,
    of: Population,
    people: pd.DataFrame,
    cuts: list[int],
    policy: str,
    edition: int,
    strength: int,
    rng: Any,
) -> None:
    frame = people[["age", "sex", of.sensitive]].copy()
    roles = {"age": "quasi_identifier", "sex": "quasi_identifier", of.sensitive: "sensitive"}
    variables: list[dict[str, Any]] = []
    for name in frame:
        entry: dict[str, Any] = {"name": name, "kind": "integer" if name == "age" else "nominal", "role": roles[name]}
        if name != "age":
            entry["categories"] = [str(each) for each in of.frame[name].cat.categories]
        variables.append(entry)
    if strength > 0:
        frame["month"] = ("May", "June")[edition]
        variables.append({"name": "month", "kind": "nominal", "role": "other", "categories": ["May", "June"]})
    if strength > 1:
        frame["weight"] = rng.uniform(1, 2, len(frame)).round(4)
        variables.append({"name": "weight", "kind": "continuous", "role": "weight", "minimum": 1})
    house.contract = {
        "dataset": of.name, "version": 1, "records_are": "people", "record_key": [],
        "rows": {"minimum": 100, "maximum": 1_000_000}, "variables": variables,
    }  # fmt: skip
    house.policy = yaml.safe_load((_POLICIES / f"{policy}.yaml").read_text(encoding="utf-8"))
    house.policy["approvals"]["identity"] = "declared"
    house.definition["plan"] = [{"method": "global_recoding", "columns": ["age"], "bins": cuts}]
    house.definition["name"] = f"edition-{edition}"
    house.data = frame


def _subtracted(
    of: Population,
    people: tuple[pd.DataFrame, pd.DataFrame],
    cuts: tuple[list[int], list[int]],
    files: list[pd.DataFrame],
) -> tuple[int, int, int]:
    """Sensitive values that one file has more than the other in a class, where as many known people left it, or joined
    it, as there are values, all of which are the same: right ones, and all that were read; and how many people moved
    with fewer than `_K`."""
    moved: dict[int, list[tuple[str, str]]] = {}
    counts: list[dict[tuple[str, str], Counter[str]]] = []
    value_of: dict[int, str] = {}
    for known, edges, file in zip(people, cuts, files, strict=True):
        bands = list(file["age"].cat.categories)
        label = [str(bands[each]) for each in np.searchsorted(edges, known["age"].to_numpy("int64"), side="right")]
        for person, band, sex, value in zip(
            known[_ID], label, known["sex"].astype(str), known[of.sensitive], strict=True
        ):
            moved.setdefault(int(person), []).append((band, sex))
            value_of[int(person)] = str(value)
        count: dict[tuple[str, str], Counter[str]] = {}
        for band, sex, value in zip(*(file[name].astype(str) for name in ("age", "sex", of.sensitive)), strict=True):
            count.setdefault((band, sex), Counter())[value] += 1
        counts.append(count)
    order = [str(band) for band in files[0]["age"].cat.categories]
    if cuts[0] != cuts[1]:  # the same people, the names of whose bands are other ones
        renamed = dict(zip((str(each) for each in files[1]["age"].cat.categories), order, strict=True))
        counts[1] = {(renamed[band], sex): count for (band, sex), count in counts[1].items()}
        moved = {who: [at[0], *((renamed[band], sex) for band, sex in at[1:])] for who, at in moved.items()}
    first = {int(each) for each in people[0][_ID]}
    left: dict[tuple[str, str], list[str]] = {}
    came: dict[tuple[str, str], list[tuple[str, str] | None]] = {}
    upwards = True
    for who, places in moved.items():
        if len(places) == 2 and places[0] == places[1]:
            continue
        if who in first:
            left.setdefault(places[0], []).append(value_of[who])
        if who not in first or len(places) == 2:
            came.setdefault(places[-1], []).append(places[0] if len(places) == 2 else None)
        if len(places) == 2:
            upwards = order.index(places[0][0]) < order.index(places[1][0])
    right = tried = 0
    for sex in sorted({sex for _, sex in {*left, *came}}):
        went: Counter[str] | None = Counter()  # what those show who went on from the band before, as far as it is known
        for band in order if upwards else order[::-1]:
            key = (band, sex)
            before, after = (each.get(key, Counter()) for each in counts)
            truth, arrived = left.get(key, []), came.get(key, [])
            if None in arrived or (arrived and went is None) or len(arrived) != sum((went or Counter()).values()):
                went = None
                if arrived or not truth:
                    continue
            shown = before + (went or Counter()) if arrived else before
            values = list((shown - after).elements())
            went = Counter(values) if len(values) == len(truth) else None
            if went is not None and len(set(values)) == 1:
                tried += len(values)
                right += sum(value == values[0] for value in truth)
    together = Counter(tuple(places) for places in moved.values() if len(set(places)) == 2)
    return right, tried, sum(count for count in together.values() if count < _K)
