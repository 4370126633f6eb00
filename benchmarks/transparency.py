"""What the attack known for each masking method reaches on a common file, as docs/methods.md says it.

    python -m benchmarks transparency

Numbers are the 12 of Census (1,080 people), categories those of 4,000 people of Adult, sets of items the 9,835 baskets
of Groceries, all known to the intruder. What is printed is each method's `attack_measured`.
"""

import json
import textwrap

from policies.standard.known_methods import pairs_of
from sluice.masking.masking_step import MaskingStep
from sluice.masking.transparency import attacks_on
from sluice.risk.transparency.attack import Leak, NoAttack
from sluice.risk.transparency.linkage import Strongest
from tests.red_team.files import CENSUS, adult, census, groceries, masked_by, step_of

PEOPLE = 4000
NUMBERS = list(CENSUS)
KEYS = ["workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country"]

STEPS: dict[str, dict[str, object]] = {
    "additive_noise": {"columns": NUMBERS, "amount": 0.1},
    "anatomization": {"columns": ["occupation"], "l": 3},
    "bottom_up_local_recoding": {"columns": NUMBERS, "k": 5},
    "data_distortion": {"columns": NUMBERS},
    "data_shuffling": {"columns": NUMBERS[:6], "given": NUMBERS[6:]},
    "data_swapping": {
        "columns": ["native_country"],
        "risk_keys": ["age", "sex"],
        "swap_rate": 0.1,
        "unmatched": "keep",
    },
    "derived": {"columns": NUMBERS[:1], "of": NUMBERS[1], "by": "linear"},
    "generalization": {"columns": KEYS, "models": [{"model": "k_anonymity", "k": 5}]},
    "global_recoding": {"columns": NUMBERS[:1], "bins": [20_000, 60_000]},
    "ipso": {"columns": NUMBERS[:3], "given": NUMBERS[6:8]},
    "item_generalization": {"columns": ["basket"], "k": 5, "m": 2},
    "item_suppression": {"columns": ["basket"], "k": 5, "m": 2},
    "k_member_clustering": {"columns": NUMBERS, "k": 5},
    "k_nearest_clustering": {"columns": NUMBERS, "k": 5},
    "local_suppression": {"columns": KEYS, "k": 5},
    "lossy_compression": {"columns": NUMBERS, "quality": 80},
    "matrix_decomposition": {"columns": NUMBERS, "rank": 2},
    "microaggregation": {"columns": NUMBERS, "k": 5},
    "mondrian": {"columns": NUMBERS, "k": 5},
    "multiple_imputation": {"columns": ["AGI", "EMCONTRB", "FEDTAX", "STATETAX", "INTVAL"], "share": 0.5},
    "one_pass_k_means": {"columns": NUMBERS, "k": 5},
    "permutation": {"columns": NUMBERS[:6]},
    "pram": {"columns": KEYS, "retention": 0.8},
    "projected_microaggregation": {"columns": NUMBERS, "k": 5},
    "random_orthogonal_matrix": {"columns": NUMBERS, "strength": 0.5},
    "random_rounding": {"columns": NUMBERS, "base": 10_000},
    "rank_swapping": {"columns": NUMBERS, "window": 0.1},
    "recursive_histogram_sanitization": {"columns": NUMBERS[:2], "k": 5, "small_cells": "whole"},
    "removal": {"columns": NUMBERS[:1]},
    "resampling": {"columns": NUMBERS, "samples": 5},
    "rounding": {"columns": NUMBERS, "base": 10_000},
    "sampling": {"fraction": 0.5},
    "sequential_trees": {"columns": [*KEYS, "age", "hours_per_week"]},
    "spectral_histogram_sanitization": {"columns": NUMBERS, "k": 5},
    "spectral_swapping": {"columns": NUMBERS},
    "top_bottom_coding": {"columns": NUMBERS, "top": {"quantile": 0.95}},
    "univariate_microaggregation": {"columns": NUMBERS, "k": 5},
}


def main(quick: bool = False) -> None:
    for method in ("rank_swapping", "additive_noise", "pram") if quick else STEPS:
        print(f"# {method}\n    attack_measured: ClassVar[str] = (")
        for line in textwrap.wrap(measured(method), 110, drop_whitespace=False):
            print(f"        {json.dumps(line)}")
        print("    )", flush=True)


def measured(method: str) -> str:
    """What a release of the step would find of it, in one sentence."""
    step = STEPS[method]
    first = step_of({"method": method, **step}).attacks()[0]
    if isinstance(first, NoAttack):
        return f"No attack of its own: {first.reason}."
    names = set(step["columns"])  # type: ignore[call-overload]
    file = "Groceries" if "basket" in names else "Census" if set(NUMBERS) & names else "Adult"
    data = {"Groceries": groceries, "Census": census, "Adult": lambda: adult(PEOPLE)}[file]()
    files = masked_by(data, [{"method": method, **step}])
    pairs = pairs_of(files, PEOPLE)
    attacks = attacks_on(files.carried_out or (), files.variables, files.released)
    reached = "; ".join(_reached(leak) for each in attacks for leak in each.attack.play(pairs))
    (fitted,) = (each for each in files.carried_out or () if isinstance(each, MaskingStep))
    attack = fitted.attacks()[0]
    about = ((attack.choices[0] if isinstance(attack, Strongest) else attack).__doc__ or "").splitlines()[0]
    return f"{about} On {_file(file, step)}: {reached}."


def _reached(leak: Leak) -> str:
    share, baseline = (f"{100 * each:.0f} %" for each in (leak.measured.value, leak.measured.baseline or 0.0))
    return {
        "identified": f"{share} found",
        "confident": f"{share} surely found",
        "reconstructed": f"{share} of the values computed, {baseline} without",
        "participation": f"{share} more right of those who took part than of others, {leak.says}",
    }[leak.kind]


def _file(file: str, step: dict[str, object]) -> str:
    """The file and the setting."""
    number = len(step["columns"])  # type: ignore[arg-type]
    some = {True: "1 variable", False: f"{number} variables"}[number == 1]
    setting = ", ".join(f"{key}: {value}" for key, value in step.items() if isinstance(value, int | float))
    return f"{some} of {file}{f' ({setting})' if setting else ''}"


if __name__ == "__main__":
    main()
