"""anonymeter's attacks with a control: seconds of the clock on one core, and how often each was right."""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from answering import answer

FILES = ("original", "released", "control")


def attacks(frames: dict[str, pd.DataFrame], attacks: int, **known: Any) -> dict[str, Any]:
    """known : first, second, columns and k of linkability; known and secret of inference"""
    warnings.simplefilter("ignore")
    for _, warm in _evaluators(5, {name: frame.head(50) for name, frame in frames.items()}, **known):
        warm()  # compile
    np.random.seed(0)  # noqa: NPY002 - it draws from there
    found = {}
    for name, run in _evaluators(attacks, frames, **known):
        begun = time.perf_counter()
        results = run().results()
        seconds = time.perf_counter() - begun
        found[name] = {"seconds": seconds, "right": float(results.n_success), "control": float(results.n_control)}
    return {"attacks": found}


def _evaluators(
    attacks: int,
    frames: dict[str, pd.DataFrame],
    first: list[str],
    second: list[str],
    known: list[str],
    secret: str,
    k: int,
) -> Iterator[tuple[str, Callable[[], Any]]]:
    original, released, control = (frames[name] for name in FILES)
    common = {"ori": original, "syn": released, "control": control, "n_attacks": attacks}
    link, infer = {"aux_cols": (first, second), "n_neighbors": k}, {"aux_cols": known, "secret": secret}
    yield "linkability", lambda: LinkabilityEvaluator(**common, **link).evaluate(n_jobs=1)
    yield "inference", lambda: InferenceEvaluator(**common, **infer).evaluate(n_jobs=1)
    for mode in ("univariate", "multivariate"):
        yield (
            f"singling out, {mode}",
            lambda mode=mode: SinglingOutEvaluator(n_cols=3, seed=0, **common).evaluate(mode=mode),
        )


if __name__ == "__main__":
    answer("anonymeter", {"attacks": attacks})
