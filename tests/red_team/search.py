"""A random search for a plan that the gate lets pass although an attack works: `python -m tests.red_team.search`.

Plans are drawn from the methods' parameters; one that passes and on which an attack reaches most is varied further.
What is found is printed as YAML with what the attacks reach. Nothing found is no proof, but the longer the better.
"""

import argparse
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import yaml

from sluice.ground.errors import SluiceError
from sluice.ground.variables import Kind
from sluice.ground.verdict import Verdict, decide
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import ATTACKS
from tests.red_team.case import judge
from tests.red_team.files import Data, adult, census, masked_by

Plan = list[dict[str, Any]]

LIMITS = dict.fromkeys(ATTACKS, 0.12) | {"learned, and sure of it": 0.03}  # share of the people, by hundreds of them
_MOST_STEPS = 4


def numeric_step(rng: np.random.Generator, columns: list[str]) -> dict[str, Any]:
    """A step for numbers, weak or strong, with the settings that one could publish."""
    share, whole = float(rng.uniform()), int(rng.integers(2, 30))
    steps: list[dict[str, Any]] = [
        {"method": "rank_swapping", "window": round(0.02 + 0.6 * share, 3)},
        {"method": "rank_swapping", "variant": "p_distribution", "window": round(0.05 + 0.9 * share, 3)},
        {"method": "rank_swapping", "variant": "p_buckets", "buckets": whole},
        {"method": "additive_noise", "amount": round(10 ** (4 * share - 3), 5)},
        {"method": "additive_noise", "kind": "correlated", "amount": round(10 ** (4 * share - 3), 5)},
        {"method": "microaggregation", "k": whole},
        {"method": "univariate_microaggregation", "k": whole},
        {"method": "projected_microaggregation", "k": whole},
        {"method": "permutation"},
        {"method": "permutation", "jointly": True},
        {"method": "data_swapping", "swap_rate": round(0.05 + 0.95 * share, 3), "unmatched": "keep"},
        {"method": "spectral_swapping"},
        {"method": "data_shuffling"},
        {"method": "multiple_imputation", "share": round(0.3 + 0.7 * share, 3)},
        {"method": "sequential_trees", "minimum_leaf": whole},
        {"method": "matrix_decomposition", "rank": max(1, min(len(columns) - 1, whole % 8))},
        {"method": "random_orthogonal_matrix", "strength": round(0.01 + share, 3)},
        {"method": "lossy_compression", "quality": int(1 + 90 * share)},
        {"method": "top_bottom_coding", "top": {"quantile": round(0.7 + 0.29 * share, 3)}},
    ]
    return steps[rng.integers(len(steps))] | {"columns": columns}


def categorical_step(rng: np.random.Generator, columns: list[str]) -> dict[str, Any]:
    share = float(rng.uniform())
    steps: list[dict[str, Any]] = [
        {"method": "pram", "retention": round(0.05 + 0.9 * share, 3)},
        {"method": "pram", "retention": round(0.05 + 0.9 * share, 3), "invariant": True},
        {"method": "permutation"},
        {"method": "sequential_trees", "minimum_leaf": int(1 + 40 * share)},
        {"method": "local_suppression", "k": int(2 + 40 * share)},
        {"method": "removal"},
    ]
    return steps[rng.integers(len(steps))] | {"columns": columns}


def drawn(rng: np.random.Generator, data: Data) -> Plan:
    """One to four steps on random columns, each on its own or, one time in three, on any; half of the time on all."""
    frame, variables = data
    left = [str(name) for name in rng.permutation(list(frame))]
    plan: Plan = []
    for _ in range(rng.integers(1, _MOST_STEPS + 1)):
        if not left:
            break
        count = int(rng.integers(1, len(left) + 1))
        chosen, left = left[:count], left[count:]
        if rng.uniform() < 1 / 3:  # steps one after another on the same columns
            chosen = [str(name) for name in rng.permutation(list(frame))[: max(2, count)]]
        numbers = [name for name in chosen if variables[name].kind.is_numeric]
        categories = [name for name in chosen if variables[name].kind.is_categorical]
        plan += [numeric_step(rng, numbers)] if numbers else []
        plan += [categorical_step(rng, categories)] if categories else []
    if left and rng.uniform() < 0.5:
        more = [n for n in left if variables[n].kind is variables[plan[-1]["columns"][0]].kind]
        plan[-1]["columns"] += [name for name in more if name not in plan[-1]["columns"]]
    return plan


def varied(rng: np.random.Generator, plan: Plan, data: Data) -> Plan:
    """The plan with one step drawn anew, or weakened by a fifth."""
    changed = [dict(step) for step in plan]
    at = int(rng.integers(len(changed)))
    columns = changed[at]["columns"]
    for name, weaker in _WEAKER.items():
        if name in changed[at] and rng.uniform() < 0.6:
            changed[at][name] = weaker(changed[at][name])
            return changed
    is_number = data[1][columns[0]].kind in (Kind.CONTINUOUS, Kind.INTEGER)
    changed[at] = (numeric_step if is_number else categorical_step)(rng, columns)
    return changed


_WEAKER: dict[str, Callable[[Any], Any]] = {
    "window": lambda v: round(0.8 * v, 4),
    "amount": lambda v: round(0.7 * v, 6),
    "share": lambda v: round(max(0.05, 0.85 * v), 3),
    "retention": lambda v: round(1 - 0.8 * (1 - v), 3),
    "k": lambda v: max(2, int(0.8 * v)),
    "minimum_leaf": lambda v: max(1, int(0.8 * v)),
    "strength": lambda v: round(0.8 * v, 4),
    "quality": lambda v: min(95, v + 5),
}


def reached(files: Comparison) -> dict[str, float]:
    """What each attack reaches, in shares of its limit: above 1 the gate should have stopped the file."""
    return {name: attack(files) / LIMITS[name] for name, attack in ATTACKS.items()}


def search(data: Data, policy: str, seconds: float, seed: int, roles: bool = False) -> tuple[int, int, list[str]]:
    """Plans judged, plans that passed, and what was found, as texts."""
    rng, end = np.random.default_rng(seed), monotonic() + seconds
    judged, passed, found = 0, 0, []
    best: list[tuple[float, Plan]] = []
    while monotonic() < end:
        plan = varied(rng, best[int(rng.integers(len(best)))][1], data) if best and rng.uniform() < 0.5 else None
        plan = plan or drawn(rng, data)
        try:
            files = masked_by(data, plan, int(rng.integers(1 << 30)), holdout=None)
            findings = list(judge(files, policy))
        except (SluiceError, ValueError):
            continue  # a plan that is refused
        judged += 1
        if decide(findings) is not Verdict.PASS:
            continue
        passed += 1
        reaches = reached(files)
        worst = max(reaches, key=lambda name: reaches[name])
        best = sorted([*best, (reaches[worst], plan)], key=lambda each: -each[0])[:8]
        if reaches[worst] > 1:
            text = yaml.safe_dump(plan, default_flow_style=True, width=100)
            found.append(f"{worst}: {reaches[worst] * LIMITS[worst]:.1%}\n{text}")
            print(found[-1], flush=True)
    return judged, passed, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", choices=["census", "adult"], default="census")
    parser.add_argument("--policy", default="perturbed-file")
    given = parser.parse_args()
    data = census() if given.data == "census" else adult(3_000)
    judged, passed, found = search(data, given.policy, 60 * given.minutes, given.seed)
    print(f"{judged} plans judged, {passed} passed, {len(found)} of these with an attack beyond its limit")


if __name__ == "__main__":
    main()
