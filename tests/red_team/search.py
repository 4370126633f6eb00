"""A random search for a plan that the gate lets pass although an attack works: `python -m tests.red_team.search`.

Plans are drawn from all methods and their parameters, in any order, in strata, by household; one that passes and on
which attacks come nearest to the policy's limits is varied further, and so is one of which the gate says much less than
the attacks. What is found is printed as YAML with what the attacks reach. Nothing found is no proof, but the longer the
better.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import yaml

from policies.policy import Policy, load_policy
from sluice.ground.errors import SluiceError
from sluice.ground.variables import Kind, Role, with_role
from sluice.ground.verdict import Verdict, decide
from sluice.masking.plan import apply_recodings
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import ATTACKS
from tests.red_team.battery import battery, beyond, figures, limits
from tests.red_team.case import judge
from tests.red_team.files import Data, adult, census, masked_by
from tests.red_team.reach import Reaches

Plan = list[dict[str, Any]]

LIMITS = dict.fromkeys(ATTACKS, 0.12) | {
    "learned, and sure of it": 0.03,
    "stands out": 0.03,
}  # share of the people, by hundreds of them
_MOST_STEPS = 4
_KEPT = 8  # plans that are varied
_POLICIES = Path(__file__).parents[2] / "policies"


def numeric_step(rng: np.random.Generator, columns: list[str], data: Data) -> dict[str, Any]:
    """A step for numbers, weak or strong, with the settings that one could publish."""
    share, whole = float(rng.uniform()), int(rng.integers(2, 30))
    spread = float(f"{max(1e-9, float(data[0][columns[0]].std())) * 10 ** (2 * share - 1.5):.2g}")
    steps: list[dict[str, Any]] = [
        {"method": "rank_swapping", "window": round(0.02 + 0.6 * share, 3)},
        {"method": "rank_swapping", "variant": "p_distribution", "window": round(0.05 + 0.9 * share, 3)},
        {"method": "rank_swapping", "variant": "p_buckets", "buckets": whole},
        {"method": "additive_noise", "amount": round(10 ** (4 * share - 3), 5)},
        {"method": "additive_noise", "kind": "correlated", "amount": round(10 ** (4 * share - 3), 5)},
        {"method": "additive_noise", "kind": "spectral", "amount": round(10 ** (4 * share - 3), 5)},
        {"method": "microaggregation", "k": whole},
        {"method": "univariate_microaggregation", "k": whole},
        {"method": "projected_microaggregation", "k": whole},
        {"method": "mondrian", "k": whole},
        {"method": "one_pass_k_means", "k": whole},
        {"method": "recursive_histogram_sanitization", "k": whole, "small_cells": "whole"},
        {"method": "spectral_histogram_sanitization", "k": whole},
        {"method": "permutation", "jointly": False},
        {"method": "permutation", "jointly": True},
        {"method": "data_swapping", "swap_rate": round(0.05 + 0.95 * share, 3), "unmatched": "keep"},
        {"method": "spectral_swapping"},
        {"method": "data_shuffling"},
        {"method": "data_distortion"},
        {"method": "resampling", "samples": 1 + whole // 3},
        {"method": "multiple_imputation", "share": round(0.3 + 0.7 * share, 3)},
        {"method": "sequential_trees", "minimum_leaf": whole},
        {"method": "matrix_decomposition", "rank": max(1, min(len(columns) - 1, whole % 8))},
        {"method": "random_orthogonal_matrix", "strength": round(0.01 + share, 3)},
        {"method": "lossy_compression", "quality": int(1 + 90 * share)},
        {"method": "top_bottom_coding", "top": {"quantile": round(0.7 + 0.29 * share, 3)}},
        {"method": "global_recoding", "quantiles": whole},
        {"method": "rounding", "base": spread},
        {"method": "random_rounding", "base": spread},
    ]
    return steps[rng.integers(len(steps))] | {"columns": columns}


def categorical_step(rng: np.random.Generator, columns: list[str]) -> dict[str, Any]:
    share = float(rng.uniform())
    steps: list[dict[str, Any]] = [
        {"method": "pram", "retention": round(0.05 + 0.9 * share, 3)},
        {"method": "pram", "retention": round(0.05 + 0.9 * share, 3), "invariant": True},
        {"method": "permutation", "jointly": bool(share > 0.5)},
        {"method": "sequential_trees", "minimum_leaf": int(1 + 40 * share)},
        {"method": "local_suppression", "k": int(2 + 40 * share)},
        {"method": "k_nearest_clustering", "k": int(2 + 40 * share)},
        {"method": "mondrian", "k": int(2 + 40 * share), "representative": "generalised", "bounds": "region"},
        {"method": "anatomization", "l": 2 + int(3 * share)},
        {"method": "removal"},
    ]
    return steps[rng.integers(len(steps))] | {"columns": columns}


def drawn(rng: np.random.Generator, data: Data) -> Plan:
    """One to four steps on random columns, each on its own or, one time in three, on any; half of the time on all.

    One step in eight is taken in strata of a category, or by household where there are any.
    """
    frame, variables = data
    together = with_role(variables, Role.HOUSEHOLD)
    left = [str(name) for name in rng.permutation([name for name in frame if name not in together])]
    plan: Plan = []
    for _ in range(rng.integers(1, _MOST_STEPS + 1)):
        if not left:
            break
        count = int(rng.integers(1, len(left) + 1))
        chosen, left = left[:count], left[count:]
        if rng.uniform() < 1 / 3:  # steps one after another on the same columns
            chosen = [str(name) for name in rng.permutation(list(frame))[: max(2, count)] if name not in together]
        numbers = [name for name in chosen if variables[name].kind.is_numeric]
        categories = [name for name in chosen if variables[name].kind.is_categorical]
        steps = [numeric_step(rng, numbers, data)] if numbers else []
        steps += [categorical_step(rng, categories)] if categories else []
        plan += [_parted(rng, step, data) for step in steps]
    if left and plan and rng.uniform() < 0.5:
        kind = variables[plan[-1]["columns"][0]].kind.is_numeric
        more = [n for n in left if variables[n].kind.is_numeric is kind]
        plan[-1]["columns"] += [name for name in more if name not in plan[-1]["columns"]]
    return plan + ([{"method": "removal", "columns": together}] if together else [])


def _parted(rng: np.random.Generator, step: dict[str, Any], data: Data) -> dict[str, Any]:
    """The same step, or in strata, or by household."""
    frame, variables = data
    if rng.uniform() > 1 / 8:
        return step
    if with_role(variables, Role.HOUSEHOLD) and rng.uniform() < 0.5:
        return step | {"unit": "household"}
    few = [n for n in frame if n not in step["columns"] and variables[n].kind.is_categorical and frame[n].nunique() < 9]
    return step | ({"strata": [str(rng.choice(few))]} if few else {})


def varied(rng: np.random.Generator, plan: Plan, data: Data) -> Plan:
    """The plan with one step drawn anew, weakened by a fifth, or in another place."""
    changed = [dict(step) for step in plan]
    at = int(rng.integers(len(changed)))
    columns = changed[at]["columns"]
    if rng.uniform() < 0.15:
        return [changed[place] for place in rng.permutation(len(changed))]
    for name, weaker in _WEAKER.items():
        if name in changed[at] and rng.uniform() < 0.6:
            changed[at][name] = weaker(changed[at][name])
            return changed
    kind = data[1][columns[0]].kind
    if kind in (Kind.CONTINUOUS, Kind.INTEGER):
        changed[at] = numeric_step(rng, columns, data)
    elif kind.is_categorical:
        changed[at] = categorical_step(rng, columns)
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
    "quantiles": lambda v: int(1.3 * v) + 1,
    "base": lambda v: float(f"{0.7 * v:.2g}"),
}


@dataclass
class Found:
    """What a search came to: plans judged and passed, those beyond a limit, and the widest gap between two figures."""

    judged: int = 0
    passed: int = 0
    texts: list[str] = field(default_factory=list)
    widest: tuple[float, str] = (0.0, "")


def near(policy: Policy, reaches: Reaches) -> tuple[float, str]:
    """The aim that comes nearest to its limit, by the least that the attacks surely reach: above 1 it is beyond."""
    asked = {aim: limit for aim, limit in limits(policy).items() if aim in reaches and aim != "copies"}
    return max(((reaches[aim].interval[0] / limit, aim) for aim, limit in asked.items() if limit), default=(0.0, ""))


def search(
    data: Data, policy: Policy, seconds: float, seed: int, unit: str | None = None, others: pd.DataFrame | None = None
) -> Found:
    """Plans drawn and varied for so many CPU seconds.

    unit   : the variable of role household, by which records belong together
    others : people who are set aside, under a policy that asks for them; rows are then nobody's
    """
    rng, end, found = np.random.default_rng(seed), process_time() + seconds, Found()
    best: list[tuple[float, Plan]] = []
    while process_time() < end:
        plan = varied(rng, best[int(rng.integers(len(best)))][1], data) if best and rng.uniform() < 0.5 else None
        plan = plan or drawn(rng, data)
        try:
            files = masked_by(data, plan, int(rng.integers(1 << 30)), holdout=None)
            judged = files if others is None else _without_pairs(files, others, rng)
            findings = list(judge(judged, policy))
        except (SluiceError, ValueError, KeyError):
            continue  # a plan that is refused
        found.judged += 1
        verdict = decide(findings)
        if verdict is not Verdict.PASS and rng.uniform() > 0.2:
            continue
        try:
            reaches = battery(files, _known(policy), found.judged, unit)
        except (ValueError, np.linalg.LinAlgError, IndexError):
            continue  # nothing that could be learned from is left
        text = yaml.safe_dump(plan, default_flow_style=True, width=100)
        for aim, figure in figures(findings).items():
            gap = reaches[aim].interval[0] - figure if aim in reaches else 0.0
            if gap > found.widest[0]:
                found.widest = (
                    gap,
                    f"{aim}: {figure:.1%} says the gate, at least {gap + figure:.1%} the attacks\n{text}",
                )
        if verdict is not Verdict.PASS:
            continue
        found.passed += 1
        share, aim = near(policy, reaches)
        best = sorted([*best, (share, plan)], key=lambda each: -each[0])[:_KEPT]
        if beyond(policy, reaches):
            found.texts.append(f"{aim}: {reaches[aim].share:.1%}, {share:.1f} times its limit\n{text}")
            print(found.texts[-1], flush=True)
    return found


def _without_pairs(files: Comparison, others: pd.DataFrame, rng: np.random.Generator) -> Comparison:
    """As a file that is called synthetic is judged."""
    recoded = others if files.carried_out is None else apply_recodings(files.carried_out, others, files.variables)
    masked = files.masked.iloc[rng.permutation(len(files.masked))].reset_index(drop=True)
    return replace(files, masked=masked, holdout=others, recoded_holdout=recoded, paired=False, blocks=())


def _known(policy: Policy) -> list[int]:
    standard = policy.reference_standard
    return sorted(
        {each.knows.any for each in standard.intruders if not isinstance(each.knows, str)} if standard else {5}
    )


def _data(name: str, people: int) -> tuple[Data, str | None, pd.DataFrame]:
    """A population of the certificate, with its roles, who belongs together, and other people."""
    from benchmarks.gate_releases import POPULATIONS  # which is made of what stands beside this

    if name in _FILES:
        frame, variables = _FILES[name]()
        mine = frame.sample(min(people, len(frame)), random_state=1)
        return (mine.reset_index(drop=True), variables), None, frame.drop(mine.index).reset_index(drop=True)
    of = POPULATIONS[name]()
    mine, others = of.drawn(min(people, len(of.frame) * 4 // 5), 1)
    keys = [*of.core, *of.categories] or list(of.numbers)
    return (mine, of.variables(mine, keys)), of.unit, others.head(max(1_000, len(mine) // 4))


_FILES: Mapping[str, Callable[[], Data]] = {"census": census, "adult-contract": lambda: adult(12_000)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="of the processor, for each policy and population")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", nargs="+", default=["nhanes"], help="populations of benchmarks/gate_releases.py")
    parser.add_argument("--people", type=int, default=1_500)
    parser.add_argument("--policy", nargs="+", default=["perturbed-file"])
    given = parser.parse_args()
    for name, policy in _each(given.data, given.policy):
        data, unit, others = _data(name, given.people)
        asked = load_policy(_POLICIES / f"{policy}.yaml")
        aside = others if asked.reference_standard and asked.reference_standard.holdout_share else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = search(data, asked, 60 * given.minutes, given.seed, unit, aside)
        print(
            f"{name}, {policy}: {found.judged} plans judged, {found.passed} passed, {len(found.texts)} of these with "
            f"an attack beyond its limit; the widest gap is {found.widest[0]:.1%}: {found.widest[1]}",
            flush=True,
        )


def _each(data: list[str], policies: list[str]) -> Iterator[tuple[str, str]]:
    return ((name, policy) for name in data for policy in policies)


if __name__ == "__main__":
    main()
