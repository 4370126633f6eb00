"""gconfid's suppression of the same cells, run as a black box in an interpreter of its own.

gconfid 2 (Statistics Canada, GPL) needs an older pandas than Sluice, so it lives in an environment of its own. The
environment variable SLUICE_PEERS names that environment's Python. This file runs in both: `gconfid_pattern` here starts
itself there.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sluice.tabular.model.cells import Booleans, Cells, Integers


def has_gconfid() -> bool:
    """Whether SLUICE_PEERS names a Python that can import gconfid."""
    peers = os.environ.get("SLUICE_PEERS")
    return bool(peers) and not subprocess.run([peers, "-c", "import gconfid"], capture_output=True).returncode


def gconfid_pattern(
    cells: "Cells", level: "Integers", cost: str = "SIZE", second: str = ""
) -> "tuple[Booleans, float]":
    """Which cells gconfid suppresses, primaries with them, and the seconds that its suppression module took.

    level  : shape (c,), the protection asked for each sensitive cell, above and below; 0 where a cell is not sensitive
    cost   : its first cost function; SIZE is the value
    second : its second, '' for none
    raises : RuntimeError with the end of what it printed, when it fails
    """
    equations = cells.equations.tocoo()
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.npz", Path(folder) / "made.npz"
        np.savez(
            given,
            total=cells.total,
            level=level,
            row=equations.coords[0],
            column=equations.coords[1],
            sign=-equations.data,  # gconfid writes -1 at the sum
        )
        peer = os.environ["SLUICE_PEERS"]
        ran = subprocess.run([peer, __file__, str(given), str(made), cost, second], capture_output=True, text=True)
        if not made.exists():
            raise RuntimeError(f"gconfid failed: {(ran.stdout + ran.stderr)[-1000:]}")
        with np.load(made) as arrays:
            return arrays["suppressed"], float(arrays["seconds"])


def gconfid_as_its_users_run_it(records: Path, hierarchies: "Mapping[str, Path]") -> "tuple[int, float, float]":
    """Secondaries, suppressed value and seconds of gconfid's own sensitivity (p% = 10, at least 3) and suppression.

    It asks for more than Sluice does: its levels are higher where few contribute, and it adds cells of its own for
    sums of sensitive siblings. So its value here is above that with Sluice's levels.
    """
    peer = os.environ["SLUICE_PEERS"]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.npz"
        named = [f"{axis}={path}" for axis, path in hierarchies.items()]
        ran = subprocess.run([peer, __file__, "whole", str(records), str(made), *named], capture_output=True, text=True)
        if not made.exists():
            raise RuntimeError(f"gconfid failed: {(ran.stdout + ran.stderr)[-1000:]}")
        with np.load(made) as arrays:
            return int(arrays["secondary"]), float(arrays["value"]), float(arrays["seconds"])


def release_by_gconfid(records: str, made: str, *named: str) -> None:
    """What runs in the peer's interpreter: from records to a pattern."""
    import gconfid  # type: ignore[import-not-found]
    import pandas as pd

    table = pd.read_csv(records, dtype=str, keep_default_na=False).astype({"value": float})
    paths = dict(name.split("=", 1) for name in named)
    tree = []
    for path in paths.values():
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        groups = rows[rows["parent"] != ""].groupby("parent", sort=False)["code"]
        tree.append(" : ".join(f"{parent} {' '.join(codes)}" for parent, codes in groups) + ";")
    begun = perf_counter()
    sensitivity = gconfid.Sensitivity(
        indata=table,
        unit_id="id",
        var="value",
        dimension=" ".join(paths),
        hierarchy=" ".join(tree),
        s_rule="pq 0.10",
        min_resp=3,
        outcell="pandas",
        outconstraint="pandas",
        presort=True,
        capture=True,
    )
    found = gconfid.Suppression(
        incell=sensitivity.outcell,
        inconstraint=sensitivity.outconstraint,
        cost_function1="SIZE",
        outsuppress="pandas",
        capture=True,
    ).outsuppress
    seconds = perf_counter() - begun
    hidden = found[(found["Type"] == "C") & (found["OutStatus"] != "P")]
    sensitive = sensitivity.outcell.set_index("CellId")["Status"] == "S"
    secondary = int((~sensitive.reindex(hidden["CellId"]).to_numpy()).sum())
    np.savez(made, secondary=secondary, value=hidden["TotalVar"].sum(), seconds=seconds)


def suppress_by_gconfid(given: str, made: str, cost: str, second: str) -> None:
    """What runs in the peer's interpreter: read the cells, suppress, write the pattern and the time."""
    import gconfid  # type: ignore[import-not-found]
    import pandas as pd

    with np.load(given) as arrays:
        total, level = arrays["total"].astype(float), arrays["level"].astype(float)
        row, column, sign = arrays["row"], arrays["column"], arrays["sign"]
    cells = pd.DataFrame(
        {
            "CellId": np.arange(len(total)) + 1,
            "Total": total,
            "TotalNoise": total,
            "Sensitivity": np.where(level > 0, level, -1.0),
            "Status": np.where(level > 0, "S", "V"),
            "Type": "C",
        }
    )
    constraints = pd.DataFrame({"ConstraintId": row + 1, "CellId": column + 1, "Coefficient": sign})
    begun = perf_counter()
    ran = gconfid.Suppression(
        incell=cells,
        inconstraint=constraints,
        cost_function1=cost,
        cost_function2=second or None,
        outsuppress="pandas",
        capture=True,
    )
    seconds = perf_counter() - begun
    status = ran.outsuppress.set_index("CellId")["OutStatus"].reindex(cells["CellId"])
    np.savez(made, suppressed=status.isin(["S", "X"]).to_numpy(), seconds=seconds, status=status.to_numpy(dtype=str))


if __name__ == "__main__":
    if sys.argv[1] == "whole":
        release_by_gconfid(*sys.argv[2:])
    else:
        suppress_by_gconfid(*sys.argv[1:])
