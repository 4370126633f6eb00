"""sdmetrics' quality report of the same two files, run as a black box in an interpreter of its own.

sdmetrics (DataCebo, MIT) wants an older pandas than Sluice, so it lives in an environment of its own, whose Python the
environment variable SLUICE_PEERS names. This file runs in both: `sdmetrics_quality` here starts itself there.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd


def has_sdmetrics() -> bool:
    """Whether SLUICE_PEERS names a Python that can import sdmetrics."""
    peers = os.environ.get("SLUICE_PEERS")
    return bool(peers) and not subprocess.run([peers, "-c", "import sdmetrics"], capture_output=True).returncode


def sdmetrics_quality(original: pd.DataFrame, masked: pd.DataFrame) -> tuple[float, float]:
    """Its score of column shapes and column pair trends, 0 to 1, and the processor seconds that it took.

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
            [os.environ["SLUICE_PEERS"], __file__, str(files), str(made)], capture_output=True, text=True
        )
        if not made.exists():
            raise RuntimeError(f"sdmetrics failed: {(ran.stdout + ran.stderr)[-1000:]}")
        with np.load(made) as arrays:
            return float(arrays["score"]), float(arrays["seconds"])


def _report(given: str, made: str) -> None:
    from sdmetrics.reports.single_table import QualityReport  # in the peer's environment alone

    frames: dict[str, dict[str, np.ndarray]] = {"original": {}, "masked": {}}
    with np.load(given) as arrays:
        for key in arrays.files:
            which, _, name = key.partition(" ")
            column = arrays[key]
            frames[which][name] = (
                column if column.dtype.kind == "f" else np.where(column == "", None, column.astype(object))
            )
    kinds = {
        name: {"sdtype": "numerical" if column.dtype.kind == "f" else "categorical"}
        for name, column in frames["masked"].items()
    }
    original, masked = pd.DataFrame(frames["original"]), pd.DataFrame(frames["masked"])
    report = QualityReport()
    begun = process_time()
    report.generate(original, masked, {"columns": kinds}, verbose=False)
    np.savez(made, score=report.get_score(), seconds=process_time() - begun)


if __name__ == "__main__":
    _report(*sys.argv[1:])
