"""Tables of sampled firms, weighted: what a respondent tells who knows its own weight beside its own figure.

The attacker shares no code with protection or audit: linear programs over the innermost cells of the published table.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.optimize import linprog

import sluice
from sluice.ground.verdict import Verdict
from tasks.workbench.protected_table import ProtectedTable
from tests.flows.house import answered

RULES = [{"rule": "minimum_frequency", "n": 3}, {"rule": "p_percent", "p": 10}]
ARGUS = {"weight": {"variable": "w", "rule": "argus"}, "decimals": 0}
AXES = {"a": list("uvwx"), "b": list("lmno")}
INNER = [(a, b) for a in AXES["a"] for b in AXES["b"]]


def sampled(seed: int) -> pd.DataFrame:
    """Respondents, of whom many are alone in their cell and stand for others."""
    rng = np.random.default_rng(seed)
    rows = [
        (a, b, int(np.ceil(rng.lognormal(4, 1.3))), int(rng.integers(1, 6)))
        for a, b in INNER
        for _ in range(rng.choice(5, p=[0.1, 0.35, 0.25, 0.15, 0.15]))
    ]
    return pd.DataFrame(rows, columns=[*AXES, "v", "w"]).assign(firm=lambda frame: frame.index.astype(str))


def too_near(made: ProtectedTable, records: pd.DataFrame) -> list[tuple[str, bool]]:
    """The sensitive cells that a respondent of other cells gets nearer to than asked, and whether it knows them."""
    shown = made.table.set_index([*AXES])
    within = {codes: np.array([all(of in (code, "Total") for code, of in zip(cell, codes, strict=True))
                               for cell in INNER], dtype=float) for codes in shown.index}  # fmt: skip
    public = [codes for codes in shown.index if shown.loc[codes, "status"] == "published"]
    weighted = records["v"] * records["w"]
    total = weighted.groupby([records["a"], records["b"]]).sum()
    people = records.groupby(["a", "b"]).size()
    asked = made.requirements
    found = []
    for at in records.index:
        own = (records["a"][at], records["b"][at])
        if shown.loc[own, "status"] == "published":
            continue
        bounds = [(0, None if cell in shown.index else 0) for cell in INNER]
        bounds[INNER.index(own)] = (weighted[at], total[own] if people[own] == 1 else None)
        for cell, codes in enumerate(made.cells[[*AXES]].itertuples(index=False, name=None)):
            if not asked.sensitive[cell] or within[codes][INNER.index(own)]:
                continue
            ends = [
                linprog(
                    side * within[codes],
                    A_eq=np.array([within[each] for each in public]),
                    b_eq=[int(shown.loc[each, "value"]) for each in public],
                    bounds=bounds,
                )
                for side in (1, -1)
            ]
            low, high = ends[0].fun, np.inf if ends[1].status == 3 else -ends[1].fun
            truth = sum(int(total.get(inner, 0)) for inner, of in zip(INNER, within[codes], strict=True) if of)
            if low > truth - asked.lower[cell] + 1e-6 or high < truth + asked.upper[cell] - 1e-6:
                found.append((f"{codes} by {at}", high - low < 0.5))
    return found


@pytest.mark.chain  # two linear programs for each respondent and sensitive cell
@pytest.mark.parametrize("seed", range(3))
def test_who_knows_its_own_weight_gets_to_no_other_sensitive_cell(seed: int) -> None:
    records = sampled(seed)
    made = sluice.protect(records, list(AXES), value="v", rules=RULES, contributor="firm", measure=ARGUS)
    assert made.verdict is Verdict.PASS
    assert made.requirements.sensitive.any()
    assert not too_near(made, records)


def test_where_nobody_knows_a_weight_less_is_suppressed(tmp_path: Path) -> None:
    records = sampled(0)
    told = {"dimensions": [{"variable": axis} for axis in AXES], "rules": RULES}
    told |= {"measure": {**ARGUS, "variable": "v", "contributor": "firm"}, "table_attackers": {"weights_known": False}}
    (tmp_path / "table.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    records.to_parquet(tmp_path / "records.parquet")
    suppressed = []
    for more in ([], ["--set=table_attackers.weights_known=true"]):
        command = ["protect-table", str(tmp_path / "records.parquet"), f"--spec={tmp_path / 'table.yaml'}", *more]
        suppressed.append(answered([*command, f"-o{tmp_path / 'cells.csv'}", "--json"]).json)
    assert [each["safe"] for each in suppressed] == [True, True]
    assert suppressed[0]["secondary"] < suppressed[1]["secondary"]
