"""A house that publishes tables: firms and their turnover, by industry, region and size."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.flows.house import House, people

NACE = {"Total": "", "A": "Total", "B": "Total", "01": "A", "02": "A", "NA": "B", "04": "B", "05": "B"}
REGION = {"Total": "", "N": "Total", "S": "Total", "N1": "N", "N2": "N", "S1": "S", "S2": "S"}
SIZE = ("small", "large")


def firms(records: int = 260, seed: int = 1) -> pd.DataFrame:
    """Firms of very unequal size; every third belongs to a holding with another."""
    rng = np.random.default_rng(seed)
    size = rng.choice(SIZE, records, p=[0.8, 0.2])
    return pd.DataFrame(
        {
            "firm": [f"F{number:04d}" for number in range(records)],
            "holding": [f"H{number // 2 if number % 3 == 0 else records + number}" for number in range(records)],
            "nace": rng.choice(["01", "02", "NA", "04", "05"], records, p=[0.4, 0.3, 0.2, 0.08, 0.02]),
            "region": rng.choice(["N1", "N2", "S1", "S2"], records, p=[0.4, 0.3, 0.25, 0.05]),
            "size": size,
            "turnover": np.round(rng.lognormal(4, 1.2, records) * np.where(size == "large", 20, 1), 1),
        }
    )


def contract() -> dict[str, Any]:
    return {
        "dataset": "firms",
        "version": 1,
        "records_are": "firms",
        "record_key": ["firm"],
        "variables": [
            {"name": "firm", "kind": "text", "role": "contributor"},
            {"name": "holding", "kind": "text", "role": "holding"},
            {"name": "nace", "kind": "nominal", "role": "other"},
            {"name": "region", "kind": "nominal", "role": "other"},
            {"name": "size", "kind": "nominal", "role": "other", "categories": list(SIZE)},
            {"name": "turnover", "kind": "continuous", "role": "sensitive", "minimum": 0, "unit": "thousand euro"},
        ],
    }


def policy() -> dict[str, Any]:
    return {
        "name": "firms",
        "version": 1,
        "rules": [{"rule": "minimum_frequency", "n": 3}, {"rule": "p_percent", "p": 10}],
        "approvals": {"count": 2, "roles": ["methodologist", "data_steward"], "valid_days": 30, "identity": "declared"},
    }


def definition() -> dict[str, Any]:
    return {
        "name": "turnover-tables",
        "title": "Turnover of firms by industry, region and size",
        "owner": "emil",
        "source": {"type": "csv", "path": "firms.csv"},
        "contract": "contract.yaml",
        "policy": "policy.yaml",
        "dimensions": [
            {"variable": "nace", "hierarchy": "nace.csv"},
            {"variable": "region", "hierarchy": "region.csv"},
            {"variable": "size"},
        ],
        "measure": {"variable": "turnover", "contributor": "firm", "decimals": 1},
        "tables": [
            {"name": "industry-by-region", "dimensions": ["nace", "region"]},
            {"name": "industry-by-size", "dimensions": ["nace", "size"]},
        ],
        "target": "../published",
    }


def rows(path: Path) -> list[dict[str, str]]:
    """Of a published table, as they stand there."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class TablesHouse(House):
    def __init__(self, root: Path) -> None:
        self.root = root
        self.data = firms()
        self.contract, self.policy, self.people, self.definition = contract(), policy(), people(), definition()
        self.hierarchies = {"nace": dict(NACE), "region": dict(REGION)}
        self.write()

    def write(self) -> None:
        """Bring the documents and the data to the disk."""
        super().write()
        (self.documents / "people.csv").unlink()
        self.data.to_csv(self.documents / "firms.csv", index=False)
        for name, rows in self.hierarchies.items():
            lines = ["code,parent", *(f"{code},{parent}" for code, parent in rows.items())]
            (self.documents / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def keep_secret(self, secret: int) -> None:
        """Give the vault a secret of the test's own, from which the noise of a series follows."""
        vault = self.home / "vault"
        vault.mkdir(mode=0o700, parents=True)
        (vault / "secret").write_bytes(secret.to_bytes(32, "big"))
        (vault / "secret").chmod(0o600)

    @property
    def folder(self) -> Path:
        """Where the release is published."""
        return self.target / self.id
