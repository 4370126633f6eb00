"""sdmetrics' quality report and disclosure measures of the same two files, as black boxes in an interpreter of its own.

sdmetrics (DataCebo, MIT) wants an older pandas than Sluice, so it lives in an environment of its own, whose Python the
environment variable SLUICE_PEERS names. This file runs in both: `sdmetrics_run` here starts itself there.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd


def has_sdmetrics() -> bool:
    """Whether SLUICE_PEERS names a Python that can import sdmetrics."""
    peers = os.environ.get("SLUICE_PEERS")
    return bool(peers) and not subprocess.run([peers, "-c", "import sdmetrics"], capture_output=True).returncode


MEASURES = {
    "quality": "sdmetrics quality report",
    "disclosure": "sdmetrics DisclosureProtection",
    "disclosure estimate": "sdmetrics DisclosureProtectionEstimate",
}
"""Of disclosure: how well four categories tell a fifth (CAP), of every record, and of 10 samples of 1,000."""

MOST_RECORDS = {"disclosure": 10_000}
"""From here on sdmetrics itself warns: each record is compared with all that share its four categories, in Python."""


def sdmetrics_run(measure: str, original: pd.DataFrame, masked: pd.DataFrame) -> tuple[float, float]:
    """One score, 0 to 1, and the processor seconds that it took.

    measure          : a key of MEASURES
    original, masked : numbers, or categories; only the columns of `masked` are compared
    raises           : RuntimeError with the end of what it printed, when it fails
    """
    given: dict[str, np.ndarray] = {}
    for which, frame in (("original", original), ("masked", masked)):
        for name in masked:
            column = frame[name]
            is_number = pd.api.types.is_numeric_dtype(column.dtype)
            given[f"{which} {name}"] = (
                column.to_numpy() if is_number else column.astype(object).fillna("").to_numpy("U")
            )
    with tempfile.TemporaryDirectory() as folder:
        files, made = Path(folder) / "files.npz", Path(folder) / "made.npz"
        np.savez(files, **given)
        ran = subprocess.run(
            [os.environ["SLUICE_PEERS"], __file__, measure, str(files), str(made)], capture_output=True, text=True
        )
        if not made.exists():
            raise RuntimeError(f"sdmetrics failed: {(ran.stdout + ran.stderr)[-1000:]}")
        with np.load(made) as arrays:
            return float(arrays["score"]), float(arrays["seconds"])


def _report(measure: str, given: str, made: str) -> None:
    frames: dict[str, dict[str, np.ndarray]] = {"original": {}, "masked": {}}
    with np.load(given) as arrays:
        for key in arrays.files:
            which, _, name = key.partition(" ")
            column = arrays[key]
            frames[which][name] = (
                column if column.dtype.kind == "f" else np.where(column == "", None, column.astype(object))
            )
    original, masked = pd.DataFrame(frames["original"]), pd.DataFrame(frames["masked"])
    numbers = [name for name, column in frames["masked"].items() if column.dtype.kind == "f"]
    found = (_quality if measure == "quality" else _disclosure(measure))(original, masked, numbers)
    np.savez(made, score=found[0], seconds=found[1])


def _quality(original: pd.DataFrame, masked: pd.DataFrame, numbers: list[str]) -> tuple[float, float]:
    from sdmetrics.reports.single_table import QualityReport  # in the peer's environment alone

    kinds = {name: {"sdtype": "numerical" if name in numbers else "categorical"} for name in masked}
    report = QualityReport()
    begun = process_time()
    report.generate(original, masked, {"columns": kinds}, verbose=False)
    return float(report.get_score()), process_time() - begun


def _disclosure(measure: str) -> Callable[[pd.DataFrame, pd.DataFrame, list[str]], tuple[float, float]]:
    import sdmetrics.single_table as measures

    def run(original: pd.DataFrame, masked: pd.DataFrame, numbers: list[str]) -> tuple[float, float]:
        *known, sensitive = [name for name in masked if name not in numbers][:5]
        of_measure: dict[str, bool] = {"verbose": False} if measure == "disclosure estimate" else {}
        kind = measures.DisclosureProtectionEstimate if of_measure else measures.DisclosureProtection
        begun = process_time()
        found = kind.compute_breakdown(original, masked, known, [sensitive], **of_measure)
        return float(found["score"]), process_time() - begun

    return run


if __name__ == "__main__":
    _report(*sys.argv[1:])
