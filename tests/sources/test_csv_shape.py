"""The shape of a CSV file is found or asked for, and never found wrong."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.sources.csv_shape import CsvShape, shape_of
from sluice.sources.recognition import recognise
from tests.golden import golden


def shape(text: str, **given: str) -> CsvShape:
    return shape_of(text, "f", **given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", CsvShape()),
        ("a;b\n1,5;2,5\n", CsvShape(";", decimal=",")),
        ("1,5;2,5\n3,5;4,5\n", CsvShape(";", header=False, decimal=",")),  # the comma stands between digits only
        ("a|at\n1|12:30\n2|13:45\n", CsvShape("|")),
        ("a\tb c\n1\t2 3\n", CsvShape("\t")),
        ("a^b\n1^2\n", CsvShape("^")),
        ("name pay\nJo 12.5\nMary 1.25\n", CsvShape(" ")),
        ("a,b\n'x,y','1'\n'z','2'\n", CsvShape(quote="'")),
        ("town,n\n't Hooft,1\n's-Hertogenbosch,2\n", CsvShape()),  # an apostrophe is no quote
        ('a\tb\n"x\t1\n"y\t2\n', CsvShape("\t", quote=None)),
        ('a,b\n"x\ny",1\n"z",2\n', CsvShape(line_breaks=True)),
        ("Survey of 2024\n\na;b;c\n1;2;3\n4;5;6\n", CsvShape(";", skip_lines=1)),
        ("m;x\nf;y\nm;y\n", CsvShape(";", header=False)),  # a cell of the first line stands below it again
        ("m;9\nf;8\nm;7\n", CsvShape(";", header=False)),
        ("sex;m\nm;7\nsex;8\n", CsvShape(";")),  # names above values
        ("a|01.06.2015|x\nb|1.7.2016|y\n", CsvShape("|", header=False)),  # a day in the first line
        ("a;2015/06/01\nb;2016/7/1\n", CsvShape(";", header=False)),
        ("town;1/6/2015;2015-06-02\nA;3;4\nB;5;6\n", CsvShape(";")),  # days above numbers
        ("nace;2020;2021\nA;3;4\nB;5;6\n", CsvShape(";")),  # years above other numbers
        ("nace;2020;2021\nA;2020;4\nB;5;6\n", CsvShape(";", header=False)),
        ("A;2020;2021\nB;2022;4\nA;5;6\n", CsvShape(";", header=False)),  # a first record
        ("Anna;1980;2010\nBen;1991;2012\nCleo;1993;2010\n", CsvShape(";", header=False)),
        ("1990;2010\n1991;2012\n1993;2013\n", CsvShape(";", header=False)),
        ("code\nA\nB\n", CsvShape()),
        ("a;n\n1.234.567,5;1\n1.000,25;2\n", CsvShape(";")),
        (  # R's write.table: no name above the names of the rows
            '"age" "sex"\n"1" 79 "m"\n"2" 23 "f"\n',
            CsvShape(" ", header=False, skip_lines=1, columns=("row_names", "age", "sex")),
        ),
        ("a,b,c,\n1,x,3\n2,y,4\n", CsvShape(header=False, skip_lines=1, columns=("a", "b", "c"))),
        ("age  sex inc\n 79  m    16\n  3  f  2600\n", CsvShape(" ", aligned=True)),
        ("# made in 2024\na,b\n1,2\n# seen\n3,4\n", CsvShape(comment="#")),
        ("# by hand\na,b\n#3 High Street,2\n3,4\n", CsvShape(comment="#")),
        ("#id,b\n1,2\n3,4\n", CsvShape()),  # a name that begins with the sign
        (",a\n1,2\n", CsvShape()),
        ("yes,no,null\n1,2,0\n3,4,1\n", CsvShape()),  # names that mean missing elsewhere, beside names above numbers
        ("id,NA,age\n1,NA,30\n2,5,40\n", CsvShape()),
        ("Smith,NA\nJones,5\nPoe,6\n", CsvShape(header=False)),  # nothing says that these are names
        ("x,NA,7\ny,5,8\n", CsvShape(header=False)),
        ("sep=;\nid;x\n1;a\n2;b\n", CsvShape(";", skip_lines=1)),
        ('"SEP=|"\nid|x,y\n1|a,b\n2|b,c\n', CsvShape("|", skip_lines=1)),
        ("sep=\nx\ny\n", CsvShape()),  # a name
        ('a;b\n"x; ""y"" ";1\n"z; ""y""";2\n', CsvShape(";")),  # quotes behind blanks, within quoted cells
        *((f"id,note\n1,one{sign}two\n2,x\n", CsvShape()) for sign in "\f\v\x85\u2028\x1c\x1d"),
        ("id\x1fnote\n1\x1fone\u2028two\n2\x1fx\n", CsvShape("\x1f")),
    ],
)
def test_shapes(text: str, expected: CsvShape) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "A;B;C\n1;2\n1;2;3;4\n",
        "a;b,c\n1;2,x\n",
        "a;b\n1,5;2.5\n2,5;3.5\n",
        "a;b\n1.234;x\n2.500;y\n",
        "a,b\n" + "1,2\n" * 9 + "1,2,3\n" + "1,2\n" * 3,
        "a;b\n1;2\na;b\n3;4\n",
        'a,b\n"x,1\ny",2\n',
        "\n\n",
        "income,rent\neuros,euros\n1,2\n3,4\n5,6\n",
        "a,b\n" + "1,2\n" * 9 + "Source: register\n",
        'a,b\n"x \\"y\\", z",1\n"z",2\n',
        'a,b\n"x \\"y\\" z",1\n"z",2\n',
        "a,b,c,d\n1,2,3\n4,5,6\n7,8,9\n",  # a name too many
        'id, "x", y\n0, "a, b", c\n1, "b, a", c\n',
        'id; "x"\n0; "a"\n1; "b"\n',
        'id,"x" ,y\n' + '0,"a, b" ,c\n1,"b, a" ,c\n' * 3,
        "id,x,y\n" + '0,a",b,c\n1,a",d,c\n' * 3,  # no names of rows, but quotes that are not closed
        "id,x,x,y,y\n0,1,2,3,4\n1,2,3,4,5\n",
    ],
)
def test_what_is_not_certain_is_asked(text: str) -> None:
    with pytest.raises(DataError) as raised:
        shape(text)
    golden(raised.value)


def test_the_line_of_the_names_may_be_said() -> None:
    text = "income,rent\neuros,pounds\n1,2\n3,4\n5,6\n"
    assert shape_of(text, "f", header_row=2) == CsvShape(skip_lines=1)


@pytest.mark.parametrize(
    ("text", "columns", "records", "unread"),
    [
        (",age,b\n0,33,f\n1,48,m\n", ["age", "b"], [{"age": "33", "b": "f"}, {"age": "48", "b": "m"}], "column 1"),
        ("a,b,\n1,2,y\n3,4,\n", ["a", "b"], [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}], "column 3"),
        ("a,b\n1,2,\n3,4,\n", ["a", "b"], [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}], "column 3"),
        ("a\n1;\n3;\n", ["a"], [{"a": "1"}, {"a": "3"}], "column 2"),
        ("a  b\n 1  x\n20 yy\n", ["a", "b"], [{"a": "1", "b": "x"}, {"a": "20", "b": "yy"}], ""),
        ('"a" "b"\n"r 1" 1 "x y"\n"r 2" 2 "z"\n', ["row_names", "a", "b"],
         [{"row_names": "r 1", "a": "1", "b": "x y"}, {"row_names": "r 2", "a": "2", "b": "z"}], ""),
    ],
)  # fmt: skip
def test_tables_of_other_programs_are_read_whole(
    tmp_path: Path, text: str, columns: list[str], records: list[dict[str, str]], unread: str
) -> None:
    (tmp_path / "t.txt").write_text(text)
    found = recognise(tmp_path / "t.txt").records
    assert found.column_names() == columns
    assert [row for table in found.tables(columns) for row in table.to_pylist()] == records
    assert ", ".join(found.left_out()) == unread


def test_thousands_are_named() -> None:
    golden(shape("a;n\n1.234.567,5;1\n1.000,25;2\n").says)
    assert shape("a;n\n1.234;1,5\n2.345;2,5\n").says != ()
    assert shape("a;n\n1.234;1,5\n2.345;2,5\n").decimal == ","
    assert shape("a;b\n1.234;x\n2.500;y\n", decimal=".").decimal == "."


def test_decimals_that_may_be_thousands_are_named() -> None:
    assert "decimals" in " ".join(shape("a,n\n1.234,1\n2.345,2\n").says)
    assert shape("a,n\n1.234,1.5\n2.345,2.5\n").says == ()
    assert shape("a,n\n0.234,1\n2.345,2\n").says == ()


def test_cells_that_hold_blanks_among_cells_apart_by_blanks_are_of_fixed_width() -> None:
    lines = ["name          age sex", "Anna Lee       33 f", "Ben            4  m", "Chris van Dam  51 f"]
    with golden.raises(DataError):
        shape("\n".join([*lines, ""]))
    assert shape("remark\nsees  well\nhas  2 dogs\nnothing\nis  well\n") == CsvShape()  # one column of texts


@pytest.mark.parametrize("sign", ":|~^;")
def test_a_sign_that_ends_each_record_is_no_separator_where_another_cuts_all_lines_alike(sign: str) -> None:
    assert shape(f"name,pay,note\n,0.00,{sign}\n,1.50,{sign}\n") == shape("name,pay,note\n,0.00,x\n,1.50,x\n")


words = st.text(st.sampled_from("abcXYZäöüéÅß'\" .,;:|-/0123456789"), max_size=7).map(str.strip)
numbers = st.decimals(-9999, 9999, places=2).map(str)


@given(data=st.data())
def test_what_was_written_is_read_or_asked_for(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Python's writer is the independent one. Any separator, quote and encoding: a shape that is found is right."""
    separator = data.draw(st.sampled_from(",;\t|^~\x1f"))
    quote = data.draw(st.sampled_from("\"'"))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    comma = data.draw(st.booleans()) and separator != ","
    rows = data.draw(st.lists(st.tuples(words, numbers, words), min_size=2, max_size=25))
    rows = [(a, pay.replace(".", ",") if comma else pay, b) for a, pay, b in rows]
    # Behind another quote, what every reader takes for a quoted cell may be its text: nothing tells them apart.
    assume(quote == '"' or not any(len(cell) > 1 and cell[0] == cell[-1] == '"' for row in rows for cell in row))
    written = io.StringIO()
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    escape = data.draw(st.sampled_from([None, "\\"])) if quoting == csv.QUOTE_ALL and quote == '"' else None
    ended = data.draw(st.booleans()) and escape is None  # a separator ends each record, but not the names
    writer = csv.writer(
        written, delimiter=separator, quotechar=quote, quoting=quoting, lineterminator="\n", escapechar=escape,
        doublequote=escape is None,
    )  # fmt: skip
    writer.writerow(["name", "pay", "note"])
    line = f"{separator}\n" if ended and not any("\n" in cell for row in rows for cell in row) else "\n"
    for row in rows:
        writer.writerow(row)
    if line != "\n":
        names, *records = written.getvalue().splitlines(keepends=True)
        written = io.StringIO(names + "".join(record.rstrip("\n") + line for record in records))
    path: Path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(written.getvalue().encode(encoding, "replace"))
    try:
        found = recognise(path)
    except DataError:  # a question, of which the next test counts none where there should be none
        return
    read = [row for batch in found.records.batches(["name", "pay", "note"]) for row in batch.to_numpy().tolist()]
    assert read == [[cell.strip() for cell in row] for row in rows]
    assert found.records.decimal_mark == ("," if comma else ".")


BASKETS = "bread,milk,tea\nmilk\nbeer,bread\ntea,milk,beer,soap\n"


def test_a_file_of_baskets_says_where_sets_belong() -> None:
    with golden.raises(DataError):
        shape(BASKETS)


def test_a_separator_that_somebody_names_is_taken_though_lines_are_too_short() -> None:
    """Reading the records names the broken line; finding the shape does not stumble over it."""
    assert shape(BASKETS, separator=",").separator == ","


def test_most_files_are_not_asked_about(tmp_path: Path) -> None:
    """Names, codes and decimals in every separator, as offices write them: found without a question."""
    for separator in ",;\t|":
        for decimal in ".,":
            text = "id,town,pay,note\n" + "".join(f"{n:04d},Köln-{n},{n}D{n % 9}5,x y: z\n" for n in range(300))
            text = text.replace(",", separator).replace("D", decimal)
            if separator == decimal == ",":
                continue
            path = tmp_path / "a.csv"
            path.write_bytes(text.encode("cp1252"))
            source = recognise(path).records
            assert (source.decimal_mark, len(source.column_names())) == (decimal, 4)
