import gzip
from pathlib import Path

import pytest

from sluice.errors import DataError
from sluice.sources.hierarchy_file import read_dimension

GOOD = "code,parent,level\nTotal,,0\nNA,Total,1\n01,Total,1\n1,01,2\n001,01,2\n"


def written(folder: Path, text: str, name: str = "hier_nace.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_codes_are_text_and_further_columns_are_ignored(tmp_path: Path) -> None:
    read = read_dimension("nace", [written(tmp_path, GOOD)])
    assert read.codes == ("Total", "NA", "01", "1", "001")
    assert [(read.codes[group], [read.codes[part] for part in parts]) for group, parts in read.sums] == [
        ("Total", ["NA", "01"]),
        ("01", ["1", "001"]),
    ]
    packed = tmp_path / "hier.csv.gz"
    packed.write_bytes(gzip.compress(GOOD.encode("utf-8-sig")))
    assert read_dimension("nace", [packed]) == read


def test_a_second_file_is_a_further_grouping(tmp_path: Path) -> None:
    other = written(tmp_path, "code,parent\nservices,\nNA,services\n001,services\n", "other.csv")
    read = read_dimension("nace", [written(tmp_path, GOOD), other])
    assert read.codes[-1] == "services"
    assert len(read.columns) == 4  # three levels, and the aggregate beside them


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("code,parent\nTotal,\n\nA,Total\nB,Totl\n", "line 5: .*'B'.*'Totl' has none. Did you mean 'Total'"),
        ("code,parent\nTotal,\nA,Total\nA,Total\n", "line 4: names code 'A' again; see line 3"),
        ("code,parent\nTotal,\nA,B\nB,A\n", "hier_nace.csv: .*'nace' runs in a circle at 'A', 'B'"),
        ("code,parent\nTotal,\nA,\n", "hier_nace.csv: .*one total, a code without a parent; got 2: 'Total', 'A'"),
        ("code,parent\nA,A\n", "hier_nace.csv: .*circle at 'A'"),
        ("code,parent\nTotal,\n,Total\n", "line 3: the code is empty"),
        ("code,parent\nTotal,\n", "must have a code below its total"),
        ("code,above\nTotal,\n", "no column 'parent'"),
        ("code,parent\n", "holds no record"),
    ],
)
def test_refusals_name_the_file_and_the_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says) as refusal:
        read_dimension("nace", [written(tmp_path, text)])
    assert "hier_nace.csv" in str(refusal.value)


def test_a_grouping_of_other_leaves_is_refused(tmp_path: Path) -> None:
    other = written(tmp_path, "code,parent\nservices,\nNA,services\n02,services\n", "other.csv")
    with pytest.raises(DataError, match=r"other.csv: grouping 2 of 'nace' must group the leaves of the first.*'02'"):
        read_dimension("nace", [written(tmp_path, GOOD), other])
    with pytest.raises(DataError, match="no such file"):
        read_dimension("nace", [tmp_path / "hier_region.csv"])
