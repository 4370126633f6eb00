"""From records to the cells of tables: time and memory, in memory and by DuckDB, beside pandas.

Three dimensions (four, three and two levels), 15,000 possible cells of the lowest level; one contributor in ten has
records in several of them. pandas makes the same cells: it groups the records by cell and contributor at each
combination of levels, and takes number, sum and the two largest; its figures are compared with ours. Each in a process
of its own, records read from a Parquet file that DuckDB made; two threads at most. DuckDB is given 4 GB.
"""

import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
import pandas as pd

from sluice.sources.table_cells import aggregate_file
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of

MEASURE = Measure("value", "id")


def dimensions() -> list[Dimension]:
    """nace by section, division and group; region by state and county; band."""
    nace = [("Total", "")]
    for section in range(5):
        nace.append((f"{section}", "Total"))
        for division in range(5):
            nace.append((f"{section}{division}", f"{section}"))
            nace += [(f"{section}{division}{group}", f"{section}{division}") for group in range(4)]
    region = [("Total", "")]
    for state in range(10):
        region.append((f"{state}", "Total"))
        region += [(f"{state}{county}", f"{state}") for county in range(5)]
    return [Dimension.of("nace", nace), Dimension.of("region", region), Dimension.flat("band", ["a", "b", "c"])]


def write_records(path: Path, count: int) -> None:
    """Most contributors have one record, each tenth of them ten; values are skewed."""
    with duckdb.connect(config={"threads": 2, "memory_limit": "2GB", "temp_directory": str(path.parent)}) as engine:
        engine.execute("SET enable_progress_bar = false")
        engine.execute(
            f"""COPY (SELECT
                (CASE WHEN hash(i, 1) % 10 = 0 THEN {count} + hash(i, 2) % ({count} // 100) ELSE i END)::BIGINT AS id,
                (hash(i, 3) % 5)::VARCHAR || (hash(i, 4) % 5)::VARCHAR || (hash(i, 5) % 4)::VARCHAR AS nace,
                (hash(i, 6) % 10)::VARCHAR || (hash(i, 7) % 5)::VARCHAR AS region,
                chr((97 + hash(i, 8) % 3)::INTEGER) AS band,
                (1 + 1e6 / (1 + hash(i, 9) % 1000000))::BIGINT AS value
            FROM range({count}) AS t(i)) TO '{path}' (FORMAT parquet)"""
        )


def in_memory(path: Path) -> Cells:
    given = dimensions()
    return records_of(pd.read_parquet(path, dtype_backend="pyarrow"), given, MEASURE).cells(given)


def in_duckdb(path: Path) -> Cells:
    return aggregate_file(path, dimensions(), MEASURE, scratch=path.with_suffix(".spilled")).cells


def in_pandas(path: Path) -> pd.DataFrame:
    """Number of contributors, sum and two largest contributions of each cell, as pandas users write it."""
    frame = pd.read_parquet(path)
    frame["nace"], frame["region"] = frame["nace"].astype("category"), frame["region"].astype("category")
    levels = {
        "nace": [lambda code: "Total", lambda code: code[:1], lambda code: code[:2], lambda code: code],
        "region": [lambda code: "Total", lambda code: code[:1], lambda code: code],
        "band": [lambda code: "Total", lambda code: code],
    }
    made = []
    for cut in product(*levels.values()):
        keys = [frame[name].map(each).rename(name) for name, each in zip(levels, cut, strict=True)]
        shares = frame["value"].groupby([*keys, frame["id"]], observed=True).sum().reset_index()
        shares = shares.sort_values("value", ascending=False)
        grouped = shares.groupby(list(levels), observed=True)["value"]
        cells = grouped.agg(["size", "sum", "max"])
        cells["second"] = shares[grouped.cumcount() == 1].set_index(list(levels))["value"]
        made.append(cells.fillna(0).reset_index().astype(dict.fromkeys(levels, str) | {"second": int}))
    return pd.concat(made, ignore_index=True)


def figures(cells: Cells) -> pd.DataFrame:
    codes = {d.name: np.array(d.codes)[cells.codes[:, axis]] for axis, d in enumerate(cells.dimensions)}
    numbers = {"size": cells.contributors, "sum": cells.total, "max": cells.largest[:, 0]}
    return pd.DataFrame(codes | numbers | {"second": cells.largest[:, 1]})


def one(how: str, path: str, result: str) -> None:
    """What runs in a process of its own: aggregate, print seconds and peak memory, write the figures."""
    begun = perf_counter()
    made = {"memory": in_memory, "DuckDB": in_duckdb, "pandas": in_pandas}[how](Path(path))
    taken = perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    (figures(made) if isinstance(made, Cells) else made).to_parquet(result)
    print(f"{taken:.1f} {peak:.2f}")


def run(how: str, path: Path) -> tuple[float, float, pd.DataFrame]:
    result = path.with_name(f"{how}.cells")
    command = f"from benchmarks.table_aggregation import one; one({how!r}, {str(path)!r}, {str(result)!r})"
    done = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True)
    seconds, peak = map(float, done.stdout.split())
    table = pd.read_parquet(result).sort_values(["nace", "region", "band"], ignore_index=True)
    result.unlink()
    return seconds, peak, table[["nace", "region", "band", "size", "sum", "max", "second"]]


def main(quick: bool = False) -> None:
    sizes = {
        1_000_000: ("memory", "DuckDB", "pandas"),
        10_000_000: ("memory", "DuckDB", "pandas"),
        100_000_000: ("DuckDB",),
    }
    print(f"{'records':>12} {'how':<8} {'seconds':>8} {'peak GB':>8} {'cells':>8} {'pandas/it':>10}")
    for count, ways in list(sizes.items())[: 1 if quick else None]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "records.parquet"
            write_records(path, count)
            found = {how: run(how, path) for how in reversed(ways)}
            for how in ways:
                seconds, peak, table = found[how]
                peer = found.get("pandas")
                ratio = f"{peer[0] / seconds:.1f}x" if peer and how != "pandas" else ""
                if peer is not None and not np.array_equal(
                    table.to_numpy(dtype=object), peer[2].to_numpy(dtype=object)
                ):
                    raise AssertionError(f"{how} and pandas made different cells")
                print(f"{count:>12,} {how:<8} {seconds:>8.1f} {peak:>8.2f} {len(table):>8,} {ratio:>10}", flush=True)


if __name__ == "__main__":
    main()
