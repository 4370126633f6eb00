"""Attacks with a control on Adult: linkability, inference and singling out, beside anonymeter.

anonymeter runs in a process of its own (`make peers`), on the same records in the same minute; both on one core,
reading and compiling not counted. Without it only Sluice is timed.
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.peers.peer import ask, version_of
from sluice.ground.variables import Variable
from sluice.risk.attacks.attack_success import Attacked, ControlledAttack
from sluice.risk.attacks.inference import inference
from sluice.risk.attacks.linkability import linkability
from sluice.risk.attacks.membership import membership
from sluice.risk.attacks.singling_out import singling_out
from tests.reference_data import REFERENCE_DATA, adult_columns
from tests.typed_frame import typed_frame

NAMES = adult_columns()
FIRST = ["age", "education_num", "race", "hours_per_week"]
SECOND = ["fnlwgt", "occupation", "sex", "relationship"]
KNOWN = ["age", "fnlwgt", "education_num", "race", "sex", "marital_status"]
SECRET = "occupation"
K = 5


def files(size: int) -> tuple[list[pd.DataFrame], dict[str, Variable]]:
    """Original, released and control, of `size` people each; three in ten released records are originals."""
    adult = pd.read_csv(REFERENCE_DATA / "adult" / "adult.data.gz", names=NAMES, skipinitialspace=True)
    adult = adult.drop_duplicates(ignore_index=True)
    typed, variables = typed_frame(adult)
    copied = int(0.3 * size)
    original, control, others = typed.iloc[:size], typed.iloc[size : 2 * size], typed.iloc[2 * size : 3 * size - copied]
    return [original, pd.concat([original.iloc[:copied], others]), control], variables


def main(quick: bool = False) -> None:
    size, attacks = (2_000, 500) if quick else (10_000, 2_000)
    data, variables = files(size)
    rng = np.random.default_rng

    def runs(original: pd.DataFrame, released: pd.DataFrame, control: pd.DataFrame, attacks: int) -> list[Attack]:
        data = (original, released, control, variables)
        return [
            ("linkability", lambda: linkability(*data, FIRST, SECOND, K, attacks, rng(0))),
            ("inference", lambda: inference(*data, KNOWN, SECRET, 0.05, attacks, rng(0))),
            ("singling out, univariate", lambda: singling_out(*data, NAMES, "univariate", 1, attacks, rng(0))),
            ("singling out, multivariate", lambda: singling_out(*data, NAMES, "multivariate", 3, attacks, rng(0))),
        ]

    for _, run in runs(*(frame.head(50) for frame in data), 5):
        run()  # compile, or load the compiled kernels
    membership(Attacked(*(frame.head(50) for frame in data), variables, NAMES, 5, rng(0)))
    peer = _peer(data, attacks)
    print(f"{size:,} people in the file, in the control and in the release; {attacks:,} attacks on each")
    print(
        f"{'':27} {'seconds':>8} {'right':>7} {'control':>8} {'risk':>6}   anonymeter: the same, and its time to ours"
    )
    for name, run in runs(*data, attacks):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            found = run()
            times.append(time.perf_counter() - start)
        ours = min(times)
        line = f"{name:27} {ours:8.3f} {found.main.share:7.3f} {found.control.share:8.3f} {found.risk().value:6.3f}"
        if name in peer:
            its = peer[name]
            line += f"   {its['seconds']:8.2f} s {its['right'] / attacks:7.3f} {its['control'] / attacks:8.3f}"
            line += f" {its['seconds'] / ours:7.0f} times"
        print(line)
    start = time.perf_counter()
    outcome = membership(Attacked(*data, variables, NAMES, attacks, rng(0)))
    seconds = time.perf_counter() - start
    print(f"{'membership':27} {seconds:8.3f}   advantage {outcome.advantage.value:.3f}, area {outcome.area.value:.3f}")


Attack = tuple[str, Callable[[], ControlledAttack]]


def _peer(data: list[pd.DataFrame], attacks: int) -> dict[str, dict[str, float]]:
    if not version_of("anonymeter"):
        return {}
    frames = dict(zip(("original", "released", "control"), data, strict=True))
    known = {"first": FIRST, "second": SECOND, "known": KNOWN, "secret": SECRET, "k": K}
    found: dict[str, dict[str, float]] = ask("anonymeter", "attacks", frames, attacks=attacks, **known)["attacks"]
    return found


if __name__ == "__main__":
    main()
