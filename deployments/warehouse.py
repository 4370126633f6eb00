"""A warehouse with confidential records, for the demo, the shipped definitions and the benchmarks."""

from pathlib import Path


def build_warehouse(path: Path) -> int:
    """A new DuckDB database with the table survey.fair; returns its number of records.

    The survey is `fair`, which statsmodels carries: 6,366 women asked by Redbook magazine in 1974 about their marriage
    and affairs (Fair, Journal of Political Economy 86, 1978).
    """
    import duckdb
    import statsmodels.api as sm

    fair = sm.datasets.fair.load_pandas().data
    fair.insert(0, "respondent", range(100_001, 100_001 + len(fair)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(path) as warehouse:
        warehouse.execute("CREATE SCHEMA survey")
        warehouse.register("loaded", fair)
        warehouse.execute("CREATE TABLE survey.fair AS SELECT * FROM loaded")
    return len(fair)
