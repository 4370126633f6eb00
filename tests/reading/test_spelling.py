"""Names that nobody can tell apart."""

import unicodedata

import duckdb
import pyarrow as pa
import pytest

from sluice.ground.visible_text import UNCLEAR, as_they_look, unclear_names

CLEAR = ["ACME", "Acme", "ACME Ltd.", "Müller & Söhne", "1004", "株式会社", "O\u2019Neill-Smith"]
UNCLEAR_NAMES = [
    "ACME\u200b",
    "AC\u00adME",
    "\ufeffACME",
    "ACME\u2060",
    "AC\u034fME",
    "ACME\ufe0f",
    "ACME\u00a0Ltd.",
    "ACME  Ltd.",
    "ACME\tLtd.",
    "ACME \u200b Ltd.",
    "ACME\u0085Ltd.",
    "ACME\u2800Ltd.",
    unicodedata.normalize("NFD", "Müller"),
    "O\u2019Neill\u2010Smith",
    "O\u2019Neill\u2212Smith",
]


@pytest.mark.parametrize(("names", "unclear"), [(CLEAR, False), (UNCLEAR_NAMES, True)])
def test_what_looks_like_another_name(names: list[str], unclear: bool) -> None:
    assert unclear_names(pa.array(names)).to_pylist() == [unclear] * len(names)
    database = duckdb.sql(
        "SELECT regexp_matches(name, $pattern) OR nfc_normalize(name) <> name FROM (SELECT unnest($names) AS name)",
        params={"pattern": UNCLEAR, "names": names},
    ).fetchall()
    assert [found for (found,) in database] == [unclear] * len(names)


def test_each_is_read_as_what_it_looks_like() -> None:
    names = pa.array([*UNCLEAR_NAMES, *CLEAR, None])
    read = as_they_look(names)
    assert read.to_pylist() == [*["ACME"] * 6, *["ACME Ltd."] * 6, "Müller", *["O\u2019Neill-Smith"] * 2, *CLEAR, None]
    assert not any(unclear_names(read).drop_null().to_pylist())


def test_what_is_missing_stays_so() -> None:
    assert unclear_names(pa.array([None, "A"], pa.string())).to_pylist() == [None, False]
