"""What the scripts share that run in the environment of the peers. Nothing of Sluice is imported here."""

import json
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

Answer = Callable[..., dict[str, Any]]  # of the frames, by name, and the settings


def answer(peer: str, questions: Mapping[str, Answer]) -> None:
    """Answer the question of the command line, `QUESTION FOLDER FILE`: data from the folder, figures into the file."""
    question, given, made = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    frames = {path.stem: pd.read_parquet(path) for path in given.glob("*.parquet")}
    settings = json.loads((given / "settings.json").read_text(encoding="utf-8"))
    figures = questions[question](frames, **settings) | {"version": version(peer)}
    made.write_text(json.dumps(figures, default=_plain), encoding="utf-8")


def read_business(source: str) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The records of a generated business table, and the hierarchy of each axis, from its folder."""
    text: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    records = pd.read_csv(Path(source) / "micro.csv.gz", **text)
    records["value"] = records["value"].astype(float)
    return records, {axis: pd.read_csv(Path(source) / f"hier_{axis}.csv", **text) for axis in AXES}


AXES = ("nace", "region", "size")


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item()
