"""sdmetrics' quality report and disclosure measures of the same two files (DataCebo, MIT)."""

import pandas as pd

from benchmarks.peers.peer import ask, version_of

MEASURES = {
    "quality": "sdmetrics quality report",
    "disclosure": "sdmetrics DisclosureProtection",
    "disclosure estimate": "sdmetrics DisclosureProtectionEstimate",
}
"""Of disclosure: how well four categories tell a fifth (CAP), of every record, and of 10 samples of 1,000."""

MOST_RECORDS = {"disclosure": 10_000}
"""From here on sdmetrics itself warns: each record is compared with all that share its four categories, in Python."""


def has_sdmetrics() -> bool:
    """Whether it can be had; what is not, or which version is, is printed."""
    return version_of("sdmetrics") is not None


def sdmetrics_run(measure: str, original: pd.DataFrame, masked: pd.DataFrame) -> tuple[float, float]:
    """One score, 0 to 1, and the processor seconds that it took.

    measure          : a key of MEASURES
    original, masked : numbers, or categories; only the columns of `masked` are compared
    raises           : PeerFailedError with the end of what it printed, when it fails
    """
    found = ask("sdmetrics", measure, {"original": original[list(masked)], "masked": masked})
    return float(found["score"]), float(found["seconds"])
