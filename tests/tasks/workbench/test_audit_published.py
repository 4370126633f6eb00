"""What anybody can compute of a table of counts who knows the rules, and whoever knows more of some cells; by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sluice
from flows.cli.main import main
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.tabular.model.cells import equations_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.known_sums import determined
from tests.golden import golden
from tests.tasks.workbench.firms_file import command

IntArray = NDArray[np.int64]
Audited = Callable[..., tuple[int, dict[str, Any]]]


def write_cells(folder: Path, sum_of_small: int, words: tuple[str, str] = ("suppressed", "suppressed")) -> None:
    """KA, R1 and KA, R2 are small and add up to a number; KB, R1 and KB, R2 are suppressed for their sake."""
    small, large = words
    rest = {"R1": 60, "R2": 60 + sum_of_small, "R3": 60}  # as if KA, R1 were 0: only the sums are published
    rows = [("Total", "Total", "published", sum(rest.values()))]
    rows += [("Total", region, "published", total) for region, total in rest.items()]
    rows += [("KA", "Total", "published", 20 + sum_of_small), ("KA", "R1", small, ""), ("KA", "R2", small, "")]
    rows += [("KA", "R3", "published", 20), ("KB", "Total", "published", 100)]
    rows += [("KB", "R1", large, ""), ("KB", "R2", large, ""), ("KB", "R3", "published", 20)]
    rows += [("KC", "Total", "published", 60), *(("KC", region, "published", 20) for region in rest)]
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
    (folder / "cells.csv").write_text(f"nace,region,status,value\n{text}", encoding="utf-8")
    for name, codes in (("nace", ("KA", "KB", "KC")), ("region", tuple(rest))):
        content = "code,parent\nTotal,\n" + "".join(f"{code},Total\n" for code in codes)
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")


@pytest.fixture
def audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Audited:
    def run(*more: str) -> tuple[int, dict[str, Any]]:
        code = main([*command("audit-table", tmp_path / "cells.csv", *more), "--json"])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if shown.out else {"error": shown.err}

    return run


BOTH = [f"anybody can compute nace KA, region {region} exactly" for region in ("R1", "R2")]


def test_two_that_add_up_to_two_are_one_each(tmp_path: Path, audited: Audited) -> None:
    write_cells(tmp_path, 2)
    assert audited()[1]["breaches"] == []
    code, found = audited("--rule=minimum_frequency=3")
    assert (code, found["breaches"]) == (2, BOTH)
    assert len(found["exactly_known"]) == 4  # KB, R1 and KB, R2 follow; they are no small counts
    assert [cell["low"] for cell in found["narrowest"][:2]] == ["1", "1"]


def test_a_table_without_a_suppressed_cell_is_not_called_safe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cells(tmp_path, 2)
    cells = tmp_path / "cells.csv"
    lines = [line for line in cells.read_text(encoding="utf-8").splitlines() if line.startswith(("nace", "KC"))]
    cells.write_text("\n".join([*lines, "Total,Total,published,60\n"]), encoding="utf-8")
    main(command("audit-table", cells))
    golden.where("attacked", capsys.readouterr().out)


def test_what_can_only_be_small_is_told_apart(tmp_path: Path, audited: Audited) -> None:
    """3 = 1 + 2 or 2 + 1: by a minimum of 5 both are sensitive, whichever it is."""
    write_cells(tmp_path, 3)
    code, found = audited("--rule=minimum_frequency=5")
    assert (code, found["breaches"]) == (
        2,
        [f"anybody can tell that nace KA, region {region} is sensitive" for region in ("R1", "R2")],
    )
    assert audited("--rule=minimum_frequency=2")[0] == 0  # either may be 2, which is no secret
    write_cells(tmp_path, 3, ("primary", "secondary"))
    code, found = audited("--rule=minimum_frequency=5")
    assert (code, found["breaches"]) == (0, [])  # which cells are sensitive is told, and neither value


def test_two_words_bound_both(tmp_path: Path, audited: Audited) -> None:
    """4 = 2 + 2 where both are known to be below 3; else 1 + 3 is possible."""
    write_cells(tmp_path, 4)
    assert audited("--rule=minimum_frequency=3")[1]["breaches"] == []
    write_cells(tmp_path, 4, ("primary", "secondary"))
    code, found = audited("--rule=minimum_frequency=3")
    assert (code, found["breaches"]) == (2, BOTH)


def test_what_is_known_of_one_cell_opens_others(tmp_path: Path, audited: Audited) -> None:
    write_cells(tmp_path, 9)
    known = tmp_path / "known.csv"
    known.write_text("nace,region,lower,upper\nKB,R1,38,\nKA,R2,,7\n", encoding="utf-8")
    code, found = audited(f"--known={known}")
    ends = {(cell["nace"], cell["region"]): (cell["low"], cell["high"]) for cell in found["intervals"]}
    assert code == 2
    assert ends["KA", "R1"] == ("2", "2")  # 40 less 38 at most; 9 less 7 at least
    assert ends["KB", "R1"] == ("38", "38")
    known.write_text("nace,region,lower,upper\nKB,R1,33,\n", encoding="utf-8")
    assert audited(f"--known={known}")[0] == 0


def test_what_rules_and_bounds_cannot_be(tmp_path: Path, audited: Audited) -> None:
    write_cells(tmp_path, 4)
    known = tmp_path / "known.csv"
    known.write_text("nace,region,lower,upper\nKC,R1,30,\n", encoding="utf-8")
    error = audited(f"--known={known}")[1]["error"]
    golden(error)
    assert "known.csv" in error
    assert "cells.csv" not in error
    known.write_text("nace,region,lower,upper\nKA,R1,30,\n", encoding="utf-8")
    golden(audited(f"--known={known}")[1]["error"])
    golden(audited("--rule=zero_cells")[1]["error"])
    text = (tmp_path / "cells.csv").read_text(encoding="utf-8")
    for total in ("KC,R1,published,20", "KC,Total,published,60", "Total,R1,published,60", "Total,Total,published,184"):
        assert f"{total}\n" in text
        text = text.replace(f"{total}\n", f"{total}.5\n")
    (tmp_path / "cells.csv").write_text(text, encoding="utf-8")
    error = audited("--rule=minimum_frequency=3")[1]["error"]
    golden(error)


@pytest.mark.chain  # two linear programs for each suppressed cell, over the whole table
@given(
    st.lists(st.integers(0, 400), min_size=9, max_size=9),
    st.sets(st.integers(0, 15), min_size=2, max_size=7),
    st.sampled_from([1, 5, 10]),
)
def test_no_interval_of_a_rounded_table_leaves_the_truth_out(inner: list[int], hidden: set[int], unit: int) -> None:
    """Each figure rounded by itself. What the sums alone tell of exact figures is told of rounded ones, too."""
    table = np.zeros((4, 4), dtype=int)
    table[1:, 1:] = np.reshape(inner, (3, 3))
    table[0, 1:], table[1:, 0], table[0, 0] = table.sum(0)[1:], table.sum(1)[1:], table.sum()
    names = ["Total", "u", "v", "w"]

    def audited(figures: IntArray, **rounded: float) -> Any:
        rows = [
            (names[i], names[j], "suppressed" if 4 * i + j in hidden else "published", figures[i, j])
            for i in range(4)
            for j in range(4)
        ]
        frame = pd.DataFrame(rows, columns=["a", "b", "status", "value"])
        frame["value"] = frame["value"].where(frame["status"] == "published").astype("Int64")
        return sluice.audit(frame, ["a", "b"], **rounded)

    read = audited(unit * np.rint(table / unit).astype(int), rounded_to=unit)
    for cell in read.of_intervals:
        truth = table[names.index(cell["a"]), names.index(cell["b"])]
        assert float(cell["low"]) - 0.5 <= truth <= (np.inf if cell["high"] is None else float(cell["high"]) + 0.5)
    equations = equations_of([Dimension.flat(name, ["u", "v", "w"]) for name in "ab"], np.argwhere(table >= 0))
    free = np.isin(np.arange(16), sorted(hidden))
    assert len(read.exact) >= determined(equations, free)[0].sum()


@pytest.mark.parametrize("figures", [(2000, 0, 0, 300), (2000, 20, 10, 300)])
def test_parts_of_a_sum_that_is_nothing_but_rounding_are_known_and_so_is_what_follows(figures: tuple[int, ...]) -> None:
    """No part is tied down by equations alone: that a sum leaves its parts nothing needs them to be 0 or more."""
    u, v, vz, uz = figures
    inner = {"u": ("primary", "primary", uz), "v": ("secondary", "secondary", vz), "w": (1200, 1100, 700)}
    rows = [("Total", "Total", 5000), ("u", "Total", u), ("v", "Total", v), ("w", "Total", 3000)]
    rows += [("Total", "x", 2000), ("Total", "y", 2000), ("Total", "z", 1000)]
    rows += [(a, b, cell) for a, cells in inner.items() for b, cell in zip("xyz", cells, strict=True)]
    frame = pd.DataFrame(
        [(a, b, *((cell, pd.NA) if isinstance(cell, str) else ("published", cell))) for a, b, cell in rows],
        columns=["a", "b", "status", "value"],
    ).astype({"value": "Int64"})
    found = sluice.audit(frame, ["a", "b"], rounded_to=10)
    assert found.verdict is Verdict.FAIL
    assert len(found.exact) == 4
    assert len(found.breaches) == 2


def test_a_table_that_does_not_add_up_says_where_and_what_may_be_the_reason() -> None:
    frame = pd.DataFrame({"a": ["Total", "u", "v"], "status": "published", "value": [10, 5, 6]})
    with golden.raises(DataError):
        sluice.audit(frame, ["a"])
    assert sluice.audit(frame, ["a"], rounded_to=1).verdict is Verdict.PASS
    with golden.raises(DataError):
        sluice.audit(frame.assign(value=[10, 5, 8]), ["a"], rounded_to=1)
    for wrong in ({"rounded_to": 0}, {"decimals": 9}):
        with golden.raises(DataError):
            sluice.audit(frame, ["a"], **wrong)


def test_sums_that_hold_with_negative_values_alone_say_so() -> None:
    """10 = 12 + a suppressed value."""
    rows = [("Total", "published", 10), ("u", "published", 12), ("v", "suppressed", None)]
    table = pd.DataFrame(rows, columns=["a", "status", "value"])
    golden.refused(DataError, sluice.audit, table, ["a"])
    assert sluice.audit(table, ["a"], nonnegative=False).exactly_known == 1
