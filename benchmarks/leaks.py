"""What each masking method leaks: every attack of the reference standard on every method, at three strengths.

A file holds the variables that the method masks, and no others: what stays verbatim would be found by itself. Numbers
are masked by the methods for numbers, categories by those for categories, all by those that take both.
`benchmarks/leaks.md` is what `python -m benchmarks leaks` printed; `python -m benchmarks.leaks Adult ipso pram` prints
some rows of it.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from policies.standard.copied_values import judge_unique_values
from policies.standard.known_methods import judge_transparency
from policies.standard.learning_intruders import judge_learned_linkage, learned_intruder
from policies.standard.nearest_records import judge_reidentification
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import judge_reference_standard
from sluice.ground.errors import SluiceError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tests.red_team.files import Data, adult, census, diabetes, masked_by

Step = dict[str, Any]

NUMBERS: dict[str, list[Step]] = {
    "additive_noise": [{"amount": a} for a in (0.01, 0.1, 1)],
    "additive_noise, correlated": [{"kind": "correlated", "amount": a} for a in (0.01, 0.1, 1)],
    "additive_noise, spectral": [{"kind": "spectral", "amount": a} for a in (0.01, 0.1, 1)],
    "matrix_decomposition": [{"rank": r} for r in (4, 2, 1)],
    "random_orthogonal_matrix": [{"strength": s} for s in (0.05, 0.2, 0.5)],
    "lossy_compression": [{"quality": q} for q in (90, 60, 20)],
    "rank_swapping": [{"window": w} for w in (0.05, 0.15, 0.5)],
    "rank_swapping, p_distribution": [{"variant": "p_distribution", "window": w} for w in (0.05, 0.15, 0.5)],
    "rank_swapping, p_buckets": [{"variant": "p_buckets", "buckets": b} for b in (40, 15, 4)],
    "univariate_microaggregation": [{"k": k} for k in (5, 25, 100)],
    "projected_microaggregation": [{"k": k} for k in (5, 25, 100)],
    "multiple_imputation": [{"share": s} for s in (0.3, 0.6, 1.0)],
    "ipso": [{"given": g} for g in (3, 2, 1)],
    "recursive_histogram_sanitization": [{"k": k, "small_cells": "whole"} for k in (5, 25, 100)],
    "resampling": [{"samples": s} for s in (1, 3, 10)],
    "rounding": [{"share": s} for s in (0.01, 0.1, 1)],
    "random_rounding": [{"share": s} for s in (0.01, 0.1, 1)],
    "global_recoding": [{"groups": g} for g in (50, 10, 3)],
    "data_shuffling": [{}],
    "data_distortion": [{}],
    "top_bottom_coding": [
        {"bottom": {"quantile": 1 - q}, "top": {"quantile": q}} for q in (0.99, 0.9, 0.7)
    ],
}  # fmt: skip
CATEGORIES: dict[str, list[Step]] = {
    "pram": [{"retention": r} for r in (0.95, 0.8, 0.5)],
    "pram, invariant": [{"retention": r, "invariant": True} for r in (0.95, 0.8, 0.5)],
    "local_suppression": [{"k": k} for k in (3, 10, 50)],
    "data_swapping": [{"swap_rate": r, "k": 3, "unit": "record", "unmatched": "keep"} for r in (0.05, 0.2, 0.5)],
    "anatomization": [{"l": n} for n in (2, 3, 5)],
}
BOTH: dict[str, list[Step]] = {
    "as they are": [{}],
    "sampling": [{"fraction": f} for f in (0.9, 0.5, 0.1)],
    "microaggregation": [{"k": k} for k in (3, 10, 50)],
    "k_member_clustering": [{"k": k} for k in (3, 10, 50)],
    "k_nearest_clustering": [{"k": k} for k in (3, 10, 50)],
    "one_pass_k_means": [{"k": k} for k in (3, 10, 50)],
    "bottom_up_local_recoding": [{"k": k} for k in (3, 10, 50)],
    "mondrian": [{"k": k} for k in (3, 10, 50)],
    "mondrian, regions": [{"k": k, "representative": "generalised", "bounds": "region"} for k in (3, 10, 50)],
    "spectral_histogram_sanitization": [{"k": k} for k in (3, 10, 50)],
    "spectral_swapping": [{}],
    "permutation": [{}],
    "sequential_trees": [{"minimum_leaf": leaf} for leaf in (2, 10, 50)],
}
PEOPLE = 4_000


@dataclass(frozen=True)
class Row:
    """What was reached on one file; None where it could not be measured."""

    method: str
    strength: str
    fixed: float | None
    learned: float | None
    sure: float | None
    method_known: float | None
    others: str


def complete(data: Data, kinds: tuple[Kind, ...]) -> Data:
    """The variables of these kinds without the records that lack a value; all of them quasi-identifiers."""
    frame, variables = data
    chosen: dict[str, Variable] = {
        name: variable.model_copy(update={"role": Role.QUASI_IDENTIFIER})
        for name, variable in variables.items()
        if variable.kind in kinds and len(frame[name].unique()) > 1 and frame[name].isna().mean() < 0.1
    }
    kept = frame[list(chosen)].dropna().head(PEOPLE).reset_index(drop=True)
    return kept, {n: v for n, v in chosen.items() if len(kept[n].unique()) > 1}


def masked(data: Data, method: str, step: Step) -> Comparison:
    """All variables of the file masked by the method; what it cannot mask leaves the file."""
    frame, variables = data
    name, names = method.split(",")[0], list(variables)
    if name == "as they are":
        return masked_by(data, [])
    if name in ("rounding", "random_rounding", "global_recoding"):  # by the scale of each variable
        steps = {each: {"method": name, **_scaled(frame[each], step)} for each in names}
        parted = [each for each, plan in steps.items() if plan.get("bins") != []]
        return masked_by(_some(data, parted), [steps[each] for each in parted])
    if name == "top_bottom_coding":
        coded = [each for each in names if _accepted(_some(data, [each]), {"method": name, "columns": [each], **step})]
        return masked_by(_some(data, coded), [{"method": name, "columns": coded, **step}])
    if name == "multiple_imputation" and not _accepted(data, {"method": name, "columns": names, **step}):
        # One variable is the sum of others.
        fewer = [[each for each in names if each != out] for out in names]
        names = next(kept for kept in fewer if _accepted(_some(data, kept), {"method": name, "columns": kept, **step}))
        return masked_by(_some(data, names), [{"method": name, "columns": names, **step}])
    if name == "ipso":  # drawn from variables that are not released
        given = names[: step["given"]]
        plan = [{"method": name, "columns": names[step["given"] :], "given": given}]
        return masked_by(data, [*plan, {"method": "removal", "columns": given}])
    if name == "data_swapping":
        return masked_by(data, [{"method": name, "columns": names[2:], "risk_keys": names[:2], **step}])
    if name == "sequential_trees":  # which takes no more categories
        few = [each for each in names if not variables[each].kind.is_categorical or frame[each].nunique() <= 200]
        return masked_by(_some(data, few), [{"method": name, "columns": few, **step}])
    if name == "anatomization":
        return masked_by(
            data, [{"method": name, "columns": [max(names, key=lambda each: _evenness(frame[each]))], **step}]
        )
    columns = {} if name == "sampling" else {"columns": names}
    return masked_by(data, [{"method": name, **columns, **step}])


def _some(data: Data, names: list[str]) -> Data:
    return data[0][names], {name: data[1][name] for name in names}


def _accepted(data: Data, step: Step) -> bool:
    try:
        masked_by(data, [step])
    except SluiceError:
        return False
    return True


def _evenness(column: "pd.Series[Any]") -> float:
    """How rare the commonest value is: groups with l values each need that."""
    return 1 - float(column.value_counts(normalize=True).max())


def _scaled(column: "pd.Series[Any]", step: Step) -> Step:
    """Rounding to a share of the standard deviation, or groups that hold as many records each."""
    values, name = column.to_numpy(float), str(column.name)
    if "share" in step:
        return {"columns": [name], "base": float(f"{step['share'] * values.std():.2g}")}
    bins = np.unique(np.quantile(values, np.linspace(0, 1, step["groups"] + 1)[1:-1]))
    if (values == np.floor(values)).all():
        bins = np.unique(np.floor(bins))
    return {"columns": [name], "bins": [float(each) for each in bins[(bins > values.min()) & (bins < values.max())]]}


def played(files: Comparison) -> dict[str, Finding]:
    """The worst finding of every rule of the reference standard."""
    standard = ReferenceStandard()
    findings = [*judge_reference_standard(standard, files)[0], judge_reidentification(standard, files)]
    for view in (files, *(files.of_block(block) for block in files.blocks)):
        intruder = learned_intruder(view, standard.learned.people)
        findings += judge_learned_linkage(standard.learned, standard.margin, view, intruder)
    findings.append(judge_unique_values(standard, files))
    findings += judge_transparency(standard.transparency, files)
    worst: dict[str, Finding] = {}
    for each in findings:
        if each.observed is not None and (each.rule not in worst or each.observed > (worst[each.rule].observed or 0)):
            worst[each.rule] = each
    return worst


def rows(data: dict[str, Data], quick: bool, only: Sequence[str] = ()) -> Iterator[tuple[str, Row]]:
    for name, each in data.items():
        numbers = complete(each, (Kind.CONTINUOUS, Kind.INTEGER))
        categories = complete(each, (Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY))
        both = complete(each, (Kind.CONTINUOUS, Kind.INTEGER, Kind.NOMINAL, Kind.ORDINAL, Kind.BINARY))
        for methods, file in ((NUMBERS, numbers), (CATEGORIES, categories), (BOTH, both)):
            if len(file[1]) < 2:
                continue
            for method, steps in methods.items():
                if only and method not in only:
                    continue
                for step in steps[:1] if quick else steps:
                    strength = _strength(step)
                    try:
                        found = played(masked(file, method, step))
                    except (SluiceError, ValueError) as error:
                        yield name, Row(method, strength, None, None, None, None, f"refused: {str(error)[:60]}")
                        continue
                    others = [
                        r for r, f in found.items() if f.verdict is Verdict.FAIL and f.binding and r not in _SHOWN
                    ]
                    figures = (found[r].observed if r in found else None for r in _SHOWN)
                    yield name, Row(method, strength, *figures, ", ".join(sorted(others)))


def _strength(step: Step) -> str:
    """The setting that makes it strong; for the others the method's name says enough."""
    if "top" in step:
        return f"beyond {step['top']['quantile']:.0%}"
    if "given" in step:
        return f"given {step['given']} others"
    numbers = [str(value) for value in step.values() if not isinstance(value, bool | str)]
    return numbers[0] if numbers else "-"


_SHOWN = ("reidentification", "learned_linkage", "learned_claims", "transparency")


def main(quick: bool = False, only: str | None = None, methods: Sequence[str] = ()) -> None:
    makers = {"Census": census, "Adult": lambda: adult(6_000), "Diabetes": diabetes}
    data = {name: make() for name, make in makers.items() if only in (None, name)}
    now = ""
    for name, row in rows(data, quick, methods):
        if name != now:
            now = name
            print(f"\n### {name}\n\n| method | strength | nearest | learned | surely | method known | also failed |")
            print("|---|---|---|---|---|---|---|", flush=True)
        shares = [
            "-" if each is None else f"{100 * each:.1f} %"
            for each in (row.fixed, row.learned, row.sure, row.method_known)
        ]
        print(f"| {row.method} | {row.strength} | {' | '.join(shares)} | {row.others} |", flush=True)


if __name__ == "__main__":
    main(only=sys.argv[1] if len(sys.argv) > 1 else None, methods=sys.argv[2:])
