"""The rules on the cells of a table, beside acro and gconfid, and a million cells beside pandas' apply.

    make peers && .venv/bin/python -m benchmarks table_rules

acro (MIT) and gconfid (GPL, a black box) run in processes of their own. The data are the generated business tables, and
single cells on the boundary of a rule. All three read and aggregate the records themselves, which their seconds hold.

Where the answers differ, and why:
- (n, k): "more than k percent" is sensitive here, in tau-ARGUS and in gconfid; acro says "at least". gconfid compares
  doubles, which fall on the wrong side of 85 percent exactly.
- p%: a cell of zeros is safe by the rule's words, and sensitive in acro. Here `zero_cells` is a rule of its own.
- a cell of fewer than n contributors: acro calls empty cells sensitive, too; they are left out here, as empty cells are
  not published. gconfid counts only contributors with a value other than 0.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers.peer import PeerFailedError, ask, version_of
from tests.reference_data import REFERENCE_DATA

AXES = ("nace", "region", "size")
RULES = ("minimum_frequency 3", "p_percent 10", "p_percent 15", "dominance 2 75", "dominance 2 85")
# Single cells, as "nace" codes of a table of their own.
BOUNDARY = {
    "p% = 10 exactly": [40, 6, 4],
    "p% = 10, one below": [400, 60, 39],
    "p% = 15 exactly": [140, 30, 21],
    "(2, 75) exactly": [60, 15, 15, 10],
    "(2, 85) exactly": [70, 15, 14, 1],
    "one contributor": [5],
    "two contributors": [5, 5],
    "three equal": [5, 5, 5],
    "three, one of 0": [5, 5, 0],
    "three zeros": [0, 0, 0],
}


def main(quick: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _boundary(Path(folder) / "boundary")
        tables = [("boundary cells", Path(folder) / "boundary")]
        tables += [
            (name, REFERENCE_DATA / "business_generated" / name) for name in (("s1k",) if quick else ("s1k", "s10k"))
        ]
        peers = [tool for tool in ("acro", "gconfid") if version_of(tool)]
        legend = "sensitive (only it / only Sluice), by rule"
        print(f"{'table':>15} {'cells':>7} {'tool':>8} {'seconds':>8} {'ratio':>6}   {legend}")
        _by_sluice(tables[0][1])  # load what is needed
        for name, source in tables:
            if not source.is_dir():
                print(f"{name:>15} is not there; skipped")
                continue
            begun = perf_counter()
            ours = _by_sluice(source)
            seconds = perf_counter() - begun
            counts = ", ".join(f"{rule}: {int(ours[rule].sum())}" for rule in RULES)
            print(f"{name:>15} {len(ours):7,} {'Sluice':>8} {seconds:8.2f} {'':>6}   {counts}")
            for tool in peers:
                theirs, took = _by_peer(tool, source)
                if theirs is None:
                    continue
                both = ours.join(theirs, rsuffix=" peer", how="left").fillna(False)
                differences = []
                for rule in RULES:
                    mine, peer = both[rule].astype(bool), both[f"{rule} peer"].astype(bool)
                    differences.append(
                        f"{rule}: {int(peer.sum())} ({int((peer & ~mine).sum())}/{int((mine & ~peer).sum())})"
                    )
                print(f"{'':>15} {'':>7} {tool:>8} {took:8.2f} {took / seconds:6.1f}   {', '.join(differences)}")
                if name == "boundary cells":
                    _print_boundary(both, tool)
    _a_million(100_000 if quick else 1_000_000)


def _print_boundary(both: pd.DataFrame, tool: str) -> None:
    for cell, row in both.iterrows():
        for rule in RULES:
            if row[rule] != row[f"{rule} peer"]:
                said = {True: "sensitive", False: "safe"}
                print(f"{'':>33} {cell[0]}, {rule}: {said[row[rule]]} here, {said[row[f'{rule} peer']]} in {tool}")


def _boundary(folder: Path) -> None:
    """The single cells as a table in the form of the business data."""
    folder.mkdir()
    records = [(code, value) for code, values in BOUNDARY.items() for value in values]
    codes = {code: f"C{number}" for number, code in enumerate(BOUNDARY)}
    frame = pd.DataFrame(
        {
            "id": range(1, len(records) + 1),
            "nace": [codes[code] for code, _ in records],
            "region": "R1",
            "size": "S1",
            "value": [value for _, value in records],
        }
    )
    frame.to_csv(folder / "micro.csv.gz", index=False)
    for axis, leaves in (("nace", codes.values()), ("region", ["R1", "R2"]), ("size", ["S1", "S2"])):
        rows = [("Total", ""), *((leaf, "Total") for leaf in leaves)]
        pd.DataFrame(rows, columns=["code", "parent"]).to_csv(folder / f"hier_{axis}.csv", index=False)


def _read(source: Path) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    text: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    records = pd.read_csv(source / "micro.csv.gz", **text)
    records["value"] = records["value"].astype(float)
    return records, {axis: pd.read_csv(source / f"hier_{axis}.csv", **text) for axis in AXES}


# -- Sluice


def _by_sluice(source: Path) -> pd.DataFrame:
    """One row a cell, one column a rule."""
    from sluice.tabular.model.aggregation import aggregate
    from sluice.tabular.model.dimension import Dimension

    records, hierarchies = _read(source)
    dimensions = [
        Dimension.of(axis, list(zip(rows["code"], rows["parent"], strict=True))) for axis, rows in hierarchies.items()
    ]
    leaves = np.column_stack([records[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    cells = aggregate(
        dimensions, leaves, records["id"].astype(np.int64).to_numpy(), records["value"].astype(np.int64).to_numpy()
    )
    codes = [np.array(d.codes)[cells.codes[:, axis]] for axis, d in enumerate(dimensions)]
    if source.name == "boundary":
        names = dict(zip((f"C{number}" for number in range(len(BOUNDARY))), BOUNDARY, strict=True))
        codes[0] = np.array([names.get(code, code) for code in codes[0]])
    index = pd.MultiIndex.from_arrays(codes, names=AXES)
    found = {name: rule.sensitive(cells.contributions) for name, rule in _rules().items()}
    made = pd.DataFrame(found, index=index)
    return made.xs(("R1", "S1"), level=("region", "size"), drop_level=False) if source.name == "boundary" else made


def _rules() -> dict[str, Any]:
    from sluice.tabular.rules.dominance import Dominance
    from sluice.tabular.rules.minimum_frequency import MinimumFrequency
    from sluice.tabular.rules.p_percent import PPercent

    rules = (MinimumFrequency(n=3), PPercent(p=10), PPercent(p=15), Dominance(n=2, k=75), Dominance(n=2, k=85))
    return dict(zip(RULES, rules, strict=True))


def _a_million(count: int) -> None:
    """All rules on random cells: at once, and one by one as a function that pandas applies to each row."""
    from sluice.tabular.model.cells import Contributions

    rng = np.random.default_rng(20260101)
    shares = np.sort(np.exp(rng.normal(3, 2, (count, 5))).astype(np.int64), axis=1)[:, ::-1]
    contributors = rng.integers(1, 6, count)
    shares[np.arange(5) >= contributors[:, None]] = 0
    cells = Contributions(shares.sum(axis=1), contributors, shares)
    begun = perf_counter()
    found = [rule.sensitive(cells) for rule in _rules().values()]
    seconds = perf_counter() - begun
    frame = pd.DataFrame({"n": contributors, "X": cells.total, "x1": shares[:, 0], "x2": shares[:, 1]})
    one_by_one: list[Callable[[Any], bool]] = [
        lambda cell: cell.n < 3,
        lambda cell: 100 * (cell.X - cell.x1 - cell.x2) < 10 * cell.x1,
        lambda cell: 100 * (cell.X - cell.x1 - cell.x2) < 15 * cell.x1,
        lambda cell: 100 * (cell.x1 + cell.x2) > 75 * cell.X,
        lambda cell: 100 * (cell.x1 + cell.x2) > 85 * cell.X,
    ]
    begun = perf_counter()
    part = frame.head(count // 20)  # the time of a cell does not depend on how many there are
    applied = [part.apply(rule, axis=1).to_numpy() for rule in one_by_one]
    took = (perf_counter() - begun) * 20
    same = all((ours[: len(part)] == theirs).all() for ours, theirs in zip(found, applied, strict=True))
    ratio, agree = took / seconds, "the same" if same else "DIFFERENT"
    both = f"{seconds:.2f} s; by pandas' apply {took:.1f} s, ratio {ratio:.0f}; {agree}"
    print(f"{count:,} cells, {len(found)} rules: {both}")


# -- the peers


def _by_peer(tool: str, source: Path) -> tuple[pd.DataFrame | None, float]:
    try:
        answer = ask(tool, "rules", source=str(source))
    except PeerFailedError as error:
        print(f"{'':>23} {error}")
        return None, 0.0
    found = pd.DataFrame(answer["cells"])
    if source.name == "boundary":
        names = dict(zip((f"C{number}" for number in range(len(BOUNDARY))), BOUNDARY, strict=True))
        found["nace"] = found["nace"].replace(names)
    return found.set_index(list(AXES)), float(answer["seconds"])


if __name__ == "__main__":
    main()
