"""sdmetrics' quality report and disclosure measures of two files: one score, and the processor seconds it took."""

from time import process_time
from typing import Any

import pandas as pd
from answering import answer

Frames = dict[str, pd.DataFrame]


def quality(frames: Frames) -> dict[str, Any]:
    from sdmetrics.reports.single_table import QualityReport

    original, masked = frames["original"], frames["masked"]
    kinds = {name: {"sdtype": "numerical" if name in _numbers(masked) else "categorical"} for name in masked}
    report = QualityReport()
    begun = process_time()
    report.generate(original, masked, {"columns": kinds}, verbose=False)
    return {"score": float(report.get_score()), "seconds": process_time() - begun}


def disclosure(frames: Frames) -> dict[str, Any]:
    from sdmetrics.single_table import DisclosureProtection

    return _disclosure(DisclosureProtection, frames)


def disclosure_estimate(frames: Frames) -> dict[str, Any]:
    from sdmetrics.single_table import DisclosureProtectionEstimate

    return _disclosure(DisclosureProtectionEstimate, frames, verbose=False)


def _disclosure(kind: Any, frames: Frames, **further: Any) -> dict[str, Any]:
    original, masked = frames["original"], frames["masked"]
    *known, sensitive = [name for name in masked if name not in _numbers(masked)][:5]
    begun = process_time()
    found = kind.compute_breakdown(original, masked, known, [sensitive], **further)
    return {"score": float(found["score"]), "seconds": process_time() - begun}


def _numbers(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame if pd.api.types.is_numeric_dtype(frame[name].dtype)]


if __name__ == "__main__":
    answer("sdmetrics", {"quality": quality, "disclosure": disclosure, "disclosure estimate": disclosure_estimate})
