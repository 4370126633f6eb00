"""Batches of tau-ARGUS, run: files as its manual and rtauargus write them, read, protected and written."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.publication.argus_table_files import hierarchy_lines
from sluice.sources.hierarchy_file import read_rows
from sluice.sources.perturbation_file import p_table_text
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.model.cells import Status
from sluice.tabular.model.dimension import Dimension
from tasks.workbench.argus import BatchRun, run_batch
from tests.flows.house import DONE, answered
from tests.golden import golden

RDA = """Size 1 2 "99"
  <RECODEABLE>
Region 3 2 "99"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "region2.hrc"
  <HIERLEADSTRING> "@"
Var2 5 10
  <NUMERIC>
  <DECIMALS> 2
Wgt 15 3
  <WEIGHT>
Group 19 4
  <HOLDING>
Req 23 1
  <REQUEST> "1" "2"
"""
RULES = "P(25,1)|FREQ(3,20)|MAN(20)|WGT(0)|MIS(0)"
OPEN = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'


def records(folder: Path, count: int = 120, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "Size": [["s1", "s2", "s3"][int(at)] for at in rng.random(count) ** 1.4 * 3],
            "Region": [str(1 + int(at)) for at in rng.random(count) ** 1.6 * 6],
            "Var2": np.round(rng.lognormal(4, 1.4, count), 2),
            "Wgt": rng.integers(1, 4, count),
            "Group": [f"G{at // 2:03d}" for at in range(count)],
            "Req": np.where(rng.random(count) < 0.2, "1", "0"),
        }
    )
    lines = (
        f"{row.Size}{row.Region:>2}{row.Var2:10.2f}{row.Wgt:3d} {row.Group}{row.Req}" for row in frame.itertuples()
    )
    (folder / "m.asc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "m.rda").write_text(RDA, encoding="utf-8")
    (folder / "region2.hrc").write_text("Nr\n@ 1\n@ 2\n@ 3\nOs\n@ 4\n@ 5\n@ 6\n", encoding="utf-8")
    return frame


def run(folder: Path, text: str, confidential: bool = False) -> BatchRun:
    (folder / "a.arb").write_text(text, encoding="utf-8")
    return run_batch(folder / "a.arb", confidential=confidential)


def micro(rules: str = RULES, more: str = "<SUPPRESS> MOD(1)\n", table: str = '"Size""Region"|"Var2"||') -> str:
    return f"{OPEN}<SPECIFYTABLE> {table}\n<SAFETYRULE> {rules}\n<READMICRODATA>\n{more}"


def rows(file: Path, separator: str = ",") -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.reader(opened, delimiter=separator))


def test_records_become_files_for_publication(tmp_path: Path) -> None:
    """Totals as pandas adds them; no value of a suppressed cell in any file, and no word why it is suppressed."""
    frame = records(tmp_path)
    wanted = [(1, "", "t1.csv"), (2, "AS+", "t2.csv"), (3, "AS-SE+FL+QU-", "t3.txt"), (4, "HL+", "t4.txt")]
    written = "".join(f'<WRITETABLE> (1,{kind},{options},"{name}")\n' for kind, options, name in wanted)
    made = run(tmp_path, f'<LOGBOOK> "run.log"\n{micro(more="<SUPPRESS> MOD(1)" + chr(10) + written)}')
    assert [file.name for file in made.files] == ["t1.csv", "t2.csv", "t3.txt", "t4.txt"]
    (of,) = made.protected
    cells, status = of.made.tabulated.cells, of.made.status
    hidden = {
        f"{cells.total[at] / 100:.2f}": cells.name(at) for at in np.flatnonzero(status != Status.PUBLISHED).tolist()
    }
    assert len(hidden) > 5
    for file in made.files:
        said = {cell for row in rows(file) for cell in row}
        assert not said & hidden.keys(), file.name
    table = {(size, region): (value, word) for size, region, value, word in rows(tmp_path / "t2.csv")[1:]}
    assert (
        table[("s1", "Nr")][0] == f"{frame[(frame.Size == 's1') & frame.Region.isin(['1', '2', '3'])].Var2.sum():.2f}"
    )
    assert table[("Total", "Total")] == (f"{frame.Var2.sum():.2f}", "1")
    assert {word for value, word in table.values() if value == "x"} == {"11"}
    assert rows(tmp_path / "t3.txt")[0] == ["Size", "Region", "Var2"]
    assert {row[-2] for row in rows(tmp_path / "t4.txt")} == {"V", "D"}
    golden((tmp_path / "run.log").read_text(encoding="utf-8").partition("\n")[2])


def test_what_is_written_to_be_read_again_is_protected_in_the_same_way(tmp_path: Path) -> None:
    """Intermediate files with metadata and hierarchies; then they are the cells of a batch, and written once more."""
    records(tmp_path)
    first = run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,5,,"t.tab")\n'), confidential=True)
    assert {file.name for file in first.files} == {"t.tab", "t.rda", "t.hst", "t_Region.hrc"}
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in first.files)
    more = '<READTABLE>\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,5,,"u.tab")\n<WRITETABLE> (1,4,,"u.sbs")\n'
    text = (
        f'<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n<SPECIFYTABLE> "Size""Region"|"Var2"||\n'
        f"<SAFETYRULE> {RULES}\n{more}"
    )
    again = run(tmp_path, text, confidential=True)
    one, other = (each.protected[0].made for each in (first, again))
    assert np.array_equal(one.tabulated.cells.total, other.tabulated.cells.total)
    assert ((one.status != Status.PUBLISHED) <= (other.status != Status.PUBLISHED)).all()  # M stays suppressed
    assert [row[:6] for row in rows(tmp_path / "t.tab", ";")] == [row[:6] for row in rows(tmp_path / "u.tab", ";")]
    assert (tmp_path / "t_Region.hrc").read_bytes() == (tmp_path / "u_Region.hrc").read_bytes()
    letters = {tuple(row[:2]): row[4] for row in rows(tmp_path / "u.sbs")}
    counts = {tuple(row[:2]): int(row[3]) for row in rows(tmp_path / "u.sbs")}
    assert all(letters[cell] == "A" for cell, count in counts.items() if count < 3)


def test_what_was_suppressed_is_asked_of_another_run(tmp_path: Path) -> None:
    """The .hst of one run, read by one without rules of its own; labels of codes go with the file."""
    records(tmp_path)
    (tmp_path / "size.cdl").write_text("s1,small\ns2,of 10, 20 or more\n", encoding="utf-8")
    (tmp_path / "m.rda").write_text(RDA.replace("Region 3", '  <CODELIST> "size.cdl"\nRegion 3'), encoding="utf-8")
    first = run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,5,,"t.tab")\n'), confidential=True)
    assert (tmp_path / "t_Size.cdl").read_text(encoding="utf-8") == "s1,small\ns2,of 10, 20 or more\n"
    assert '<CODELIST> "t_Size.cdl"' in (tmp_path / "t.rda").read_text(encoding="utf-8")
    again = run(tmp_path, micro("MAN(20)", '<APRIORI> "t.hst",1,";",0,0\n<SUPPRESS> MOD(1)\n'))
    one, other = (each.protected[0].made for each in (first, again))
    assert ((one.status != Status.PUBLISHED) <= (other.status != Status.PUBLISHED)).all()
    sensitive = one.status == Status.PRIMARY
    assert np.array_equal(other.requirements.upper[sensitive], one.requirements.upper[sensitive])
    (tmp_path / "size.cdl").write_text("small\n", encoding="utf-8")
    golden.refused(DataError, run, tmp_path, micro(more="<SUPPRESS> MOD(1)\n"))


# Numbers of checkTauArgus (sdcTools), inst/tests/Batch/ex1 and ex2; the statuses that its tests expect of tau-ARGUS.
EXPECTED = list("ssssxussssxxsss")
PEOPLE = {"A": (895, 137), "B": (753, 973), "C": (569, 486), "D": (540, 793)}
AMOUNTS = {
    "A,female": ("77.38 112.02 "),
    "A,male": (
        "112.39 69.17 156.80 91.58 76.83 68.09 138.54 102.96 104.51 88.92 109.28 96.26 163.35 85.81 "
        "145.87 110.25 86.39 131.79 "
    ),
    "B,female": (
        "95.89 81.57 80.94 110.28 122.59 112.91 118.77 103.45 74.78 101.05 139.90 107.33 33.88 "
        "94.58 98.31 103.01 178.10 93.44 148.02 "
    ),
    "B,male": ("87.70 141.30 105.04 97.34 144.70 116.03 80.69 80.24 113.03 93.59 123.38 101.96 90.74 100.32 "),
    "C,female": ("95.19 146.46 76.82 107.72 100.74 90.32 91.93 103.05 144.17 100.96 "),
    "C,male": ("101.97 47.60 133.43 79.86 149.10 73.45 87.57 124.55 120.18 117.65 76.87 79.93 "),
    "D,female": ("82.37 92.64 125.19 139.06 127.57 88.15 113.25 102.78 140.40 104.50 78.97 88.22 139.08 92.14 "),
    "D,male": ("128.96 61.33 82.88 82.78 120.12 124.65 101.29 93.67 100.52 86.49 135.37 "),
}


def statuses(folder: Path) -> list[str]:
    return [{"1": "s", "11": "x"}.get(row[3], "u") for row in rows(folder / "out.txt")[1:]]


def test_the_batches_that_tau_argus_is_tested_by(tmp_path: Path) -> None:
    """Cells with one that somebody calls unsafe, and records with P(20,5): all totals and statuses are theirs."""
    (tmp_path / "region.hrc").write_text("A\nB\nC\nD\n", encoding="utf-8")
    (tmp_path / "gender.hrc").write_text("male\nfemale\n", encoding="utf-8")
    head = '<SEPARATOR> ","\n<SAFE> "S"\n<UNSAFE> "U"\n<PROTECT> "Z"\n'
    head += "".join(
        f'{name} 1\n <RECODEABLE>\n <TOTCODE> "Total"\n <HIERCODELIST> "{name}.hrc"\n <HIERLEADSTRING> "@"\n'
        " <HIERARCHICAL>\n"
        for name in ("region", "gender")
    )
    more = "freq\n <NUMERIC>\nsdcStatus\n <STATUS>\nlpl\n <NUMERIC> <LOWERPL>\nupl\n <NUMERIC> <UPPERPL>\n"
    (tmp_path / "cells.rda").write_text(head + more, encoding="utf-8")
    lines = []
    for region in ("Total", *PEOPLE):
        own = [both for name, both in PEOPLE.items() if region in (name, "Total")]
        male, female = (sum(each) for each in zip(*own, strict=True))
        for gender, count in (("Total", male + female), ("male", male), ("female", female)):
            status = "U" if (region, gender) == ("A", "female") else "S"
            lines.append(f"{region:>5},{gender:>6},{count},{status},1,1")
    (tmp_path / "cells.tab").write_text("\n".join(lines) + "\n", encoding="utf-8")
    end = '<SOLVER> FREE\n<SUPPRESS> OPT(1,1)\n<WRITETABLE> (1, 3, AS+FL+, "out.txt")\n'
    text = '<OPENTABLEDATA> "cells.tab"\n<OPENMETADATA> "cells.rda"\n<SPECIFYTABLE> "region""gender"|"freq"|""|""\n'
    run(tmp_path, f"{text}<SAFETYRULE> MAN(20)\n<READTABLE>\n{end}", confidential=True)
    assert rows(tmp_path / "out.txt")[:2] == [["region", "gender", "freq", "Status"], ["Total", "Total", "5146", "1"]]
    assert statuses(tmp_path) == EXPECTED
    (tmp_path / "m2.rda").write_text(f"{head}num1 6 999999\n <NUMERIC>\n <DECIMALS> 2\n", encoding="utf-8")
    amounts = "".join(f"{codes},{each}\n" for codes, given in AMOUNTS.items() for each in given.split())
    (tmp_path / "m2.asc").write_text(amounts, encoding="utf-8")
    text = '<OPENMICRODATA> "m2.asc"\n<OPENMETADATA> "m2.rda"\n<SPECIFYTABLE> "region""gender"|"num1"|""|""\n'
    run(tmp_path, f"{text}<SAFETYRULE> FREQ(5,20)|P(20,5)|\n<READMICRODATA>\n{end}", confidential=True)
    assert rows(tmp_path / "out.txt")[1][:3] == ["Total", "Total", "10484.95"]
    assert statuses(tmp_path) == EXPECTED


def test_equations_of_a_jj_file_hold(tmp_path: Path) -> None:
    records(tmp_path)
    run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,6,,"t.jj")\n'), confidential=True)
    lines = (tmp_path / "t.jj").read_text(encoding="utf-8").splitlines()
    count = int(lines[1])
    cells = [line.split() for line in lines[2 : 2 + count]]
    value = {int(cell[0]): float(cell[1]) for cell in cells}
    assert {cell[3] for cell in cells} == {"s", "u", "m"}
    assert all(len(cell) == 9 for cell in cells)
    equations = lines[3 + count :]
    assert len(equations) == int(lines[2 + count])
    for line in equations:
        _, terms, colon, *pairs = line.split()
        signs = {int(cell): int(sign.strip("()")) for cell, sign in zip(pairs[::2], pairs[1::2], strict=True)}
        assert (colon, len(signs)) == (":", int(terms))
        assert sum(sign * value[cell] for cell, sign in signs.items()) == pytest.approx(0, abs=0.005)


def test_cells_as_rtauargus_hands_them_over(tmp_path: Path) -> None:
    """No largest contributions; which cells are sensitive stands in the a-priori file, with MAN for their range."""
    (tmp_path / "t.rda").write_text(
        '   <SEPARATOR> ","\nACT\n  <RECODEABLE>\n  <TOTCODE> "Total"\n  <HIERARCHICAL>\n  <HIERCODELIST> "act.hrc"\n'
        '  <HIERLEADSTRING> "@"\nSIZE\n  <RECODEABLE>\n  <TOTCODE> "all"\nTOT\n  <NUMERIC>\n  <DECIMALS> 0\nN\n'
        "  <FREQUENCY>\n",
        encoding="utf-8",
    )
    (tmp_path / "act.hrc").write_text("A\n@A1\n@A2\nB\n@B1\n@B2\n@B3\n", encoding="utf-8")
    rng = np.random.default_rng(1)
    inner = {(act, size): int(rng.integers(20, 400)) for act in ("A1", "A2", "B1", "B2", "B3") for size in "xyz"}
    groups = {code: {code} for code in ("A1", "A2", "B1", "B2", "B3")}
    groups |= {"A": {"A1", "A2"}, "B": {"B1", "B2", "B3"}, "Total": {*groups}}
    lines = []
    for act, leaves in groups.items():
        for size in ("all", "x", "y", "z"):
            of = [value for (a, s), value in inner.items() if a in leaves and size in ("all", s)]
            lines.append(f'"{act}","{size}",{sum(of)},{len(of) * 4}')
    (tmp_path / "t.tab").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "t.hst").write_text(
        "A1,x,u\nB2,z,u\nA1,x,pl,3,3\nB2,z,pl,0.00001,0.00001\nB1,y,c,1\nB3,all,p\nB1,x,s\nA7,x,u\n", encoding="utf-8"
    )
    text = (
        '// Batch generated by package *rtauargus*\n<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n'
        '<SPECIFYTABLE> "ACT""SIZE"|"TOT"||\n<SAFETYRULE> MAN(10)\n<READTABLE> 1\n<APRIORI> "t.hst",1,",",1,0\n'
        '<SUPPRESS> MOD(1,5,1,0,0)\n<WRITETABLE> (1,4,AS+,"t.csv")\n'
    )
    made = run(tmp_path, text, confidential=True)
    letters = {tuple(row[:2]): row[4] for row in rows(tmp_path / "t.csv")}
    assert {cell for cell, letter in letters.items() if letter == "B"} == {("A1", "x"), ("B2", "z")}
    assert "D" in letters.values()
    assert letters[("B3", "all")] == letters[("Total", "all")] == "V"
    golden(". ".join(map(str, made.remarks)))
    golden.refused(DataError, run, tmp_path, text.replace('",1,0', '",0,0'))


def test_tables_of_one_measure_are_protected_together(tmp_path: Path) -> None:
    records(tmp_path)
    text = micro(
        more='<SPECIFYTABLE> "Region"|"Var2"||\n'
        f"<SAFETYRULE> {RULES}\n"
        '<SPECIFYTABLE> "Size"|<freq>||\n<SAFETYRULE> FREQ(3,10)\n<SUPPRESS> MOD(1)\n<SUPPRESS> MOD(2)\n'
        '<SUPPRESS> RND(3,5)\n<WRITETABLE> (2,2,,"r.csv")\n<WRITETABLE> (3,2,,"s.csv")\n'
    )
    made = run(tmp_path, text)
    assert [[table.line for table in each.tables] for each in made.protected] == [[3, 6], [8]]
    assert rows(tmp_path / "r.csv")[0] == ["Region", "Var2"]
    assert rows(tmp_path / "s.csv")[0] == ["Size", "Freq_Round"]
    assert all(int(row[1]) % 5 == 0 for row in rows(tmp_path / "s.csv")[1:])


def test_codes_of_a_missing_value_are_part_of_the_total(tmp_path: Path) -> None:
    """No hierarchy names them, and neither do the widths of codes."""
    records(tmp_path)
    lines = (tmp_path / "m.asc").read_text(encoding="utf-8").splitlines()
    (tmp_path / "m.asc").write_text("\n".join(f"{line[:2]}99{line[4:]}" if at < 9 else line for at, line in
                                              enumerate(lines)) + "\n", encoding="utf-8")  # fmt: skip
    made = run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,3,SE+,"t.txt")\n'))
    assert made.may_be_published
    assert "99" in {row[1] for row in rows(tmp_path / "t.txt")}
    widths = RDA.replace('<HIERCODELIST> "region2.hrc"\n  <HIERLEADSTRING> "@"', "<HIERLEVELS> 1 1")
    (tmp_path / "m.rda").write_text(widths, encoding="utf-8")
    run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,3,SE+,"t.txt")\n'))
    assert {"1", "99"} <= {row[1] for row in rows(tmp_path / "t.txt")}


@pytest.mark.parametrize(
    ("rules", "measure"),
    [
        ("P(0,1)|P(0,1)|P(25,1)|FREQ(0,0)|FREQ(3,10)", {"holding": "Group"}),
        ("P(10,1)|WGT(1)", {"weight": {"variable": "Wgt", "rule": "argus"}}),
        ("REQ(70,60,10)", {"requested": {"variable": "Req", "value": "1", "before": "2"}}),
    ],
)
def test_roles_of_the_metadata(rules: str, measure: dict[str, object], tmp_path: Path) -> None:
    records(tmp_path)
    made = run(tmp_path, micro(rules))
    assert made.may_be_published
    measured = made.protected[0].made.tabulated
    if "holding" in measure:
        assert measured.cells.contributors.max() == 60
    if "weight" in measure:
        assert measured.cells.contributors.max() > 120
    if "requested" in measure:
        assert measured.cells.asking is not None


def test_cells_that_are_called_safe_stay_suppressed_where_a_rule_forbids_them(tmp_path: Path) -> None:
    records(tmp_path)
    sensitive = run(tmp_path, micro()).protected[0].made
    cell = int(np.flatnonzero(sensitive.requirements.sensitive)[0])
    cells = sensitive.tabulated.cells
    codes = [each.codes[cells.codes[cell, axis]] for axis, each in enumerate(cells.dimensions)]
    (tmp_path / "a.hst").write_text(";".join([*codes, "s"]), encoding="utf-8")
    made = run(tmp_path, micro(more='<APRIORI> "a.hst",1,";",0,0\n<SUPPRESS> MOD(1)\n'))
    assert made.protected[0].made.status[cell] == Status.PRIMARY
    golden(str(next(each for each in made.remarks if each.line == 6)))


def test_nothing_is_written_where_a_table_cannot_be_protected(tmp_path: Path) -> None:
    records(tmp_path)
    codes = ([*"123456", "Nr", "Os", "Total"], ["s1", "s2", "s3", "Total"])
    free = "".join(f"{size};{region};p\n" for region in codes[0] for size in codes[1])
    (tmp_path / "a.hst").write_text(free, encoding="utf-8")
    more = '<APRIORI> "a.hst",1,";",1,0\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"t.csv")\n'
    before = {*tmp_path.iterdir()}
    golden.refused(DataError, run, tmp_path, micro(more=more))
    assert {*tmp_path.iterdir()} == before | {tmp_path / "a.arb"}


def with_keys(folder: Path) -> pd.DataFrame:
    """The records with a key of five decimals behind the other columns, and a perturbation table."""
    frame = records(folder)
    frame["Key"] = [f"{each:.5f}" for each in np.random.default_rng(5).random(len(frame))]
    lines = (folder / "m.asc").read_text(encoding="utf-8").splitlines()
    (folder / "m.asc").write_text("".join(f"{line}{key}\n" for line, key in zip(lines, frame["Key"], strict=True)))
    key = '\nKey 24 7\n  <RECORDKEY>\n  <DECIMALS> 5\n  <PFILE> "p.txt"\n'
    (folder / "m.rda").write_text(RDA.rstrip("\n") + key, encoding="utf-8")
    (folder / "p.txt").write_text(p_table_text(PerturbationTable.of_largest_entropy(4, 2, 2)), encoding="utf-8")
    return frame


COUNTS = '"Size""Region"|<freq>||'
FREE = "FREQ(3,10)"


def test_cell_keys_of_records(tmp_path: Path) -> None:
    """Each figure is read off the table for the fraction of the sum of the keys; no code of the product's adds them."""
    frame = with_keys(tmp_path)
    made = run(tmp_path, micro(FREE, '<SUPPRESS> CKM(1)\n<WRITETABLE> (1,3,FL+,"t.txt")\n', COUNTS))
    lines = [line.split(";") for line in (tmp_path / "p.txt").read_text().splitlines()[1:]]
    table: dict[int, list[tuple[float, int]]] = {}
    for count, _, _, noise, end in lines:
        table.setdefault(int(count), []).append((float(end), int(noise)))
    groups = {"Nr": "123", "Os": "456", "Total": "123456"} | {region: region for region in "123456"}
    assert rows(tmp_path / "t.txt")[0] == ["Size", "Region", "Freq_CKM"]
    for size, region, figure in rows(tmp_path / "t.txt")[1:]:
        inside = frame[frame["Region"].isin([*groups[region]]) & (frame["Size"].eq(size) | (size == "Total"))]
        units = sum(int(key.replace(".", "")) for key in inside["Key"]) % 100_000
        own = table[min(len(inside), max(table))]
        expected = len(inside) + next(noise for end, noise in own if units / 100_000 <= end)
        assert figure == (str(expected) if expected else "-")  # what became 0 looks as if it were empty
    assert made.may_be_published
    golden(made.protected[0].made.says)


@pytest.mark.parametrize("change", ["<RECORDKEY>", '<PFILE> "p.txt"'])
def test_cell_keys_need_keys_and_a_table(change: str, tmp_path: Path) -> None:
    with_keys(tmp_path)
    text = (tmp_path / "m.rda").read_text(encoding="utf-8")
    (tmp_path / "m.rda").write_text(text.replace(change, ""), encoding="utf-8")
    golden.refused(DataError, run, tmp_path, micro(FREE, "<SUPPRESS> CKM(1)\n", COUNTS))


def test_recoded_variables(tmp_path: Path) -> None:
    """By a file of groups, by one that ends a hierarchy at a code, and by a level; totals stay."""
    frame = records(tmp_path)
    (tmp_path / "s.grc").write_text("small: s1-s2\n", encoding="utf-8")
    (tmp_path / "r.grc").write_text("<TREERECODE>\nOs\n", encoding="utf-8")
    write = '<SUPPRESS> MOD(1)\n<WRITETABLE> (1,3,SE+,"t.txt")\n'
    run(tmp_path, micro(more='<RECODE> 1, Size, "s.grc"\n<RECODE> 1,"Region","r.grc"\n' + write))
    table = {(size, region): value for size, region, value in rows(tmp_path / "t.txt")}
    assert {size for size, _ in table} == {"Total", "small", "s3"}
    assert {region for _, region in table} == {"Total", "Nr", "1", "2", "3", "Os"}
    own = frame[frame["Size"].isin(["s1", "s2"]) & frame["Region"].isin([*"123"])]
    assert table["small", "Nr"] in (f"{own.Var2.sum():.2f}", "x")
    assert table["Total", "Total"] == f"{frame.Var2.sum():.2f}"
    made = run(tmp_path, micro(more=f"<RECODE> 1, Region, 1\n{write}"))
    assert {region for _, region, _ in rows(tmp_path / "t.txt")} == {"Total", "Nr", "Os"}
    golden(str(next(each for each in made.remarks if each.line == 6)))


def test_cells_end_where_a_recoding_says(tmp_path: Path) -> None:
    records(tmp_path)
    run(tmp_path, micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,5,,"t.tab")\n'), confidential=True)
    text = (
        '<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n<SPECIFYTABLE> "Size""Region"|"Var2"||\n'
        f'<SAFETYRULE> {RULES}\n<READTABLE>\n<RECODE> 1, Region, 1\n<SUPPRESS> MOD(1)\n<WRITETABLE> (1,3,SE+,"u.txt")\n'
    )
    run(tmp_path, text)
    assert {region for _, region, _ in rows(tmp_path / "u.txt")} == {"Total", "Nr", "Os"}


@pytest.mark.parametrize(
    "recode", ["1, Size, 1", "1, Region, 7", '1, Region, "s.grc"', '1, Size, "r.grc"', '1, Size, "no.grc"']
)
def test_recodings_that_cannot_be(recode: str, tmp_path: Path) -> None:
    records(tmp_path)
    (tmp_path / "s.grc").write_text("small: s1-s2\n", encoding="utf-8")
    (tmp_path / "r.grc").write_text("<TREERECODE>\nOs\n", encoding="utf-8")
    golden.refused(DataError, run, tmp_path, micro(more=f"<RECODE> {recode}\n<SUPPRESS> MOD(1)\n"))


WRITE = '<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"t.csv")\n'


@pytest.mark.parametrize(
    "text",
    [
        micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,5,,"t.tab")\n'),
        micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"m.asc")\n'),
        micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"no/t.csv")\n'),
        micro(more='<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"t.rda")\n'),
        micro(more=WRITE + '<WRITETABLE> (1,3,,"t.csv")\n'),
        micro(table='"Size""Land"|"Var2"||', more=WRITE),
        micro(table='"Size""Region"|"Var2"|"Wgt"|', more=WRITE),
        micro(more=""),
        micro(more='<SUPPRESS> CTA(1)\n<WRITETABLE> (1,2,,"t.csv")\n'),
        micro("MAN(20)", more=WRITE),
        micro("P(10,1)|WGT(1)", more=WRITE).replace("m.rda", "n.rda"),
        micro("P(10,1)|FREQ(0,0)|FREQ(3,1)", more=WRITE).replace("m.rda", "n.rda"),
        micro(more=WRITE).replace("m.asc", "none.asc"),
    ],
)
def test_refused(text: str, tmp_path: Path) -> None:
    records(tmp_path)
    plain = RDA.replace("<WEIGHT>", "<NUMERIC>").replace("<HOLDING>", "<NUMERIC>")
    (tmp_path / "n.rda").write_text(plain, encoding="utf-8")
    before = {*tmp_path.iterdir()}
    golden.refused(DataError, run, tmp_path, text)
    assert {*tmp_path.iterdir()} == before | {tmp_path / "a.arb"}


def test_what_comes_with_an_intermediate_file_overwrites_nothing_that_is_read(tmp_path: Path) -> None:
    records(tmp_path)
    more = '<SUPPRESS> MOD(1)\n<WRITETABLE> (1,2,,"t.csv")\n<WRITETABLE> (1,5,,"m.tab")\n'
    golden.refused(DataError, run, tmp_path, micro(more=more), confidential=True)
    assert (tmp_path / "m.rda").read_text(encoding="utf-8") == RDA
    assert not (tmp_path / "t.csv").exists()


def test_the_command(tmp_path: Path) -> None:
    records(tmp_path)
    (tmp_path / "a.arb").write_text(micro(more=WRITE), encoding="utf-8")
    said = answered(["argus", str(tmp_path / "a.arb")], DONE)
    assert "t.csv" in said.out
    summary = answered(["table", "argus", str(tmp_path / "a.arb"), "--json"], DONE).json
    assert (summary["tables"][0]["lines"], summary["tables"][0]["verdict"]) == ([3], "PASS")


def test_a_hierarchy_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Blanks in a code are kept, in front of it they are not part of it."""
    rows_of = [("Total", ""), ("A", "Total"), ("A 1", "A"), ("A2", "A"), ("A2a", "A2"), ("B", "Total")]
    dimension = Dimension.of("nace", rows_of)
    (tmp_path / "a.hrc").write_text("\n".join(hierarchy_lines(dimension)), encoding="utf-8")
    assert read_rows(tmp_path / "a.hrc", "@") == rows_of
    (tmp_path / "b.hrc").write_text("A\n::A 1\n::A2\n::::A2a\nB\n", encoding="utf-8")
    assert read_rows(tmp_path / "b.hrc", "::") == rows_of
