"""400 firms in 6 industries and 5 regions, some cells of which are small, as files of the commands on tables."""

from pathlib import Path

import numpy as np
import pandas as pd

COUNT = ("--rule=minimum_frequency=4",)
VALUE = ("--value=value", "--contributor=id", "--rule=p_percent=10", "--rule=minimum_frequency=3")


def write_firms(folder: Path) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    for name, letter, codes in (("nace", "K", 6), ("region", "R", 5)):
        rows = "".join(f"{letter}{code},Total\n" for code in range(codes))
        (folder / f"{name}.csv").write_text(f"code,parent\nTotal,\n{rows}", encoding="utf-8")
    firms = pd.DataFrame(
        {
            "nace": [f"K{code}" for code in (rng.random(400) ** 2 * 6).astype(int)],
            "region": [f"R{code}" for code in (rng.random(400) ** 2 * 5).astype(int)],
            "value": np.round(rng.lognormal(4, 1.5, 400)).astype(int),
            "id": [f"firm {number}" for number in range(400)],
        }
    )
    firms.to_csv(folder / "micro.csv", index=False)
    return firms


def command(name: str, source: Path, *more: str) -> list[str]:
    """Of a command on tables of these firms."""
    hierarchies = [f"--hierarchy={name}={source.parent / name}.csv" for name in ("nace", "region")]
    return [name, str(source), *hierarchies, *more]


def protect(folder: Path, *more: str, output: str = "cells.csv") -> list[str]:
    return command("protect-table", folder / "micro.csv", f"--output={folder / output}", *more)
