"""Dimensions of which nobody wrote a hierarchy."""

from pathlib import Path

import pytest

from flows.cli.main import main
from sluice.ground.errors import DataError, DocumentError
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabulation import dimensions_of
from tests.flows.house import answered
from tests.golden import golden
from tests.tabular.tables import read_text
from tests.tasks.workbench.firms_file import COUNT, protect, write_firms


def test_codes_of_records_and_of_cells_add_up_to_their_total(tmp_path: Path) -> None:
    write_firms(tmp_path)
    assert main(protect(tmp_path, *COUNT)) == 0
    flat = ["--hierarchy=nace", "--hierarchy=region"]
    (tmp_path / "out").mkdir()
    made = ["protect-table", str(tmp_path / "micro.csv"), *flat, *COUNT, "--table=nace,region", "--table=nace"]
    assert main([*made, f"--output={tmp_path / 'out'}"]) == 0
    assert read_text(tmp_path / "out" / "nace-region.csv").equals(read_text(tmp_path / "cells.csv"))
    for cells in ("cells.csv", "out"):
        assert main(["audit-table", str(tmp_path / cells), *flat]) == 0


GERMAN = "a,b,v,n,t1,t2\nG,G,100,20,20,19\nx,G,60,10,20,19\ny,G,40,10,10,10\nG,p,50,10,19,15\nG,q,50,10,20,10\n" + (
    "x,p,30,4,19,5\nx,q,30,6,20,5\ny,p,20,6,10,5\ny,q,20,4,10,5\n"
)
CELLS = ["--hierarchy=a", "--hierarchy=b", "--value=v", "--rule=minimum_frequency=5"]
ADDED_UP = ["--frequency=n", "--largest=t1,t2"]


@pytest.mark.parametrize(("word", "said"), [("Gesamt", ["--total=Gesamt"]), ("TOTAL", []), ("_T", [])])
def test_a_total_may_be_called_otherwise(tmp_path: Path, word: str, said: list[str]) -> None:
    """In other letters, or as SDMX calls it, it is found; else one says so. The audit of what came of it, too."""
    for name in ("Total", word):
        (tmp_path / f"{name}.csv").write_text(GERMAN.replace("G", name))
        more = ["--rule=p_percent=10", *ADDED_UP, *(said if name == word else [])]
        made = ["protect-table", str(tmp_path / f"{name}.csv"), *CELLS, *more, f"-o{tmp_path / f'{name} made.csv'}"]
        assert main(made) == 0
    ours, theirs = (read_text(tmp_path / f"{name} made.csv") for name in ("Total", word))
    assert ours.replace("Total", word).sort_values(["a", "b"]).values.tolist() == (
        theirs.sort_values(["a", "b"]).values.tolist()
    )
    audited = ["audit-table", str(tmp_path / f"{word} made.csv"), "--hierarchy=a", "--hierarchy=b"]
    assert main([*audited, *(f"--total={name}={word}" for name in "ab" if said)]) == 0


@pytest.mark.parametrize("name", ["Gesamt", "Total", "whole"])
def test_cells_are_not_taken_for_records(tmp_path: Path, name: str) -> None:
    """Each would count as a firm of its own, and the totals twice; and the pattern would be called safe."""
    (tmp_path / "cells.csv").write_text(GERMAN.replace("G", name))
    made = ["protect-table", str(tmp_path / "cells.csv"), *CELLS, f"-o{tmp_path / 'made.csv'}"]
    golden.words(answered(made, 1).err)
    assert not (tmp_path / "made.csv").exists()
    read_text(tmp_path / "cells.csv").astype({"v": int}).to_parquet(tmp_path / "cells.parquet")
    assert main([each.replace("cells.csv", "cells.parquet") for each in made]) == 1
    counted = [each for each in made if each != "--value=v"]
    assert main(counted) == (0 if name == "whole" else 1)  # of counts, what it is called alone tells


def test_records_of_which_one_happens_to_be_the_sum_of_the_others_stay_records(tmp_path: Path) -> None:
    for text in ("a,b,v\nx,p,5\ny,p,3\nz,p,2\n", "a,b,v\nx,p,3\ny,p,3\nx,q,4\ny,q,4\nx,r,1\ny,r,1\nx,s,2\ny,s,2\n"):
        (tmp_path / "records.csv").write_text(text)
        assert main(["protect-table", str(tmp_path / "records.csv"), *CELLS, f"-o{tmp_path / 'made.csv'}"]) == 0


def test_codes_that_are_spelled_in_two_ways_are_counted(tmp_path: Path) -> None:
    codes = ["Nord - Pas", "Nord – Pas", "nord-pas", "Sud"]
    (tmp_path / "records.csv").write_text("a,v\n" + "".join(f"{code},{n}\n" for n in (5, 6, 7) for code in codes))
    options = ["--value=v", "--rule=minimum_frequency=3", f"-o{tmp_path / 'made.csv'}"]
    made = answered(["protect-table", str(tmp_path / "records.csv"), "--hierarchy=a", *options])
    golden.words(made.err)


@pytest.mark.parametrize("role", ["variable", "contributor", "holding"])
def test_a_dimension_is_no_measure_and_no_contributor(role: str) -> None:
    """Each suppressed value would stand in the codes of its cell."""
    measure = {"variable": "v", "contributor": "f"} | {role: "a"}
    golden.refused(DocumentError, StandaloneTable.of, {"dimensions": [{"variable": "a"}], "measure": measure}, "x")


def test_refusals(tmp_path: Path) -> None:
    write_firms(tmp_path)
    flat, wrong = (StandaloneTable.of({"dimensions": [{"variable": name}]}, "x") for name in ("nace", "nase"))
    golden.refused(DataError, dimensions_of, flat, tmp_path / "micro.csv", totals=True)
    golden.refused(DataError, dimensions_of, wrong, tmp_path / "micro.csv")
    for given in ("=x", "size=x", "nace="):
        golden.words(answered(["audit-table", "x.csv", "--hierarchy=nace", f"--total={given}"], 1).err)
    for given in ("=nace.csv", "nace="):
        golden.words(answered(["audit-table", str(tmp_path / "micro.csv"), f"--hierarchy={given}"], 1).err)


def test_na_is_said_where_it_may_be_no_code_and_is_namibia_among_countries(tmp_path: Path) -> None:
    rows = [f"{region},{country}\n" for region in ("North", "NA", "?") for country in ("DE", "NA", "FR", "IT")]
    (tmp_path / "people.csv").write_text("region,country\n" + "".join(5 * rows), encoding="utf-8")
    made = ["protect-table", str(tmp_path / "people.csv"), f"-o{tmp_path / 'made.csv'}", "--rule=minimum_frequency=3"]
    answer = answered([*made, "--hierarchy=region", "--hierarchy=country", "--json"])
    assert [(each["code"], each["column"], each["count"]) for each in answer.json["reading"]] == [
        ("reading.marks", "region", 2)
    ]
    (tmp_path / "region.csv").write_text("code,parent\nTotal,\nNorth,Total\nNA,Total\n?,Total\n", encoding="utf-8")
    assert not answered([*made, f"--hierarchy=region={tmp_path / 'region.csv'}", "--json"]).json["reading"]
