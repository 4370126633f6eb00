"""A warehouse with confidential records, for the demo, the shipped definitions and the benchmarks."""

import json
from collections.abc import Sequence
from pathlib import Path


def build_warehouse(path: Path) -> int:
    """A new DuckDB database with the tables survey.fair and survey.anes96; returns the number of records of the first.

    statsmodels carries both: 6,366 women asked by Redbook magazine in 1974 about their marriage and affairs (Fair,
    Journal of Political Economy 86, 1978), and 944 voters of the American National Election Study of 1996.
    """
    import duckdb
    import statsmodels.api as sm

    fair = sm.datasets.fair.load_pandas().data
    fair.insert(0, "respondent", range(100_001, 100_001 + len(fair)))
    voters = sm.datasets.anes96.load_pandas().data.drop(columns="logpopul")
    voters.insert(0, "respondent", range(1, 1 + len(voters)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(path) as warehouse:
        warehouse.execute("CREATE SCHEMA survey")
        warehouse.register("loaded", fair)
        warehouse.execute("CREATE TABLE survey.fair AS SELECT * FROM loaded")
        warehouse.register("voters", voters)
        warehouse.execute("CREATE TABLE survey.anes96 AS SELECT * FROM voters")
    return len(fair)


def write_connections(path: Path, warehouse: Path, files: Sequence[Path]) -> None:
    """A connections.yaml by which releases may read the surveys of the warehouse, and files below some folders."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(
        "# What releases may be read from; see docs/deployment.md.\n"
        "connections:\n"
        "  warehouse:\n"
        f"    url: {json.dumps(f'duckdb:///{warehouse}')}\n"
        "    schemas: [survey]\n"
        "    queries: true\n"
        f"files: {json.dumps([str(folder) for folder in files])}\n",
        encoding="utf-8",
    )
