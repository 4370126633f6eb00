"""`sluice table redesign`: advice on real shapes of business data, figures counted again from the records."""

import re
from pathlib import Path

import pandas as pd
import pytest

from flows.cli.main import main
from tests.flows.house import answered
from tests.golden import golden
from tests.reference_data import reference_path
from tests.tabular.tables import read_text

RULES = ("--rule=p_percent=10", "--rule=minimum_frequency=3")
AXES = ("nace", "region", "size")


def arguments(*more: str) -> list[str]:
    data = reference_path("business_generated", "s1k")
    hierarchies = [f"--hierarchy={axis}={data}/hier_{axis}.csv" for axis in AXES]
    return ["redesign-table", f"{data}/micro.csv.gz", *hierarchies, "--value=value", "--contributor=id", *RULES, *more]


@pytest.mark.exhaustive  # tests/tabular/advice asks the same without the command
def test_single_changes_and_what_their_best_one_spares(tmp_path: Path) -> None:
    """The merge that it puts first, carried out on the records and the hierarchy, spares as many cells as it says."""
    outcome = answered(arguments("--json")).json
    assert (outcome["cells"], outcome["judged"], outcome["suppressed"]) == (1053, False, None)
    assert outcome["sensitive"] == {"p_percent": 65, "minimum_frequency": 54}
    assert len(outcome["changes"]) == 10
    best = outcome["changes"][0]
    assert best["change"] == "merge region RC1 and RC2"
    data = reference_path("business_generated", "s1k")
    read_text(data / "micro.csv.gz").replace({"region": {"RC2": "RC1"}}).to_csv(tmp_path / "micro.csv", index=False)
    regions = read_text(data / "hier_region.csv")
    regions[regions["code"] != "RC2"].to_csv(tmp_path / "region.csv", index=False)
    output = tmp_path / "cells.csv"
    changed = [each.replace(f"{data}/micro.csv.gz", str(tmp_path / "micro.csv")) for each in arguments()[1:]]
    changed = [each.replace(f"{data}/hier_region.csv", str(tmp_path / "region.csv")) for each in changed]
    assert main(["protect-table", *changed, "--set=form.tell_primary=true", f"--output={output}"]) == 0
    made = read_text(output)
    assert len(made) == best["published_cells"][1]
    assert (made["status"] == "primary").sum() == best["sensitive"][1] < best["sensitive"][0] == 65


@pytest.mark.exhaustive
def test_changes_one_after_another_save_suppression() -> None:
    lines = answered(arguments("--steps=2", "--ordered=size")).out.splitlines()
    golden(lines[0])
    assert lines[1].startswith("  1. merge region RC1 and RC2: 16 of 65 sensitive cells go")
    assert re.match(r"  2\. merge .* of 49 sensitive cells go", lines[2])
    found = re.fullmatch(r"suppressed: (\d+) cells before these changes, (\d+) after them", lines[3])
    assert found
    assert 0 < int(found[2]) < int(found[1])
    assert lines[4].startswith("Advice only: nobody judged the table, and nothing was written.")


def test_nothing_to_spare(tmp_path: Path) -> None:
    (tmp_path / "size.csv").write_text("code,parent\nTotal,\nS1,Total\nS2,Total\n", encoding="utf-8")
    pd.DataFrame({"size": ["S1"] * 5 + ["S2"] * 5}).to_csv(tmp_path / "micro.csv", index=False)
    given = ["redesign-table", f"{tmp_path}/micro.csv", f"--hierarchy=size={tmp_path}/size.csv"]
    golden.words(answered([*given, "--rule=minimum_frequency=3"]).out)


@pytest.mark.parametrize(
    "more", [["--ordered=sise"], ["--table=nace:2,size"], ["--steps=0"], ["--rule=p_percent=1000"], ["--value=worth"]]
)
def test_refusals(more: list[str]) -> None:
    golden(answered(arguments(*more), 1).words)


def test_without_a_rule() -> None:
    golden.words(answered([each for each in arguments() if each not in RULES], 1).err)
