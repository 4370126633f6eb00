"""What pycanon finds of a file: its figure of each measure, and the seconds of the processor that this took."""

from time import process_time
from typing import Any

import pandas as pd
from answering import answer
from pycanon import anonymity

Frames = dict[str, pd.DataFrame]


def measures(frames: Frames, keys: list[str], sensitive: str, measures: list[str]) -> dict[str, Any]:
    """measures : names of functions of pycanon.anonymity. Those of all keys alone are k_anonymity"""
    frame, found = frames["released"], {}
    for name in measures:
        measure = getattr(anonymity, name)
        begun = process_time()
        value = measure(frame, keys) if name == "k_anonymity" else measure(frame, keys, [sensitive])
        seconds = process_time() - begun
        found[name] = {"value": value[0] if isinstance(value, tuple) else value, "seconds": seconds}
    return {"measures": found}


if __name__ == "__main__":
    answer("pycanon", {"measures": measures})
