"""anjana's k-anonymity of Adult: its time, and what its result loses.

anjana raises keys by a rule of thumb until the classes left over may be suppressed.
"""

from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
from anjana.anonymity import k_anonymity
from answering import answer


def adult(frames: dict[str, pd.DataFrame], folder: str, k: int, limits: list[float]) -> dict[str, Any]:
    """limits : percent of the records that may be suppressed; an entry of the answer for each"""
    frame = pd.read_csv(Path(folder) / "arx/adult.csv.gz", sep=";", dtype=str)
    hierarchies, widths = {}, {}
    for name in frame:
        text = (Path(folder) / f"hierarchies_arx/adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        columns = list(zip(*(line.split(";") for line in text.splitlines()), strict=True))
        hierarchies[name] = {level: list(column) for level, column in enumerate(columns)}
        widths[name] = [pd.Series(column).value_counts() for column in columns]
    runs = []
    for limit in limits:
        begun = process_time()
        found = k_anonymity(frame.copy(), [], list(frame), k, limit, hierarchies)
        seconds = process_time() - begun
        loss = 0.0
        for name in frame:
            fits = next(width for width in widths[name] if set(found[name]) <= set(width.index))
            kept = (found[name].map(fits) - 1).sum() / (len(hierarchies[name][0]) - 1)
            loss += (kept + len(frame) - len(found)) / len(frame) / len(frame.columns)
        runs.append({"seconds": seconds, "suppressed": len(frame) - len(found), "loss": loss})
    return {"runs": runs}


if __name__ == "__main__":
    answer("anjana", {"adult": adult})
