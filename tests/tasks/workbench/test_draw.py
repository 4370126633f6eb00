"""Methods that draw, outside any release: by a secret in a file, which nobody can do without."""

from pathlib import Path
from typing import Any

import pytest

import sluice
from flows.cli.main import main
from sluice.ground.verdict import Verdict
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import COUNT, VALUE, protect, write_firms

KEYED = "--method=cell_key=5,2.5"
BY_FIRM = ("--contributor=id", *COUNT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_firms(tmp_path)
    return tmp_path


def test_a_cell_has_the_same_noise_in_every_table(folder: Path) -> None:
    seed = f"--seed-file={folder / 'seed'}"
    assert main(protect(folder, *BY_FIRM, KEYED, seed)) == 0
    assert (folder / "seed").stat().st_mode & 0o777 == 0o600
    whole = read_text(folder / "cells.csv")
    assert main(protect(folder, *BY_FIRM, KEYED, seed, "--table=nace")) == 0
    alone = read_text(folder / "cells.csv")
    both = alone.merge(whole, on=["nace", "region"])
    assert len(both) == len(alone) == 7
    assert (both["value_x"] == both["value_y"]).all()
    true = read_text(folder / "micro.csv").groupby("nace").size()
    assert (both.set_index("nace")["value_x"].drop("Total").astype(int) != true).any()
    (folder / "seed").unlink()
    assert main(protect(folder, *BY_FIRM, KEYED, seed)) == 0
    assert not read_text(folder / "cells.csv").equals(whole)


def test_amounts_have_noise_of_their_own(folder: Path) -> None:
    given = [*VALUE, "--method=noise_multipliers=10", f"--seed-file={folder / 'seed'}"]
    assert main(protect(folder, *given)) == 0
    noisy = read_text(folder / "cells.csv").set_index(["nace", "region"])["value"].astype(int)
    records = read_text(folder / "micro.csv").astype({"value": int})
    assert noisy["Total", "Total"] != records["value"].sum()
    assert noisy.drop("Total", level="nace").drop("Total", level="region").sum() == noisy["Total", "Total"]


def test_the_same_seed_rounds_the_same_table_alike(folder: Path) -> None:
    given = [*COUNT, "--method=small_count_rounding=6", f"--seed-file={folder / 'seed'}"]
    made = []
    for _ in range(2):
        assert main(protect(folder, *given)) == 0
        made.append((folder / "cells.csv").read_bytes())
    assert made[0] == made[1]


def test_what_a_draw_needs(folder: Path) -> None:
    (folder / "guessed").write_text("1\n", encoding="utf-8")
    for given in (
        (*BY_FIRM, KEYED),
        (*BY_FIRM, KEYED, f"--seed-file={folder / 'guessed'}"),
        (*BY_FIRM, KEYED, f"--seed-file={folder / 'micro.csv'}"),
        (*COUNT, KEYED, f"--seed-file={folder / 'seed'}"),
        (*COUNT, "--method=small_count_rounding=5"),
    ):
        golden(answered(protect(folder, *given), 1).err)
        assert not (folder / "cells.csv").exists()


def test_no_seed_is_made_for_what_does_not_draw(folder: Path) -> None:
    assert main(protect(folder, *VALUE, "--method=controlled_rounding=50", f"--seed-file={folder / 'seed'}")) == 0
    assert not (folder / "seed").exists()


def test_a_secret_hides_from_the_pattern_what_cost_least(folder: Path) -> None:
    """The search goes by costs with noise, which are the same with the same secret."""
    firms = read_text(folder / "micro.csv").astype({"value": int})
    rules = [{"rule": "p_percent", "p": 10}]
    given: dict[str, Any] = {"value": "value", "contributor": "id", "rules": rules}
    plain, one, again, other = (sluice.protect(firms, ["nace", "region"], **given, seed=s) for s in (None, 1, 1, 2))
    assert {each.verdict for each in (plain, one, again, other)} == {Verdict.PASS}
    assert one.cost == again.cost
    assert len({plain.cost, one.cost, other.cost}) == 3
    assert (one.pattern["status"] == again.pattern["status"]).all()
    assert main(protect(folder, *VALUE, f"--seed-file={folder / 'seed'}")) == 0
    assert (folder / "seed").exists()  # so the command asked for it
