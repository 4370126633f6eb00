"""sluice.sources.hierarchy_file."""

import gzip
import re
from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.hierarchy_file import read_hierarchy, read_rows
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden

GOOD = "code,parent,level\nTotal,,0\nNA,Total,1\n01,Total,1\n1,01,2\n001,01,2\n"


def written(folder: Path, text: str, name: str = "hier_nace.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def dimension(*paths: Path) -> Dimension:
    return Dimension.of("nace", *map(read_rows, paths))


def test_codes_are_text_and_further_columns_are_ignored(tmp_path: Path) -> None:
    read = dimension(written(tmp_path, GOOD))
    assert read.codes == ("Total", "NA", "01", "1", "001")
    assert [(read.codes[group], [read.codes[part] for part in parts]) for group, parts in read.sums] == [
        ("Total", ["NA", "01"]),
        ("01", ["1", "001"]),
    ]
    packed = tmp_path / "hier.csv.gz"
    packed.write_bytes(gzip.compress(GOOD.encode("utf-8-sig")))
    assert dimension(packed) == read


@pytest.mark.parametrize("mark", ["NA", "NaN", "NULL", "."])
def test_a_parent_that_is_a_mark_for_missing_is_none(tmp_path: Path, mark: str) -> None:
    """R writes NA where the total has no parent: it is no group above it, published once more."""
    rows = read_rows(written(tmp_path, f"Code,Parent\nTotal,{mark}\nA,Total\nB,Total\n"))
    assert rows == [("Total", ""), ("A", "Total"), ("B", "Total")]
    of_two = read_rows(written(tmp_path, "code,parent\nUS,NA\nCA,NA\n"))
    assert of_two == [("US", "NA"), ("CA", "NA"), ("NA", "")]  # North America


def test_a_second_file_is_a_further_grouping(tmp_path: Path) -> None:
    other = written(tmp_path, "code,parent\nservices,\nNA,services\n001,services\n", "other.csv")
    read = dimension(written(tmp_path, GOOD), other)
    assert read.codes[-1] == "services"
    assert len(read.columns) == 4  # three levels, and the aggregate beside them


@pytest.mark.parametrize(
    "text",
    [
        "code,parent\nTotal,\n\nA,Total\nB,Totl\n",
        "code,parent\nTotal,\nA,Total\nA,Total\n",
        "code,parent\nTotal,\nA,B\nB,A\n",
        "code,parent\nTotal,\nA,\n",
        "code,parent\nA,A\n",
        "code,parent\nTotal,\n,Total\n",
        "code,parent\nTotal,\n",
        "code,above\nTotal,\n",
        "code,parent\n",
    ],
)
def test_what_is_no_hierarchy_is_refused(tmp_path: Path, text: str) -> None:
    with golden.raises(DataError):
        dimension(written(tmp_path, text))


ARGUS = "12\n@120\n@@1200\n@@@1200Z\n13\n@131\n@@1310Z\n@139 \n@@1391Z\n@@1392Z\n\n"


def test_a_file_of_tau_argus_is_the_hierarchy_of_its_levels(tmp_path: Path) -> None:
    """Its total is not in it. From the manual's form: one @ for each level, the codes below their group."""
    file = written(tmp_path, ARGUS, "nace.hrc")
    parents = {"12": "Total", "120": "12", "1200": "120", "1200Z": "1200", "13": "Total", "131": "13"}
    parents |= {"1310Z": "131", "139": "13", "1391Z": "139", "1392Z": "139"}
    csv = "code,parent\nTotal,\n" + "".join(f"{code},{parent}\n" for code, parent in parents.items())
    ours, theirs = (dimension(each) for each in (file, written(tmp_path, csv)))
    assert (ours.codes, ours.sums) == (theirs.codes, theirs.sums)
    assert read_hierarchy(file).rows["1200Z"][:2] == ("1200", "120")


TREE = {"Total": "", "A": "Total", "A1": "A", "A2": "A", "B": "Total", "B1": "B"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("levels.csv", "levels,codes\n@,Total\n@@,A\n@@@,A1\n@@@,A2\n@@,B\n@@@,B1\n"),  # sdcTable
        ("bare.csv", "@;Total\n@@;A\n@@@;A1\n@@@;A2\n@@;B\n@@@;B1\n"),
        ("nodes.csv", "root,leaf,level\nTotal,Total,@\nTotal,A,@@\nA,A1,@@@\nA,A2,@@@\nTotal,B,@@\nB,B1,@@@\n"),
        ("edges.csv", "parent,child\nTotal,A\nTotal,B\nA,A1\nA,A2\nB,B1\n"),  # the total has no row
        (
            "maps.csv",
            "mapsFrom,mapsTo,sign,level\nA1,A,1,1\nA2,A,1,1\nB1,B,1,1\nA,Total,1,2\nB,Total,1,2\n",
        ),  # SSBtools
        ("code.csv", "code,parent\nA,Total\nB,Total\nA1,A\nA2,A\nB1,B\n"),
        ("leaves.csv", "A1;A;Total\nA2;A;Total\nB1;B;Total\n"),  # ARX
        ("tops.csv", "A1;A1;A\nA2;A2;A\nB1;B1;B\n"),
        ("blanks.hrc", "A\n  A1\n  A2\nB\n  B1\n"),
        ("margin.hrc", "  A\n    A1\n    A2\n  B\n    B1\n"),
        ("tabs.hrc", "A\n\tA1\n\tA2\nB\n\tB1\n"),
        ("points.hrc", "A\n.A1\n.A2\nB\n.B1\n"),
        ("total.hrc", "Total\n@A\n@@A1\n@@A2\n@B\n@@B1\n"),
        ("deeper.hrc", "@A\n@@A1\n@@A2\n@B\n@@B1\n"),
    ],
)
def test_files_of_other_programs_are_the_same_hierarchy(tmp_path: Path, name: str, text: str) -> None:
    assert dict(read_rows(written(tmp_path, text, name))) == TREE


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("levels.csv", "levels,codes\n@,Total\n@@@,A1\n"),
        ("levels.csv", "levels,codes\n@,Total\n@,A1\n"),
        ("levels.csv", "levels,codes\n@,Total\n@@,A\n@@,A\n"),
        ("maps.csv", "mapsFrom,mapsTo,sign\nA,Total,1\nB,Total,-1\n"),  # a difference is no sum
        ("edges.csv", "child,parent\nA,Total\nB,Other\n"),
        ("leaves.csv", "A1;A;Total\nA2;B;Total\nA;B;Total\n"),  # A is a group of one and a leaf of another
        ("blanks.hrc", "A\n  A1\n   A2\n"),
        ("mixed.hrc", "A\n A1\n\tA2\nB\n"),  # A2 was below the total
        ("mixed.hrc", "A\n@A1\n  A2\nB\n"),
    ],
)
def test_files_of_other_programs_that_contradict_themselves_are_refused(tmp_path: Path, name: str, text: str) -> None:
    with golden.raises(DataError):
        dimension(written(tmp_path, text, name))


@pytest.mark.parametrize("text", ["12\n@@120\n", "12\n@\n", "12\n12\n", "12\nTotal\n", "\n", "12\n\xff"])
def test_a_file_of_tau_argus_that_is_wrong_is_refused_by_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "nace.hrc"
    file.write_bytes(text.encode("latin-1"))
    with golden.raises(DataError):
        dimension(file)


def test_a_grouping_of_other_leaves_is_refused(tmp_path: Path) -> None:
    other = written(tmp_path, "code,parent\nservices,\nNA,services\n02,services\n", "other.csv")
    with golden.raises(DataError):
        dimension(written(tmp_path, GOOD), other)
    with golden.raises(DataError):
        dimension(tmp_path / "hier_region.csv")


def test_a_leaf_a_line_with_its_groups(tmp_path: Path) -> None:
    text = '\n01;"north; upper";all\n 1 ;"the ""south""";all\n\nNA;NA;all\n'
    wanted = {"01": ("north; upper", "all"), "1": ('the "south"', "all"), "NA": ("NA", "all")}
    assert read_hierarchy(written(tmp_path, text)).rows == wanted
    packed = tmp_path / "arx.csv.gz"
    packed.write_bytes(gzip.compress(text.encode("utf-8-sig")))
    assert read_hierarchy(packed).rows == wanted


def test_separator_and_encoding_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes("Köln;a,b|Rhein;c,d\n".encode("cp1252"))
    assert read_hierarchy(path, "|", "cp1252").rows == {"Köln;a,b": ("Rhein;c,d",)}
    assert read_hierarchy(path, "|").rows == {"Köln;a,b": ("Rhein;c,d",)}
    with golden.raises(DataError):
        read_hierarchy(path, ";", "utf-9")
    path.write_bytes("Łódź|Polska\n".encode("cp1250"))
    with golden.raises(DataError):
        read_hierarchy(path, "|")


def test_codes_with_parents_become_levels(tmp_path: Path) -> None:
    assert read_hierarchy(written(tmp_path, GOOD)).rows == {
        "NA": ("NA", "Total"),
        "1": ("01", "Total"),
        "001": ("01", "Total"),
    }


def test_both_forms_of_a_classification_are_one_hierarchy(tmp_path: Path) -> None:
    """Each file of the classification of regions, written as a list of codes with parents and as one of leaves."""
    leaves = {f"R{region}{district}": (f"R{region}", "all") for region in range(4) for district in range(3)}
    lines = ["code,parent", "all,", *(f"R{region},all" for region in range(4))]
    lines += [f"{leaf},{groups[0]}" for leaf, groups in leaves.items()]
    parents = read_hierarchy(written(tmp_path, "\n".join(lines), "parents.csv"))
    arx = "\n".join(";".join((leaf, *groups)) for leaf, groups in leaves.items())
    assert parents == read_hierarchy(written(tmp_path, arx, "arx.csv"))
    assert parents.rows == leaves


@pytest.mark.parametrize(
    "text",
    [
        "a;x\n\na;y\n",
        "a;x\n a;y\n",  # blanks around a cell do not count
        "a;x;*\nb;;*\n",
        "a;x\n;x\n",
        "a;x;*\nb;*\n",
        'a;x\n"b;x\n',
        "a\nb\n",
        "a;x;p\nb;x;q\n",
        "a;x\nb\u200b;x\n",
        "code;parent\na;\n",
        "code;parent\na;b\nb;a\n",
        "code;parent\na;c\nb;d\n",
        "",
    ],
)
def test_a_file_that_is_no_hierarchy_is_refused(tmp_path: Path, text: str) -> None:
    with golden.raises(DataError):
        read_hierarchy(written(tmp_path, text))


@pytest.mark.parametrize(
    "text", ["secret;x\nsecret;y\n", "1;secret;x\n2;secret;y\n", "1;x;secret\n2;x;hidden\n", "1;secret\u200b\n2;x\n"]
)
def test_records_that_are_taken_for_a_hierarchy_are_not_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError) as refusal:
        read_hierarchy(written(tmp_path, text))
    assert not {"secret", "hidden"} & set(re.findall(r"\w+", str(refusal.value)))
